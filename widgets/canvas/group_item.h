#pragma once
// The frame of a group or a repeat that is open: tint, head with chevron, name, count and share, ×N. A folded one is a
// card (CardItem). It changes nothing: the scene gives it its words, the view moves its members. The frame lies under
// the wires, what stands in its head over them, on ground of its own where a wire runs behind it.
#include <QColor>
#include <QString>
#include <string>

#include "widgets/canvas/canvas_item.h"

namespace loom {

// A colour as groups and comments hold it: a curve colour's word, or "#rrggbb"; empty = the usual one.
QColor tintColour(const QString& name);

struct GroupContent {
  QString title;
  QString count;   // "5 layers, 10.4 %"
  QString repeat;  // "×3"; empty = no repeat
  QString tint;
  bool isRepeat = false;
  int errors = 0;

  bool operator==(const GroupContent&) const = default;
};

class GroupItem;

// What stands in the head of a frame. Part of GroupItem, which makes it, puts it into its scene and takes it away.
class GroupHead : public CanvasItem {
 public:
  explicit GroupHead(GroupItem& frame);
  ~GroupHead() override;
  void setFrame(const QRectF& frame, int depth);
  QRectF boundingRect() const override { return m_area; }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  friend class GroupItem;
  void paintGround(QPainter& painter, const QRectF& words) const;

  GroupItem* m_frame;  // null: gone
  QRectF m_area;
};

class GroupItem : public CanvasItem {
 public:
  enum { Type = UserType + 3 };
  explicit GroupItem(std::string id);
  ~GroupItem() override;

  const std::string& id() const { return m_id; }
  const GroupContent& content() const { return m_content; }
  QRectF frame() const { return m_frame; }  // in the scene
  QRectF head() const { return {m_frame.left(), m_frame.top(), m_frame.width(), kHead}; }
  QRectF chevron() const { return {m_frame.left() + 6, m_frame.top() + 3, 24, 24}; }
  QRectF repeatChip() const;  // null without a repeat
  QColor tint() const;        // of the frame's line
  QColor fill() const;        // what it lays over the ground

  void setContent(GroupContent content, const QRectF& frame, int depth);
  void setPicked(bool picked);
  void setHovered(bool hovered);
  void setDimmed(bool dimmed);
  void setDropTarget(bool target);  // nodes dropped now go into it

  int type() const override { return Type; }
  QRectF boundingRect() const override { return m_frame.adjusted(-4, -4, 4, 4); }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 protected:
  QVariant itemChange(GraphicsItemChange change, const QVariant& value) override;

 private:
  friend class GroupHead;
  static constexpr double kHead = 30;
  std::string m_id;
  GroupHead* m_head;  // null: its scene took it away first
  GroupContent m_content;
  QRectF m_frame;
  bool m_picked = false, m_hovered = false, m_dropTarget = false;
};

}  // namespace loom
