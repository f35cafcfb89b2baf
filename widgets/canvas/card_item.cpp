#include "widgets/canvas/card_item.h"

#include <algorithm>

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>
#include <QStyleOptionGraphicsItem>

#include "widgets/canvas/detail_levels.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kStrip = 4, kIconField = 32, kTextLeft = 41, kFarLeft = 46, kTextRight = 10, kPin = 3.2;
// Levels of detail (ui.md section 5), in device-independent pixels a scene pixel.

QStaticText prepared(const QString& text, const QFont& font) {
  QStaticText made(text);
  made.setTextFormat(Qt::PlainText);
  made.setPerformanceHint(QStaticText::AggressiveCaching);
  made.prepare({}, font);
  return made;
}

QFont titleFont() { return Theme::of().font(FontRole::heading); }
// From afar only the name is left, so it may be large: readable down to 40 %.
QFont farFont() {
  QFont font = titleFont();
  font.setPointSizeF(font.pointSizeF() * 1.6);
  return font;
}
QFont smallFont() { return Theme::withWeight(Theme::of().font(FontRole::caption), 400); }

// Static texts are placed by their top; the picture gives baselines.
void drawAt(QPainter& painter, const QStaticText& text, const QFont& font, double x, double baseline) {
  painter.setFont(font);
  painter.drawStaticText(QPointF(x, baseline - QFontMetricsF(font).ascent()), text);
}

}  // namespace

CardItem::CardItem(std::string id) : m_id(std::move(id)) { setFlag(ItemUsesExtendedStyleOption, false); }

QRectF CardItem::boundingRect() const { return card().adjusted(-64, -12, 16, 26); }

void CardItem::setContent(CardContent content, double width, std::vector<CardPin> inputs, std::vector<CardPin> outputs) {
  if (content == m_content && width == m_width && inputs == m_inputs && outputs == m_outputs) return;
  if (width != m_width) prepareGeometryChange();
  m_content = std::move(content);
  m_width = width;
  m_inputs = std::move(inputs);
  m_outputs = std::move(outputs);
  m_textsStale = true;
  update();
}

void CardItem::restyle() {
  m_textsStale = true;
  update();
}

void CardItem::prepareTexts() {
  m_textsStale = false;
  const QFontMetricsF title(titleFont()), small(smallFont());
  const double room = m_width - kTextLeft - kTextRight;
  const QString name = title.horizontalAdvance(m_content.title) > room ? title.elidedText(m_content.title, Qt::ElideMiddle, room) : m_content.title;
  const double left = room - title.horizontalAdvance(name) - 12;
  // The type yields to the name: it can be read off the icon and the inspector.
  QString type = m_content.type;
  if (small.horizontalAdvance(type) > left) type = left > 40 ? small.elidedText(type, Qt::ElideRight, left) : QString();
  m_title = prepared(name, titleFont());
  const QFontMetricsF far(farFont());
  m_farTitle = prepared(far.elidedText(m_content.title, Qt::ElideMiddle, m_width - kFarLeft - kTextRight), farFont());
  m_type = prepared(type, smallFont());
  m_typeWidth = small.horizontalAdvance(type);
  m_parameters = prepared(small.elidedText(m_content.parameters, Qt::ElideRight, room), smallFont());
  m_help = prepared(small.elidedText(m_content.help, Qt::ElideRight, m_width), smallFont());
  const QFont number = Theme::of().numberFont(FontRole::wireLabel);
  const QString percent = m_content.share >= 0.0005 ? percentText(m_content.share) : QString();
  m_percent = prepared(percent, number);
  m_percentWidth = QFontMetricsF(number).horizontalAdvance(percent);
}

void CardItem::setPicked(bool picked) {
  if (picked == m_picked) return;
  m_picked = picked;
  update();
}

void CardItem::setHovered(bool hovered) {
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  update();
}

void CardItem::setHoveredPin(std::optional<Endpoint> pin) {
  if (pin == m_hoveredPin) return;
  m_hoveredPin = std::move(pin);
  update();
}

void CardItem::setLegality(Legality card, std::vector<Legality> inputs, std::vector<Legality> outputs) {
  m_legality = card;
  m_inputLegality = std::move(inputs);
  m_outputLegality = std::move(outputs);
  update();
}

void CardItem::paint(QPainter* painter, const QStyleOptionGraphicsItem*, QWidget*) {
  const double level = QStyleOptionGraphicsItem::levelOfDetailFromTransform(painter->worldTransform());
  if (m_textsStale) prepareTexts();
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing, level >= kBare);
  const double opacity = m_legality == Legality::illegal ? 0.4 : 1;
  painter->setOpacity(opacity);
  if (level < kBlock) {
    paintBlock(*painter, level);
  } else {
    paintCardFace(*painter, level);
    paintPins(*painter, m_inputs, m_inputLegality, false);
    paintPins(*painter, m_outputs, m_outputLegality, true);
  }
  paintOutlines(*painter, level);
  painter->restore();
}

void CardItem::paintBlock(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QColor colour = theme.layerColour(m_content.category);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  if (level < kBare) {
    painter.drawRect(card());
    return;
  }
  painter.drawRoundedRect(card(), 8, 8);
  paintIcon(painter, layerIcon(m_content.icon, m_content.category), QRectF(-16, -16, 32, 32), theme.colour(Colour::raised));
}

