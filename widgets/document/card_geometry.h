#pragma once
// Where a card and its pins stand: needed by the canvas, which draws them, and by arranging, which spaces them. Plain
// numbers, no fonts: the same project is arranged alike on every machine.
#include <QPointF>
#include <QRectF>
#include <string>
#include <vector>

#include "widgets/document/drawing.h"

namespace loom {

inline constexpr double kGrid = 12;
inline constexpr double kCardHeight = 44;
inline constexpr double kCardWidth = 216;
inline constexpr double kWideCardWidth = 264;
inline constexpr double kPitch = 60;  // from card to card in a chain

double snapped(double value);
QPointF snapped(QPointF point);

// By the length of the name; two widths only: cards of one chain that differ by their words would look ragged.
double cardWidth(const Node& node);
QRectF cardRect(const Node& node);  // around the node's place

// Pins of a side, from left to right. An input that takes several wires has one slot a wire, and two at least.
struct PinSlot {
  std::string port;
  int slot = 0;  // among the wires of a port that takes several
  bool several = false;
  bool optional = false;
};
std::vector<PinSlot> inputSlots(const Drawing& drawing, NetworkIndex::Position node);
std::vector<PinSlot> outputSlots(const Project& project, const Node& node);

// x of pin `index` of `count` on a card: spread evenly.
double pinX(const QRectF& card, std::size_t index, std::size_t count);
QPointF outputPin(const Project& project, const Node& node, const std::string& port);
inline QPointF outputPin(const Node& node, const std::string& port) {
  return outputPin(kNoUnits, node, port);
}  // of a layer
// Where a wire ends, by its position in Network::edges; its node must be there.
QPointF inputPin(const Drawing& drawing, std::size_t wire);

}  // namespace loom
