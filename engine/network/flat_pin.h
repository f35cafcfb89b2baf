#pragma once
// From a wire as it is drawn, inside units and repeats too, to the output of the flat network whose tensor flows there.
#include <optional>
#include <string>

#include "engine/network/flatten.h"

namespace loom {

struct DrawnPin {
  std::string drawing;  // network or unit in which it is drawn
  Endpoint from;        // the output where the wire begins
  std::string
      to;  // the node where it ends: a wire that leaves a repeat carries the tensor of the last one; empty = any
  // Which use of a unit is meant, when `drawing` is one: a node of another drawing that uses it. Empty = the first.
  std::string useDrawing, useNode;
};

struct FlatPin {
  Endpoint pin;          // of a node of the flat network
  std::size_t port = 0;  // of that node's outputs
};

// Of several repeats the first; behind them all the last. Nothing where nothing leads there: an Input of a unit that is
// not wired, a node that is not part of this network.
std::optional<FlatPin> flatPin(const Project& project, const FlatNetwork& flat, const DrawnPin& drawn);

}  // namespace loom
