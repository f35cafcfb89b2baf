#include "widgets/canvas/card_item.h"

#include <algorithm>

#include "widgets/canvas/cards_item.h"
#include "widgets/canvas/cost_scale.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

// In tenths, as it is written; -1 where nothing is.
int percentOf(double share) {
  return share >= 0.0005 ? qRound(1000 * share) : -1;
}

}  // namespace

CardItem::CardItem(std::string id, CardsItem& cards, std::size_t number)
    : m_id(std::move(id)), m_cards(cards), m_number(number) {}

void CardItem::update() {
  m_cards.repaint(*this);
}

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
  if (!m_colour.isValid())
    m_colour = m_content.step ? stepColour(Theme::of(), *m_content.step) : Theme::of().layerColour(m_content.category);
  return m_colour;
}

QRectF CardItem::boundingRect() const {
  return card().adjusted(-kBesideCard, -12, kBesideCard, 26);
}

void CardItem::setContent(CardContent content, double width, std::vector<CardPin> inputs,
                          std::vector<CardPin> outputs) {
  if (content == m_content && width == m_width && inputs == m_inputs && outputs == m_outputs) return;
  const bool resized = width != m_width;
  m_content = std::move(content);
  m_colour = QColor();
  m_width = width;
  m_inputs = std::move(inputs);
  m_outputs = std::move(outputs);
  forgetTexts();
  if (resized) m_cards.moved(*this);
  update();
}

void CardItem::forgetTexts() {
  m_faceKey.clear();
  m_textsOf = m_farTextsOf = m_helpOf = 0;
}

void CardItem::setCost(double share, double bar, std::optional<int> step, const QString& cost) {
  if (share == m_content.share && bar == m_content.bar && step == m_content.step && cost == m_content.cost) return;
  if (step != m_content.step) {
    m_colour = QColor();
    m_faceKey.clear();
    m_cards.recoloured();
  }
  if (cost != m_content.cost) m_textsOf = m_farTextsOf = 0;
  m_content.step = step;
  m_content.cost = cost;
  if (percentOf(share) != percentOf(m_content.share)) m_textsOf = 0;
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
  forgetTexts();
  update();
}

void CardItem::setPicked(bool picked) {
  if (picked == m_picked) return;
  m_picked = picked;
  if (m_hovered) m_faceKey.clear();
  update();
}

void CardItem::setHovered(bool hovered) {
  if (hovered == m_hovered) return;
  m_hovered = hovered;
  m_faceKey.clear();
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

}  // namespace loom
