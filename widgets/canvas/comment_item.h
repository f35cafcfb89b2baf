#pragma once
// A comment: words without paper beside a rule in its colour. Edited in place by the view, which lays a field over it.
#include <QString>
#include <string>

#include "engine/network/network.h"
#include "widgets/canvas/canvas_item.h"

namespace loom {

inline constexpr double kCommentLeast = 48;  // both ways

class CommentItem : public CanvasItem {
 public:
  enum { Type = UserType + 4 };
  explicit CommentItem(std::string id);

  const std::string& id() const { return m_id; }
  QRectF rect() const { return m_rect; }                                               // in the scene
  QRectF grip() const { return {m_rect.right() - 14, m_rect.bottom() - 14, 16, 16}; }  // drag changes the size
  QRectF words() const { return m_rect.adjusted(12, 24, -4, -2); }
  QString text() const { return m_text; }
  void setContent(const Comment& comment, const QRectF& rect);
  void setPicked(bool picked);
  void setHovered(bool hovered);
  void setEdited(bool edited);  // a field with its words lies over it

  int type() const override { return Type; }
  QRectF boundingRect() const override { return m_rect.adjusted(-6, -6, 6, 6); }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override;

 private:
  std::string m_id;
  QString m_text, m_tint;
  QRectF m_rect;
  bool m_picked = false, m_hovered = false, m_edited = false;
};

}  // namespace loom
