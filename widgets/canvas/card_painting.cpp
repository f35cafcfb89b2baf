// CardItem: what it looks like, at five levels of detail.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/canvas/canvas_fonts.h"
#include "widgets/canvas/card_item.h"
#include "widgets/canvas/cards_item.h"
#include "widgets/canvas/cost_scale.h"
#include "widgets/canvas/detail_levels.h"
#include "widgets/canvas/group_item.h"
#include "widgets/canvas/laid_over.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kStrip = 4, kIconField = 32, kTextLeft = 41, kFarLeft = 46, kTextRight = 10, kBar = 4;

}  // namespace

void CardItem::prepareTexts(double level) {
  const CanvasFonts& fonts = CanvasFonts::now();
  if (level < kBlock) return;
  if (level < kFull) {
    if (m_farTextsOf == fonts.number) return;
    m_farTextsOf = fonts.number;
    m_farCost = fonts.usual(m_content.cost, fonts.far, fonts.farMetrics);
    const double room = m_width - kFarLeft - kTextRight;
    m_farTitle = CanvasFonts::fitted(m_content.title, fonts.far, fonts.farMetrics, room, Qt::ElideMiddle);
    m_farShort = m_farCost.isEmpty() ? PreparedText()
                                     : CanvasFonts::fitted(m_content.title, fonts.far, fonts.farMetrics,
                                                           room - m_farCost.width() - 10, Qt::ElideMiddle);
    return;
  }
  if (level >= kRich && m_hovered && m_helpOf != fonts.number) {
    m_helpOf = fonts.number;
    m_help = fonts.usual(m_content.help, fonts.small, fonts.smallMetrics, m_width);
  }
  if (m_textsOf == fonts.number) return;
  m_textsOf = fonts.number;
  const double room = m_width - kTextLeft - kTextRight;
  m_title = CanvasFonts::fitted(m_content.title, fonts.title, fonts.titleMetrics, room, Qt::ElideMiddle);
  m_repeat = fonts.usual(m_content.repeat, fonts.chip, fonts.chipMetrics);
  const double left = room - m_title.width() - 12 - (m_repeat.isEmpty() ? 0 : m_repeat.width() + 20);
  // The type yields to the name: it can be read off the icon and the inspector.
  m_type = fonts.usual(m_content.type, fonts.small, fonts.smallMetrics);
  if (m_type.width() > left)
    m_type = left > 40 ? fonts.usual(m_content.type, fonts.small, fonts.smallMetrics, left) : PreparedText();
  m_cost = fonts.usual(m_content.cost, fonts.chip, fonts.chipMetrics);
  m_parameters = fonts.usual(m_content.parameters, fonts.small, fonts.smallMetrics,
                             room - (m_cost.isEmpty() ? 0 : m_cost.width() + 10));
  m_percent = fonts.usual(m_content.share >= 0.0005 ? percentText(m_content.share) : QString(), fonts.figure,
                          fonts.figureMetrics);
}

void CardItem::beginPainting(QPainter& painter, double level) {
  prepareTexts(level);
  judge();
  painter.setRenderHint(QPainter::Antialiasing, level >= kBare);
  painter.setOpacity((m_legality == Legality::illegal ? 0.4 : 1) * (m_dimmed ? 0.28 : 1));
}

void CardItem::paint(QPainter& painter, double level) {
  beginPainting(painter, level);
  if (level < kBlock) {
    paintBlock(painter, level);
  } else {
    if (m_content.form == CardContent::Form::group) {
      paintGroupFace(painter, level);
    } else if (m_content.form == CardContent::Form::port && level >= kFull) {
      paintPort(painter);
    } else {
      paintCardFace(painter, level);
      paintBar(painter, level);
      paintWords(painter, level);
    }
    paintPins(painter, m_inputs, false);
    paintPins(painter, m_outputs, true);
    paintMarkedPins(painter, m_inputs, m_inputLegality, false);
    paintMarkedPins(painter, m_outputs, m_outputLegality, true);
  }
  paintOutlines(painter, level);
}

