#include "widgets/canvas/group_item.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <algorithm>

#include "widgets/canvas/detail_levels.h"
#include "widgets/canvas/laid_over.h"
#include "widgets/canvas/network_scene.h"
#include "widgets/theme/elevation.h"
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

// The canvas there, and every frame that lies over it up to this one.
QColor groundAt(const NetworkScene& scene, QPointF at, double upTo) {
  QColor ground = Theme::of().colour(scene.ground());
  for (const QColor& fill : scene.groups().fillsAt(at, upTo)) ground = laidOver(fill, ground);
  return ground;
}

}  // namespace

QColor tintColour(const QString& name) {
  const Theme& theme = Theme::of();
  if (name.startsWith(QLatin1Char('#')) && QColor::isValidColor(name)) return QColor(name);
  for (int i = 0; i < static_cast<int>(std::size(kCurves)); ++i)
    if (name == QLatin1String(kCurves[i])) return theme.curveColour(i);
  return theme.curveColour(6);
}

GroupHead::GroupHead(GroupItem& frame) : m_frame(&frame) {
  setAcceptedMouseButtons(Qt::NoButton);
}

GroupHead::~GroupHead() {
  if (m_frame != nullptr) m_frame->m_head = nullptr;
}

void GroupHead::setFrame(const QRectF& frame, int depth) {
  setZValue(-0.9 + 0.0001 * depth);  // over the wires, under the cards
  const QRectF area(frame.left(), frame.top(), frame.width(), GroupItem::kHead);
  if (area != m_area) prepareGeometryChange();
  m_area = area;
  update();
}

// What lies under the head, once more over the wire: the canvas, and every frame around.
void GroupHead::paintGround(QPainter& painter, const QRectF& words) const {
  const auto* scene = qobject_cast<const NetworkScene*>(this->scene());
  if (scene == nullptr || !scene->wiresCross(words)) return;
  painter.fillRect(words, groundAt(*scene, words.center(), m_frame->zValue()));
}

GroupItem::GroupItem(std::string id) : m_id(std::move(id)), m_head(new GroupHead(*this)) {
  setAcceptedMouseButtons(Qt::NoButton);
}

GroupItem::~GroupItem() {
  if (m_head == nullptr) return;
  m_head->m_frame = nullptr;
  delete m_head;
}

QVariant GroupItem::itemChange(GraphicsItemChange change, const QVariant& value) {
  if (change == ItemSceneHasChanged && m_head != nullptr && scene() != nullptr && m_head->scene() != scene())
    scene()->addItem(m_head);
  if (change == ItemVisibleHasChanged && m_head != nullptr) m_head->setVisible(value.toBool());
  return CanvasItem::itemChange(change, value);
}

void GroupItem::setContent(GroupContent content, const QRectF& frame, int depth) {
  setZValue(-3 + 0.01 * depth);  // an inner frame lies on the outer one, both under the wires
  if (content == m_content && frame == m_frame) return;
  prepareGeometryChange();
  m_content = std::move(content);
  m_frame = frame;
  if (m_head != nullptr) m_head->setFrame(frame, depth);
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
  if (m_head != nullptr) m_head->setOpacity(opacity());
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

QColor GroupItem::tint() const {
  return m_content.isRepeat ? Theme::of().layerColour(QStringLiteral("unit")) : tintColour(m_content.tint);
}

QColor GroupItem::fill() const {
  QColor fill = tint();
  fill.setAlphaF(static_cast<float>((m_content.isRepeat ? kRepeatFill : kGroupFill) * (m_dropTarget ? 2 : 1)));
  return fill;
}

void GroupItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
  const Theme& theme = Theme::of();
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  const double radius = theme.radius(Radius::card) + 2;
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, level >= kBare);
  QColor edge = tint();
  edge.setAlphaF(static_cast<float>(m_hovered || m_dropTarget ? 0.8 : kGroupEdge));
  QPen pen(edge, 1);
  pen.setCosmetic(true);
  painter->setPen(pen);
  // On the canvas its grid shines through.
  const auto* const scene = qobject_cast<const NetworkScene*>(this->scene());
  painter->setBrush(scene != nullptr && paintsVectors(*painter) ? groundAt(*scene, m_frame.center(), zValue())
                                                                : fill());
  painter->drawRoundedRect(m_frame.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (m_picked) {
    painter->setPen(QPen(theme.colour(Colour::focus), level < kBlock ? 2 / std::max(level, 0.1) : 2));
    painter->setBrush(Qt::NoBrush);
    painter->drawRoundedRect(m_frame.adjusted(-1, -1, 1, 1), radius + 1, radius + 1);
  }
  painter->restore();
}

void GroupHead::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  if (m_frame == nullptr || level < kBlock) return;
  const Theme& theme = Theme::of();
  const GroupContent& content = m_frame->content();
  constexpr double kAround = 3;  // ground beside the words
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const QRectF chip = m_frame->repeatChip();
  double right = m_area.right() - 12;
  if (!chip.isNull()) {
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme.colour(Colour::raised));
    painter->drawRoundedRect(chip, 4, 4);
    painter->setFont(theme.numberFont(FontRole::label));
    painter->setPen(theme.colour(Colour::text));
    painter->drawText(chip, Qt::AlignCenter, content.repeat);
    right = chip.left() - 8;
  }
  const QFontMetricsF title(groupTitleFont()), small(groupSmallFont());
  const double left = m_area.left() + 32, baseline = m_area.top() + 19.5;
  const double room = right - left;
  const QString name = title.elidedText(content.title, Qt::ElideRight, room);
  // No higher than the words: what stands beside a wire above the frame may reach into it.
  const double wide = title.horizontalAdvance(name), top = baseline - title.capHeight() - 1.5, bottom = baseline + 4;
  const QRectF chevron = m_frame->chevron().adjusted(5, 5, -5, -5);
  paintGround(*painter, QRectF(QPointF(chevron.left() - kAround, top), QPointF(left + wide + kAround, bottom)));
  QColor ink = m_frame->tint();
  if (theme.isDark()) ink = ink.lighter(115);
  paintIcon(*painter, QStringLiteral("chevron-down"), chevron, ink);
  painter->setFont(groupTitleFont());
  // Words never stand in a curve colour: the title keeps the ink of text.
  painter->setPen(theme.colour(Colour::text));
  painter->drawText(QPointF(left, baseline), name);
  const double counted = small.horizontalAdvance(content.count);
  if (level >= kFull && counted <= room - wide - 16) {
    paintGround(*painter, QRectF(QPointF(right - counted - kAround, top), QPointF(right + kAround, bottom)));
    painter->setFont(groupSmallFont());
    painter->setPen(theme.colour(Colour::text3));
    painter->drawText(QRectF(left, m_area.top(), room, m_area.height()), Qt::AlignRight | Qt::AlignVCenter,
                      content.count);
  }
  painter->restore();
}

}  // namespace loom
