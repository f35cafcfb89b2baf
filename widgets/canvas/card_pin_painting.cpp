// CardItem: its pins, and what it looks like where it is a pin of its drawing.
#include <QPainter>
#include <algorithm>

#include "widgets/canvas/card_item.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

constexpr double kPin = 3.2;

}  // namespace

QRectF CardItem::pill() const {
  const double width = std::min(card().width(), m_title.width() + 34);
  return {-width / 2, -13, width, 26};
}

void CardItem::paintPort(QPainter& painter) const {
  const Theme& theme = Theme::of();
  QPen edge(m_hovered && !m_picked ? theme.colour(Colour::control) : theme.colour(Colour::lineStrong));
  edge.setCosmetic(true);
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(0, m_inputs.empty() ? 13 : card().top()),
                   QPointF(0, m_inputs.empty() ? card().bottom() : -13));
  painter.setPen(edge);
  painter.setBrush(theme.colour(Colour::raised));
  painter.drawRoundedRect(pill().adjusted(0.5, 0.5, -0.5, -0.5), 13, 13);
  painter.setPen(theme.colour(Colour::text));
  m_title.draw(painter, -m_title.width() / 2, 4.6);
}

// Nothing is expected behind a loss, so its pin waits until someone comes near.
bool CardItem::waits(const CardPin& pin, bool output) const {
  const bool lossEnd = output && isResult(m_content.role);
  const bool portEnd = output && m_content.form == CardContent::Form::port && !m_inputs.empty();
  return (lossEnd || portEnd) && !pin.wired && !m_hovered;
}

void CardItem::paintPin(QPainter& painter, const CardPin& pin, bool output) const {
  const Theme& theme = Theme::of();
  const QColor axis = theme.colour(Colour::axis);
  painter.setPen(output ? QPen(Qt::NoPen) : QPen(axis, 1.5, pin.optional && !pin.wired ? Qt::DotLine : Qt::SolidLine));
  painter.setBrush(output ? axis : theme.colour(Colour::raised));
  painter.drawEllipse(pin.at, kPin, kPin);
}

void CardItem::paintPins(QPainter& painter, const std::vector<CardPin>& pins, bool output) const {
  for (const CardPin& pin : pins)
    if (!waits(pin, output)) paintPin(painter, pin, output);
}

void CardItem::paintMarkedPins(QPainter& painter, const std::vector<CardPin>& pins,
                               const std::vector<Legality>& legality, bool output) const {
  const Theme& theme = Theme::of();
  for (std::size_t i = 0; i < pins.size(); ++i) {
    const CardPin& pin = pins[i];
    const bool hot = m_hoveredPin && *m_hoveredPin == pin.end,
               legal = i < legality.size() && legality[i] == Legality::legal;
    if (!hot && !legal) continue;
    painter.setPen(QPen(theme.colour(Colour::focus), 1.6));
    painter.setBrush(hot ? theme.colour(Colour::accentSoft) : QColor(Qt::transparent));
    painter.drawEllipse(pin.at, hot ? 8 : 6.5, hot ? 8 : 6.5);
    paintPin(painter, pin, output);
  }
}

}  // namespace loom