// All that paintFace() looks at.
const QString& CardItem::faceKey() const {
  if (!m_faceKey.isEmpty() || m_content.form == CardContent::Form::group || m_content.form == CardContent::Form::port)
    return m_faceKey;
  m_faceKey = m_content.category + QLatin1Char('/') + m_content.icon + QLatin1Char('/') + QString::number(m_width) +
              QLatin1Char(!m_hovered ? '-'
                          : m_picked ? 'p'
                                     : 'h') +
              QLatin1Char(m_content.form == CardContent::Form::unit ? 'u' : 'l') +
              (m_content.step ? QString::number(*m_content.step) : QString());
  for (const auto* pins : {&m_inputs, &m_outputs}) {
    m_faceKey += QLatin1Char('|');
    for (const CardPin& pin : *pins)
      m_faceKey +=
          QString::number(pin.at.x()) + QLatin1Char(pin.optional ? 'o' : ',') + QLatin1Char(pin.wired ? 'w' : ',');
  }
  return m_faceKey;
}

void CardItem::paintFace(QPainter& painter, double level) const {
  paintCardFace(painter, level);
  paintPins(painter, m_inputs, false);
  paintPins(painter, m_outputs, true);
}

void CardItem::paintOwn(QPainter& painter, double level) {
  paintBar(painter, level);
  paintWords(painter, level);
  paintMarkedPins(painter, m_inputs, m_inputLegality, false);
  paintMarkedPins(painter, m_outputs, m_outputLegality, true);
  paintOutlines(painter, level);
}

void CardItem::paintBlock(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour());
  if (level < kBare) {
    painter.drawRect(card());
    return;
  }
  painter.drawRoundedRect(card(), 8, 8);
  paintIcon(painter, layerIcon(m_content.icon, m_content.category), QRectF(-16, -16, 32, 32),
            m_content.step ? inkOnStep(theme, *m_content.step) : theme.colour(Colour::raised));
}

void CardItem::paintCardFace(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QRectF face = card();
  const double radius = theme.radius(Radius::node);
  const QColor colour = this->colour();
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
  if (!m_content.step) {
    tint.setAlphaF(static_cast<float>(theme.categoryTint()));
    tint = laidOver(tint, theme.colour(Colour::raised));
  }
  painter.fillRect(QRectF(face.left(), face.top(), kIconField, kCardHeight), tint);
  painter.fillRect(QRectF(face.left(), face.top(), kStrip, kCardHeight), colour);
  if (m_content.step) painter.fillRect(QRectF(face.left(), face.bottom() - kBar, face.width(), kBar), colour);
  painter.restore();

  QPen frame(m_hovered && !m_picked ? theme.colour(Colour::control) : theme.colour(Colour::lineStrong));
  frame.setCosmetic(true);
  painter.setPen(frame);
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(face.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  const double side = level < kFull ? 22 : 16, left = level < kFull ? 7 : 10, top = level < kFull ? 11 : 14;
  paintIcon(painter, layerIcon(m_content.icon, m_content.category),
            QRectF(face.left() + left, face.top() + top, side, side),
            m_content.step ? inkOnStep(theme, *m_content.step) : colour);
}

// Along the lower edge, inside the frame and its round corner.
void CardItem::paintBar(QPainter& painter, double level) const {
  if (m_content.bar <= 0 || level < kFull || m_content.step) return;
  const Theme& theme = Theme::of();
  const QRectF face = card();
  const double line = 0.5 + 0.5 / level, left = face.left() + kIconField + 1, top = face.bottom() - kBar,
               bottom = face.bottom() - line;
  const double right =
      std::min(left + std::max(1.0, m_content.bar * (face.width() - kIconField - 1)), face.right() - line);
  const QColor colour = laidOver(theme.colour(Colour::text3, 0.75), theme.colour(Colour::raised));
  const double radius = theme.radius(Radius::node);
  if (right <= face.right() - radius) {
    painter.fillRect(QRectF(QPointF(left, top), QPointF(right, bottom)), colour);
    return;
  }
  constexpr int kSteps = 4;
  const double inner = radius - line;
  QPolygonF shape{QPointF(left, bottom), QPointF(left, top)};
  for (int step = 0; step <= kSteps; ++step) {
    const double y = top + (bottom - top) * step / kSteps, off = y - (face.bottom() - radius);
    shape += QPointF(std::min(right, face.right() - radius + std::sqrt(std::max(0.0, inner * inner - off * off))), y);
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  painter.drawConvexPolygon(shape);
}

void CardItem::paintWords(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QRectF face = card();
  painter.setPen(theme.colour(Colour::text));
  if (level < kFull) return paintFarWords(painter);
  const bool second = !m_content.parameters.isEmpty() || !m_cost.isEmpty();
  m_title.draw(painter, face.left() + kTextLeft, face.top() + (second ? 19.7 : 26.7));
  painter.setPen(theme.colour(Colour::text3));
  const QRectF chip = repeatChip();
  const double typeRight = chip.isNull() ? face.right() - kTextRight : chip.left() - 6;
  m_type.draw(painter, typeRight - m_type.width(), face.top() + (second ? 19.2 : 26.2));
  if (!chip.isNull()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::hover));
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(theme.colour(Colour::text));
    m_repeat.draw(painter, chip.left() + 6, chip.center().y() + 4.3);
  }
  if (second) {
    painter.setPen(theme.colour(Colour::text2));
    m_parameters.draw(painter, face.left() + kTextLeft, face.top() + 35.2);
  }
  if (!m_cost.isEmpty()) {
    painter.setPen(costInk());
    m_cost.draw(painter, face.right() - kTextRight - m_cost.width(), face.top() + 35.2);
  }
  paintPercent(painter);
  if (level >= kRich && m_hovered) {
    painter.setPen(theme.colour(Colour::text3));
    m_help.draw(painter, face.left(), face.bottom() + 18);
  }
}

