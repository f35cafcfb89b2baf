#include "widgets/canvas/card_item.h"

#include <algorithm>

#include <QFontMetricsF>
#include <QPainter>
#include <QPainterPath>

#include "widgets/canvas/cards_item.h"
#include "widgets/canvas/detail_levels.h"
#include "widgets/canvas/group_item.h"
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

// In tenths, as it is written; -1 where nothing is.
int percentOf(double share) { return share >= 0.0005 ? qRound(1000 * share) : -1; }

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

CardItem::CardItem(std::string id, CardsItem& cards, std::size_t number) : m_id(std::move(id)), m_cards(cards), m_number(number) {}

void CardItem::update() { m_cards.repaint(*this); }

void CardItem::setPos(QPointF pos) {
  if (pos == m_pos) return;
  m_pos = pos;
  m_cards.moved(*this);
}

void CardItem::setDimmed(bool dimmed) {
  if (dimmed == m_dimmed) return;
  m_dimmed = dimmed;
  update();
}

QColor CardItem::colour() const {
  if (!m_colour.isValid()) m_colour = Theme::of().layerColour(m_content.category);
  return m_colour;
}

QRectF CardItem::boundingRect() const { return card().adjusted(-64, -12, 16, 26); }

void CardItem::setContent(CardContent content, double width, std::vector<CardPin> inputs, std::vector<CardPin> outputs) {
  if (content == m_content && width == m_width && inputs == m_inputs && outputs == m_outputs) return;
  const bool resized = width != m_width;
  m_content = std::move(content);
  m_colour = QColor();
  m_width = width;
  m_inputs = std::move(inputs);
  m_outputs = std::move(outputs);
  m_textsStale = true;
  if (resized) m_cards.moved(*this);
  update();
}

void CardItem::setCost(double share, double bar) {
  if (share == m_content.share && bar == m_content.bar) return;
  if (percentOf(share) != percentOf(m_content.share)) m_textsStale = true;
  m_content.share = share;
  m_content.bar = bar;
  update();
}

void CardItem::setFaults(const QStringList& errors, const QStringList& warnings) {
  if (errors == m_content.errors && warnings == m_content.warnings) return;
  m_content.errors = errors;
  m_content.warnings = warnings;
  update();
}

void CardItem::restyle() {
  m_colour = QColor();
  m_textsStale = true;
  update();
}

void CardItem::prepareTexts() {
  m_textsStale = false;
  const QFontMetricsF title(titleFont()), small(smallFont());
  const double room = m_width - kTextLeft - kTextRight;
  const QString name = title.horizontalAdvance(m_content.title) > room ? title.elidedText(m_content.title, Qt::ElideMiddle, room) : m_content.title;
  const QFont chip = Theme::of().numberFont(FontRole::label);
  m_repeat = prepared(m_content.repeat, chip);
  m_repeatWidth = m_content.repeat.isEmpty() ? 0 : QFontMetricsF(chip).horizontalAdvance(m_content.repeat);
  const double left = room - title.horizontalAdvance(name) - 12 - (m_repeatWidth > 0 ? m_repeatWidth + 20 : 0);
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

void CardItem::judge() const {
  if (m_judged == m_cards.m_rulesNumber) return;
  m_judged = m_cards.m_rulesNumber;
  m_legality = Legality::none;
  m_inputLegality.clear();
  m_outputLegality.clear();
  if (!m_cards.m_rules) return;
  bool any = m_id == m_cards.m_rulesFrom;
  const auto judged = [&](const std::vector<CardPin>& pins, bool output) {
    std::vector<Legality> found;
    for (const CardPin& pin : pins) {
      const bool legal = output != m_cards.m_rulesOutput && m_cards.m_rules->allows(pin.end);
      any = any || legal;
      found.push_back(legal ? Legality::legal : Legality::none);
    }
    return found;
  };
  m_inputLegality = judged(m_inputs, false);
  m_outputLegality = judged(m_outputs, true);
  if (!any) m_legality = Legality::illegal;
}

Legality CardItem::legality() const {
  judge();
  return m_legality;
}

void CardItem::paint(QPainter& painter, double level) {
  if (m_textsStale) prepareTexts();
  judge();
  painter.setRenderHint(QPainter::Antialiasing, level >= kBare);
  painter.setOpacity((m_legality == Legality::illegal ? 0.4 : 1) * (m_dimmed ? 0.28 : 1));
  if (level < kBlock) {
    paintBlock(painter, level);
  } else {
    if (m_content.form == CardContent::Form::group) paintGroupFace(painter, level);
    else if (m_content.form == CardContent::Form::port && level >= kFull) paintPort(painter);
    else paintCardFace(painter, level);
    paintPins(painter, m_inputs, m_inputLegality, false);
    paintPins(painter, m_outputs, m_outputLegality, true);
  }
  paintOutlines(painter, level);
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
  if (m_content.form == CardContent::Form::unit) paintSheets(painter);
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
  const QRectF chip = repeatChip();
  const double typeRight = chip.isNull() ? face.right() - kTextRight : chip.left() - 6;
  drawAt(painter, m_type, smallFont(), typeRight - m_typeWidth, face.top() + (second ? 19.2 : 26.2));
  if (!chip.isNull()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::hover));
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(theme.colour(Colour::text));
    drawAt(painter, m_repeat, theme.numberFont(FontRole::label), chip.left() + 6, chip.center().y() + 4.3);
  }
  if (second) {
    painter.setPen(theme.colour(Colour::text2));
    drawAt(painter, m_parameters, smallFont(), face.left() + kTextLeft, face.top() + 35.2);
  }
  paintPercent(painter);
  if (level >= kRich && m_hovered) {
    painter.setPen(theme.colour(Colour::text3));
    drawAt(painter, m_help, smallFont(), face.left(), face.bottom() + 18);
  }
}

