#include "widgets/document/card_geometry.h"

#include <algorithm>
#include <cmath>

namespace loom {

namespace {

// Mean advance of Inter at 13 px semi-bold, taken a little wide: a name that is cut costs more than 48 px. The type
// yields to the name, so it does not count.
constexpr double kTitleAdvance = 7.6;
constexpr double kBesideTitle = 41 + 10;  // icon field, right margin

}  // namespace

double snapped(double value) {
  return std::round(value / kGrid) * kGrid;
}
QPointF snapped(QPointF point) {
  return {snapped(point.x()), snapped(point.y())};
}

double cardWidth(const Node& node) {
  const double needed = kBesideTitle + kTitleAdvance * static_cast<double>(node.id.size());
  return needed > kCardWidth ? kWideCardWidth : kCardWidth;
}

QRectF cardRect(const Node& node) {
  const double width = cardWidth(node);
  return {node.x - width / 2, node.y - kCardHeight / 2, width, kCardHeight};
}

std::vector<PinSlot> inputSlots(const Drawing& drawing, NetworkIndex::Position at) {
  std::vector<PinSlot> pins;
  const auto wires = drawing.index.into(at);
  const auto portOf = [&](NetworkIndex::Position wire) -> const std::string& {
    return drawing.network.edges[wire].to.port;
  };
  if (const auto ports = drawnPorts(drawing.project, drawing.network.nodes[at]))
    for (const Port& port : ports->inputs) {
      const auto count = std::count_if(wires.begin(), wires.end(), [&](auto wire) { return portOf(wire) == port.key; });
      const int slots = port.several ? std::max(2, static_cast<int>(count)) : 1;
      for (int slot = 0; slot < slots; ++slot) pins.push_back({port.key, slot, port.several, port.optional});
    }
  // Wires to ports that the layer lacks (an unknown layer, a file made by hand) still need a place to end.
  for (const auto wire : wires) {
    const auto known = [&](const PinSlot& slot) { return slot.port == portOf(wire); };
    if (std::none_of(pins.begin(), pins.end(), known)) pins.push_back({portOf(wire)});
  }
  return pins;
}

std::vector<PinSlot> outputSlots(const Project& project, const Node& node) {
  std::vector<PinSlot> pins;
  const auto ports = drawnPorts(project, node);
  if (!ports) return {{"output"}};
  for (const Port& port : ports->outputs) pins.push_back({port.key, 0, false, port.optional});
  return pins;
}

double pinX(const QRectF& card, std::size_t index, std::size_t count) {
  return card.left() + card.width() * static_cast<double>(index + 1) / static_cast<double>(count + 1);
}

QPointF outputPin(const Project& project, const Node& node, const std::string& port) {
  const QRectF card = cardRect(node);
  const std::vector<PinSlot> pins = outputSlots(project, node);
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (pins[i].port == port) return {pinX(card, i, pins.size()), card.bottom()};
  return {card.center().x(), card.bottom()};
}

QPointF inputPin(const Drawing& drawing, std::size_t wire) {
  const auto at = drawing.index.to(wire);
  const QRectF card = cardRect(drawing.network.nodes[at]);
  const std::vector<PinSlot> pins = inputSlots(drawing, at);
  const std::string& port = drawing.network.edges[wire].to.port;
  int slot = 0;
  for (const auto other : drawing.index.into(at))
    if (other < wire && drawing.network.edges[other].to.port == port) ++slot;
  for (std::size_t i = 0; i < pins.size(); ++i)
    if (pins[i].port == port && (!pins[i].several || pins[i].slot == slot))
      return {pinX(card, i, pins.size()), card.top()};
  return {card.center().x(), card.top()};
}

}  // namespace loom