// The name, and the cost beside the card or, where no room is free, on it.
void CardItem::paintFarWords(QPainter& painter) const {
  constexpr double kAway = 10, kBaseline = 29.5, kRise = 18, kHeight = 24;
  const QRectF face = card();
  const double beside = face.left() - kAway - m_farCost.width();
  const bool free =
      m_farCost.isEmpty() ||
      m_cards.isFree(QRectF(beside, face.top() + kBaseline - kRise, m_farCost.width(), kHeight).translated(m_pos),
                     *this);
  (free ? m_farTitle : m_farShort).draw(painter, face.left() + kFarLeft, face.top() + kBaseline);
  painter.setPen(costInk());
  m_farCost.draw(painter, free ? beside : face.right() - kTextRight - m_farCost.width(), face.top() + kBaseline);
}

QRectF CardItem::repeatChip() const {
  if (m_repeat.isEmpty()) return {};
  return {card().right() - 6 - m_repeat.width() - 12, card().top() + 7, m_repeat.width() + 12, 18};
}

namespace {

constexpr double kPercentAway = 10, kPercentRise = 9, kPercentFall = 3, kPercentBaseline = 25.8;

}  // namespace

// Left of the card; where another card stands there at its right. Where the edge of a frame would run through it,
// beyond that edge. From the centre of the card; none: nowhere is room.
std::optional<QRectF> CardItem::placeOfPercent() const {
  const double width = m_percent.width(), top = card().top() + kPercentBaseline - kPercentRise;
  for (const bool beyond : {false, true})
    for (const bool right : {false, true}) {
      QRectF words(right ? card().right() + kPercentAway : card().left() - kPercentAway - width, top, width,
                   kPercentRise + kPercentFall);
      const QRectF frame = m_cards.edgeThrough(words.translated(m_pos)).translated(-m_pos);
      if (frame.isNull() == beyond) continue;
      if (right && beyond) words.moveLeft(frame.right() + kPercentAway);
      if (!right && beyond) words.moveRight(frame.left() - kPercentAway);
      // Nothing lies between them and their card.
      QRectF area = words;
      if (beyond && right) area.setLeft(card().right());
      if (beyond && !right) area.setRight(card().left());
      if (beyond && (!boundingRect().contains(words) || !m_cards.edgeThrough(words.translated(m_pos)).isNull()))
        continue;
      if (m_cards.isFree(area.translated(m_pos), *this) && !m_cards.isCovered(words.translated(m_pos))) return words;
    }
  return {};
}