QRectF CardItem::repeatChip() const {
  if (m_repeatWidth <= 0) return {};
  return {card().right() - 6 - m_repeatWidth - 12, card().top() + 7, m_repeatWidth + 12, 18};
}

// The share of the cost, left of the card.
void CardItem::paintPercent(QPainter& painter) const {
  if (m_percentWidth <= 0) return;
  const Theme& theme = Theme::of();
  painter.setPen(theme.colour(m_content.share >= 0.1 ? Colour::text : Colour::text3));
  drawAt(painter, m_percent, theme.numberFont(FontRole::wireLabel), card().left() - 10 - m_percentWidth, card().top() + 25.8);
}

// A unit is a drawing with more behind it: two sheets look out at the right and below.
void CardItem::paintSheets(QPainter& painter) const {
  const Theme& theme = Theme::of();
  QPen edge(theme.colour(Colour::lineStrong));
  edge.setCosmetic(true);
  painter.setPen(edge);
  painter.setBrush(theme.colour(Colour::raised));
  for (const double out : {5.0, 2.5})
    painter.drawRoundedRect(card().translated(out, out).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::node), theme.radius(Radius::node));
}

void CardItem::paintGroupFace(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QRectF face = card();
  const double radius = theme.radius(Radius::node);
  const QColor tint = m_content.repeat.isEmpty() ? tintColour(m_content.tint) : theme.layerColour(QStringLiteral("unit"));
  paintShadow(painter, face, radius, Elevation::node);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(face, radius, radius);
  QColor fill = tint, edge = tint;
  fill.setAlphaF(0.12F);
  edge.setAlphaF(m_hovered && !m_picked ? 0.9F : 0.55F);
  QPen pen(edge);
  pen.setCosmetic(true);
  painter.setPen(pen);
  painter.setBrush(fill);
  painter.drawRoundedRect(face.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (m_content.bar > 0 && level >= kFull)
    painter.fillRect(QRectF(face.left() + 6, face.bottom() - 4, std::max(1.0, m_content.bar * (face.width() - 12)), 3), theme.colour(Colour::text3, 0.6));
  paintIcon(painter, QStringLiteral("chevron-right"), QRectF(face.left() + 10, face.top() + 14, 14, 14), tint);
  painter.setPen(theme.colour(Colour::text));
  if (level < kFull) {
    drawAt(painter, m_farTitle, farFont(), face.left() + kFarLeft - 14, face.top() + 29.5);
    return;
  }
  const double left = face.left() + 32, right = face.right() - kTextRight;
  drawAt(painter, m_title, titleFont(), left, face.top() + 19.7);
  painter.setPen(theme.colour(Colour::text3));
  const QRectF chip = repeatChip();
  const double typeRight = chip.isNull() ? right : chip.left() - 6;
  drawAt(painter, m_type, smallFont(), typeRight - m_typeWidth, face.top() + 19.2);
  drawAt(painter, m_parameters, smallFont(), right - QFontMetricsF(smallFont()).horizontalAdvance(m_content.parameters), face.top() + 35.2);
  if (!chip.isNull()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::raised));
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(theme.colour(Colour::text));
    drawAt(painter, m_repeat, theme.numberFont(FontRole::label), chip.left() + 6, chip.center().y() + 4.3);
  }
  double x = left;
  for (qsizetype i = 0; i + 1 < m_content.inside.size() && x < right - 60; i += 2, x += 20)
    paintIcon(painter, m_content.inside[i], QRectF(x, face.top() + 25.5, 12, 12), theme.layerColour(m_content.inside[i + 1]));
  paintPercent(painter);
}