void CardItem::paintCardFace(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QRectF face = card();
  const double radius = theme.radius(Radius::node);
  const QColor colour = theme.layerColour(m_content.category);
  paintShadow(painter, face, radius, Elevation::node);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(face, radius, radius);

  QPainterPath round;
  round.addRoundedRect(face, radius, radius);
  painter.save();
  painter.setClipPath(round, Qt::IntersectClip);
  QColor tint = colour;
  tint.setAlphaF(static_cast<float>(theme.categoryTint()));
  painter.fillRect(QRectF(face.left(), face.top(), kIconField, kCardHeight), tint);
  painter.fillRect(QRectF(face.left(), face.top(), kStrip, kCardHeight), colour);
  if (m_content.bar > 0 && level >= kFull)
    painter.fillRect(QRectF(face.left() + kIconField + 1, face.bottom() - 4, std::max(1.0, m_content.bar * (face.width() - kIconField - 1)), 4),
                     theme.colour(Colour::text3, 0.75));
  painter.restore();

  QPen frame(m_hovered && !m_picked ? theme.colour(Colour::control) : theme.colour(Colour::lineStrong));
  frame.setCosmetic(true);
  painter.setPen(frame);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(face.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (level < kFull) {
    paintIcon(painter, layerIcon(m_content.icon, m_content.category), QRectF(face.left() + 7, face.top() + 11, 22, 22), colour);
    painter.setPen(theme.colour(Colour::text));
    drawAt(painter, m_farTitle, farFont(), face.left() + kFarLeft, face.top() + 29.5);
    return;
  }
  paintIcon(painter, layerIcon(m_content.icon, m_content.category), QRectF(face.left() + 10, face.top() + 14, 16, 16), colour);

  const bool second = !m_content.parameters.isEmpty();
  painter.setPen(theme.colour(Colour::text));
  drawAt(painter, m_title, titleFont(), face.left() + kTextLeft, face.top() + (second ? 19.7 : 26.7));
  painter.setPen(theme.colour(Colour::text3));
  drawAt(painter, m_type, smallFont(), face.right() - kTextRight - m_typeWidth, face.top() + (second ? 19.2 : 26.2));
  if (second) {
    painter.setPen(theme.colour(Colour::text2));
    drawAt(painter, m_parameters, smallFont(), face.left() + kTextLeft, face.top() + 35.2);
  }
  if (m_percentWidth > 0) {
    painter.setPen(theme.colour(m_content.share >= 0.1 ? Colour::text : Colour::text3));
    drawAt(painter, m_percent, theme.numberFont(FontRole::wireLabel), face.left() - 10 - m_percentWidth, face.top() + 25.8);
  }
  if (level >= kRich && m_hovered) {
    painter.setPen(theme.colour(Colour::text3));
    drawAt(painter, m_help, smallFont(), face.left(), face.bottom() + 18);
  }
}

void CardItem::paintPins(QPainter& painter, const std::vector<CardPin>& pins, const std::vector<Legality>& legality, bool output) const {
  const Theme& theme = Theme::of();
  const bool lossEnd = output && m_content.category == QLatin1String("lossMetric");
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const CardPin& pin = pins[i];
    const Legality state = i < legality.size() ? legality[i] : Legality::none;
    const bool hot = m_hoveredPin && *m_hoveredPin == pin.end;
    // Nothing is expected behind a loss, so its pin waits until someone comes near.
    if (lossEnd && !pin.wired && !m_hovered && !hot && state == Legality::none) continue;
    const QColor axis = theme.colour(Colour::axis);
    if (state == Legality::legal || hot) {
      painter.setPen(QPen(theme.colour(Colour::focus), 1.6));
      painter.setBrush(hot ? theme.colour(Colour::accentSoft) : QColor(Qt::transparent));
      painter.drawEllipse(pin.at, hot ? 8 : 6.5, hot ? 8 : 6.5);
    }
    painter.setPen(output ? QPen(Qt::NoPen) : QPen(axis, 1.5, pin.optional && !pin.wired ? Qt::DotLine : Qt::SolidLine));
    painter.setBrush(output ? axis : theme.colour(Colour::raised));
    painter.drawEllipse(pin.at, kPin, kPin);
  }
}

void CardItem::paintOutlines(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const double radius = theme.radius(Radius::node);
  painter.setBrush(Qt::NoBrush);
  const bool fault = !m_content.errors.isEmpty();
  const double thick = level < kBlock ? 2 / std::max(level, 0.1) : 2;
  if (fault) {
    painter.setPen(QPen(theme.colour(Colour::error), thick));
    painter.drawRoundedRect(card().adjusted(0, 0, 0, 0), radius, radius);
  }
  if (m_picked) {
    painter.setPen(QPen(theme.colour(Colour::focus), thick));
    const double out = fault ? 3 : 1;
    painter.drawRoundedRect(card().adjusted(-out, -out, out, out), radius + out, radius + out);
  }
  if (level < kBlock || (!fault && m_content.warnings.isEmpty())) return;
  const QRectF corner(card().right() - 8, card().top() - 8, 15, 15);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::canvas));
  painter.drawEllipse(corner.adjusted(-0.5, -0.5, 0.5, 0.5));
  const Status status = fault ? Status::failed : Status::warning;
  paintStatus(painter, status, corner, theme.colour(fault ? Colour::error : Colour::warning));
}

}  // namespace loom