// The share of the cost; where it has no place the bar alone tells it.
void CardItem::paintPercent(QPainter& painter) const {
  if (m_percent.isEmpty()) return;
  const std::optional<QRectF> words = placeOfPercent();
  if (!words) return;
  painter.setPen(m_cards.costsFaint()     ? Theme::of().colour(Colour::disabled)
                 : m_content.share >= 0.1 ? Theme::of().colour(Colour::text)
                                          : Theme::of().colour(Colour::text3));
  m_percent.draw(painter, words->left(), card().top() + kPercentBaseline);
}

QColor CardItem::costInk() const {
  return Theme::of().colour(m_cards.costsFaint() ? Colour::disabled : Colour::text);
}

// A unit is a drawing with more behind it: two sheets look out at the right and below.
void CardItem::paintSheets(QPainter& painter) const {
  const Theme& theme = Theme::of();
  QPen edge(theme.colour(Colour::lineStrong));
  edge.setCosmetic(true);
  painter.setPen(edge);
  painter.setBrush(theme.colour(Colour::raised));
  for (const double out : {5.0, 2.5})
    painter.drawRoundedRect(card().translated(out, out).adjusted(0.5, 0.5, -0.5, -0.5), theme.radius(Radius::node),
                            theme.radius(Radius::node));
}

void CardItem::paintGroupFace(QPainter& painter, double level) const {
  const Theme& theme = Theme::of();
  const QRectF face = card();
  const double radius = theme.radius(Radius::node);
  const QColor tint =
      m_content.repeat.isEmpty() ? tintColour(m_content.tint) : theme.layerColour(QStringLiteral("unit"));
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
  painter.setBrush(laidOver(fill, theme.colour(Colour::raised)));
  painter.drawRoundedRect(face.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
  if (m_content.step) {
    painter.fillRect(QRectF(face.left() + 6, face.bottom() - 4, face.width() - 12, 3), colour());
  } else if (m_content.bar > 0 && level >= kFull)
    painter.fillRect(QRectF(face.left() + 6, face.bottom() - 4, std::max(1.0, m_content.bar * (face.width() - 12)), 3),
                     laidOver(theme.colour(Colour::text3, 0.6), theme.colour(Colour::raised)));
  paintIcon(painter, QStringLiteral("chevron-right"), QRectF(face.left() + 10, face.top() + 14, 14, 14), tint);
  painter.setPen(theme.colour(Colour::text));
  if (level < kFull) return m_farTitle.draw(painter, face.left() + kFarLeft - 14, face.top() + 29.5);
  const double left = face.left() + 32, right = face.right() - kTextRight;
  m_title.draw(painter, left, face.top() + 19.7);
  painter.setPen(theme.colour(Colour::text3));
  const QRectF chip = repeatChip();
  const double typeRight = chip.isNull() ? right : chip.left() - 6;
  m_type.draw(painter, typeRight - m_type.width(), face.top() + 19.2);
  const PreparedText& last = m_cost.isEmpty() ? m_parameters : m_cost;  // that it is folded the chevron says too
  if (!m_cost.isEmpty()) painter.setPen(costInk());
  last.draw(painter, right - last.width(), face.top() + 35.2);
  if (!chip.isNull()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::raised));
    painter.drawRoundedRect(chip, 4, 4);
    painter.setPen(theme.colour(Colour::text));
    m_repeat.draw(painter, chip.left() + 6, chip.center().y() + 4.3);
  }
  double x = left;
  for (qsizetype i = 0; i + 1 < m_content.inside.size() && x < right - 60; i += 2, x += 20)
    paintIcon(painter, m_content.inside[i], QRectF(x, face.top() + 25.5, 12, 12),
              theme.layerColour(m_content.inside[i + 1]));
  paintPercent(painter);
}

// A unit's own input or output: where a wire goes on outside.
void CardItem::paintOutlines(QPainter& painter, double level) const {
  const bool fault = !m_content.errors.isEmpty();
  if (!fault && !m_picked && m_content.warnings.isEmpty()) return;
  const Theme& theme = Theme::of();
  const bool port = m_content.form == CardContent::Form::port && level >= kFull;
  const QRectF face = port ? pill() : card();
  const double radius = port ? 13 : theme.radius(Radius::node);
  painter.setBrush(Qt::NoBrush);
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
