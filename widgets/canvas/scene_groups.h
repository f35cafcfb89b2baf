#pragma once
// The frames of open groups and the comments of one drawing, as items of its scene: follows what the drawing says,
// answers what is under the pointer. Part of NetworkScene.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/network/analysis.h"
#include "widgets/canvas/card_content.h"
#include "widgets/canvas/comment_item.h"
#include "widgets/canvas/group_item.h"

class QGraphicsScene;

namespace loom {

// Cost and faults of all that a group holds.
struct GroupFigures {
  double cost = 0, share = 0, bar = 0;
  QStringList errors, warnings;
};
GroupFigures figuresOf(const Network& network, const Group& group, const CardFigures& figures);

class SceneGroups {
 public:
  explicit SceneGroups(QGraphicsScene& scene) : m_scene(scene) {}

  void refresh(const Network& network, const CardFigures& figures);
  void followComments(const Network& network);  // which there are
  // Places alone; `moved` overrides those of nodes and comments.
  void place(const Network& network, const std::map<std::string, QPointF>& moved);
  void setPicked(const std::set<std::string>& groups, const std::set<std::string>& comments);
  void setHovered(const std::string& group, const std::string& comment);
  void setDropTarget(const std::string& group);
  void setDimmed(bool dimmed);
  void restyle();

  GroupItem* group(const std::string& id) const;
  CommentItem* comment(const std::string& id) const;
  // The innermost whose head, or whose frame, is there; empty = none.
  std::string headAt(QPointF at) const;
  std::string frameAt(QPointF at, const std::set<std::string>& except = {}) const;
  std::string commentAt(QPointF at) const;
  std::vector<QColor> fillsAt(QPointF at, double upTo) const;  // of frames up to that height, the lowest first
  // Of the innermost frame whose edge runs through the area; null = none.
  QRectF edgeThrough(const QRectF& area) const;
  QRectF bounds() const;

 private:
  QGraphicsScene& m_scene;
  std::map<std::string, GroupItem*> m_groups;  // owned by the scene
  std::map<std::string, GroupContent> m_contents;
  std::map<std::string, int> m_depths;
  std::map<std::string, CommentItem*> m_comments;
};

}  // namespace loom
