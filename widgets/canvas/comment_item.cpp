#include "widgets/canvas/comment_item.h"

#include <QPainter>
#include <QStyleOptionGraphicsItem>

#include "widgets/canvas/detail_levels.h"
#include "widgets/canvas/group_item.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

CommentItem::CommentItem(std::string id) : m_id(std::move(id)) {
  setZValue(-2);
  setAcceptedMouseButtons(Qt::NoButton);
}

void CommentItem::setContent(const Comment& comment, const QRectF& rect) {
  prepareGeometryChange();
  m_text = QString::fromStdString(comment.text);
  m_tint = QString::fromStdString(comment.colour);
  m_rect = rect;
  update();
}

void CommentItem::setPicked(bool picked) {
  if (picked == m_picked) return;
  m_picked = picked;
  update();
}

void CommentItem::setHovered(bool hovered) {
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  update();
}

void CommentItem::setEdited(bool edited) {
  if (edited == m_edited) return;
  m_edited = edited;
  update();
}

void CommentItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
  const Theme& theme = Theme::of();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, level >= kBare);
  const QColor rule = m_tint.isEmpty() ? theme.colour(Colour::control) : tintColour(m_tint);
  painter->fillRect(QRectF(m_rect.left(), m_rect.top(), 2, m_rect.height()), rule);
  if (m_picked || m_hovered) {
    painter->setPen(m_picked ? QPen(theme.colour(Colour::focus), level < kBlock ? 2 / std::max(level, 0.1) : 2)
                             : theme.hairline(Colour::control));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(m_rect.adjusted(-3, -3, 3, 3), 4, 4);
    painter->setPen(QPen(theme.colour(Colour::text3), 1.4, Qt::SolidLine, Qt::RoundCap));
    for (const double reach : {4.0, 8.0})
      painter->drawLine(m_rect.bottomRight() - QPointF(reach, 0), m_rect.bottomRight() - QPointF(0, reach));
  }
  if (level < kBlock) {  // words too small to read stand as lines
    painter->setPen(QPen(theme.colour(Colour::lineStrong), 4));
    for (double y = m_rect.top() + 12; y < m_rect.bottom(); y += 16)
      painter->drawLine(QPointF(m_rect.left() + 12, y), QPointF(m_rect.right() - 12, y));
    painter->restore();
    return;
  }
  paintIcon(*painter, QStringLiteral("comment"), QRectF(m_rect.left() + 12, m_rect.top() + 2, 14, 14),
            theme.colour(Colour::text3));
  painter->setFont(theme.font(FontRole::caption));
  painter->setPen(theme.colour(Colour::text3));
  painter->drawText(QRectF(m_rect.left() + 32, m_rect.top(), m_rect.width() - 32, 18), Qt::AlignVCenter | Qt::AlignLeft,
                    QObject::tr("Comment"));
  if (!m_edited) {
    painter->setFont(Theme::withWeight(theme.font(FontRole::body), 400));
    painter->setPen(theme.colour(Colour::text2));
    painter->setClipRect(m_rect.adjusted(0, 0, 2, 2), Qt::IntersectClip);
    painter->drawText(words(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, m_text);
  }
  painter->restore();
}

}  // namespace loom
