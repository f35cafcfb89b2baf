#include "widgets/document/card_geometry.h"

#include <algorithm>
#include <cmath>

namespace loom {

namespace {

// Mean advance of Inter at 13 px semi-bold, taken a little wide: a name that is cut costs more than 48 px. The type yields to
// the name, so it does not count.
constexpr double kTitleAdvance = 7.6;
constexpr double kBesideTitle = 41 + 10;  // icon field, right margin

}  // namespace

double snapped(double value) { return std::round(value / kGrid) * kGrid; }
QPointF snapped(QPointF point) { return {snapped(point.x()), snapped(point.y())}; }

double cardWidth(const Node& node) {
  const double needed = kBesideTitle + kTitleAdvance * static_cast<double>(node.id.size());
  return needed > kCardWidth ? kWideCardWidth : kCardWidth;
}

QRectF cardRect(const Node& node) {
  const double width = cardWidth(node);
  return {node.x - width / 2, node.y - kCardHeight / 2, width, kCardHeight};
}

std::vector<PinSlot> inputSlots(const Network& network, const Node& node) {
  std::vector<PinSlot> pins;
  const auto wires = [&](std::string_view port) {
    int count = 0;
    for (const Edge& edge : network.edges) count += edge.to.node == node.id && edge.to.port == port;
    return count;
  };
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer != nullptr) {
    for (const Port& port : layer->entry.inputs) {
      const int count = port.several ? std::max(2, wires(port.key)) : 1;
      for (int slot = 0; slot < count; ++slot) pins.push_back({port.key, slot, port.several, port.optional});
    }
  }
  // Wires to ports that the layer lacks (an unknown layer, a file made by hand) still need a place to end.
  for (const Edge& edge : network.edges) {
    if (edge.to.node != node.id) continue;
    const auto known = [&](const PinSlot& slot) { return slot.port == edge.to.port; };
    if (std::none_of(pins.begin(), pins.end(), known)) pins.push_back({edge.to.port});
  }
  return pins;
}

std::vector<PinSlot> outputSlots(const Node& node) {
  std::vector<PinSlot> pins;
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) return {{"output"}};
  for (const Port& port : layer->entry.outputs) pins.push_back({port.key, 0, false, port.optional});
  return pins;
}

double pinX(const QRectF& card, std::size_t index, std::size_t count) {
  return card.left() + card.width() * static_cast<double>(index + 1) / static_cast<double>(count + 1);
}

QPointF outputPin(const Node& node, const std::string& port) {
  const QRectF card = cardRect(node);
  const std::vector<PinSlot> pins = outputSlots(node);
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (pins[i].port == port) return {pinX(card, i, pins.size()), card.bottom()};
  return {card.center().x(), card.bottom()};
}

QPointF inputPin(const Network& network, const Node& node, std::size_t wire) {
  const QRectF card = cardRect(node);
  const std::vector<PinSlot> pins = inputSlots(network, node);
  const Edge& edge = network.edges[wire];
  int slot = 0;
  for (std::size_t i = 0; i < wire; ++i) slot += network.edges[i].to == edge.to;
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (pins[i].port == edge.to.port && (!pins[i].several || pins[i].slot == slot))
      return {pinX(card, i, pins.size()), card.top()};
  return {card.center().x(), card.top()};
}

}  // namespace loom
