#include "widgets/canvas/group_item.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <algorithm>

#include "widgets/canvas/detail_levels.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kGroupFill = 0.10, kRepeatFill = 0.08, kGroupEdge = 0.45;
const char* const kCurves[] = {"blue", "vermilion", "green", "pink", "sky", "wine", "violet", "olive", "teal", "gold"};

QFont groupTitleFont() {
  return Theme::of().font(FontRole::heading);
}
QFont groupSmallFont() {
  return Theme::withWeight(Theme::of().font(FontRole::caption), 400);
}

}  // namespace

QColor tintColour(const QString& name) {
  const Theme& theme = Theme::of();
  if (name.startsWith(QLatin1Char('#')) && QColor::isValidColor(name)) return QColor(name);
  for (int i = 0; i < static_cast<int>(std::size(kCurves)); ++i)
    if (name == QLatin1String(kCurves[i])) return theme.curveColour(i);
  return theme.curveColour(6);
}

GroupItem::GroupItem(std::string id) : m_id(std::move(id)) {
  setAcceptedMouseButtons(Qt::NoButton);
}

void GroupItem::setContent(GroupContent content, const QRectF& frame, int depth) {
  setZValue(-3 + 0.01 * depth);  // an inner frame lies on the outer one, both under the wires
  if (content == m_content && frame == m_frame) return;
  prepareGeometryChange();
  m_content = std::move(content);
  m_frame = frame;
  update();
}

void GroupItem::setPicked(bool picked) {
  if (picked == m_picked) return;
  m_picked = picked;
  update();
}

void GroupItem::setHovered(bool hovered) {
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  update();
}

void GroupItem::setDimmed(bool dimmed) {
  setOpacity(dimmed ? 0.35 : 1);
}

void GroupItem::setDropTarget(bool target) {
  if (target == m_dropTarget) return;
  m_dropTarget = target;
  update();
}

QRectF GroupItem::repeatChip() const {
  if (m_content.repeat.isEmpty()) return {};
  const double width = QFontMetricsF(Theme::of().numberFont(FontRole::label)).horizontalAdvance(m_content.repeat) + 14;
  return {m_frame.right() - width - 8, m_frame.top() + 5, width, 20};
}

void GroupItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
  const Theme& theme = Theme::of();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  const QColor base = m_content.isRepeat ? theme.layerColour(QStringLiteral("unit")) : tintColour(m_content.tint);
  const double radius = theme.radius(Radius::card) + 2;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, level >= kBare);
  QColor fill = base, edge = base;
  fill.setAlphaF(static_cast<float>((m_content.isRepeat ? kRepeatFill : kGroupFill) * (m_dropTarget ? 2 : 1)));
  edge.setAlphaF(static_cast<float>(m_hovered || m_dropTarget ? 0.8 : kGroupEdge));
  QPen pen(edge, 1);
  pen.setCosmetic(true);
  painter->setPen(pen);
  painter->setBrush(fill);
  painter->drawRoundedRect(m_frame.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (m_picked) {
    painter->setPen(QPen(theme.colour(Colour::focus), level < kBlock ? 2 / std::max(level, 0.1) : 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(m_frame.adjusted(-1, -1, 1, 1), radius + 1, radius + 1);
  }
  if (level < kBlock) {
    painter->restore();
    return;
  }
  QColor ink = base;
  if (theme.isDark()) ink = ink.lighter(115);
  paintIcon(*painter, QStringLiteral("chevron-down"), chevron().adjusted(5, 5, -5, -5), ink);
  const QRectF chip = repeatChip();
  double right = m_frame.right() - 12;
  if (!chip.isNull()) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.colour(Colour::raised));
    painter->drawRoundedRect(chip, 4, 4);
    painter->setFont(theme.numberFont(FontRole::label));
    painter->setPen(theme.colour(Colour::text));
    painter->drawText(chip, Qt::AlignCenter, m_content.repeat);
    right = chip.left() - 8;
  }
  const QFontMetricsF title(groupTitleFont()), small(groupSmallFont());
  const double left = m_frame.left() + 32, baseline = m_frame.top() + 19.5;
  const double room = right - left;
  const QString name = title.elidedText(m_content.title, Qt::ElideRight, room);
  painter->setFont(groupTitleFont());
  // Words never stand in a curve colour: the title keeps the ink of text.
  painter->setPen(theme.colour(Colour::text));
  painter->drawText(QPointF(left, baseline), name);
  const double used = title.horizontalAdvance(name) + 16;
  if (level >= kFull && small.horizontalAdvance(m_content.count) <= room - used) {
    painter->setFont(groupSmallFont());
    painter->setPen(theme.colour(Colour::text3));
    painter->drawText(QRectF(left, m_frame.top(), room, 30), Qt::AlignRight | Qt::AlignVCenter, m_content.count);
  }
  painter->restore();
}

}  // namespace loom