// A unit's own input or output: where a wire goes on outside.
QRectF CardItem::pill() const {
  const double width = std::min(card().width(), QFontMetricsF(titleFont()).horizontalAdvance(m_content.title) + 34);
  return {-width / 2, -13, width, 26};
}

void CardItem::paintPort(QPainter& painter) const {
  const Theme& theme = Theme::of();
  QPen edge(m_hovered && !m_picked ? theme.colour(Colour::control) : theme.colour(Colour::lineStrong));
  edge.setCosmetic(true);
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(0, m_inputs.empty() ? 13 : card().top()), QPointF(0, m_inputs.empty() ? card().bottom() : -13));
  painter.setPen(edge);
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(pill().adjusted(0.5, 0.5, -0.5, -0.5), 13, 13);
  painter.setPen(theme.colour(Colour::text));
  drawAt(painter, m_title, titleFont(), -QFontMetricsF(titleFont()).horizontalAdvance(m_content.title) / 2, 4.6);
}

void CardItem::paintPins(QPainter& painter, const std::vector<CardPin>& pins, const std::vector<Legality>& legality, bool output) const {
  const Theme& theme = Theme::of();
  const bool lossEnd = output && m_content.category == QLatin1String("lossMetric");
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const CardPin& pin = pins[i];
    const Legality state = i < legality.size() ? legality[i] : Legality::none;
    const bool hot = m_hoveredPin && *m_hoveredPin == pin.end;
    // Nothing is expected behind a loss, so its pin waits until someone comes near.
    if ((lossEnd || (output && m_content.form == CardContent::Form::port && !m_inputs.empty())) && !pin.wired && !m_hovered && !hot && state == Legality::none) continue;
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
  const bool port = m_content.form == CardContent::Form::port && level >= kFull;
  const QRectF face = port ? pill() : card();
  const double radius = port ? 13 : theme.radius(Radius::node);
  painter.setBrush(Qt::NoBrush);
  const bool fault = !m_content.errors.isEmpty();
  const double thick = level < kBlock ? 2 / std::max(level, 0.1) : 2;
  if (fault) {
    painter.setPen(QPen(theme.colour(Colour::error), thick));
    painter.drawRoundedRect(face, radius, radius);
  }
  if (m_picked) {
    painter.setPen(QPen(theme.colour(Colour::focus), thick));
    const double out = fault ? 3 : 1;
    painter.drawRoundedRect(face.adjusted(-out, -out, out, out), radius + out, radius + out);
  }
  if (level < kBlock || (!fault && m_content.warnings.isEmpty())) return;
  const QRectF corner(face.right() - 8, face.top() - 8, 15, 15);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::canvas));
  painter.drawEllipse(corner.adjusted(-0.5, -0.5, 0.5, 0.5));
  const Status status = fault ? Status::failed : Status::warning;
  paintStatus(painter, status, corner, theme.colour(fault ? Colour::error : Colour::warning));
}

}  // namespace loom
