#pragma once
// What flatten() looks up in one drawing again and again, found once: names, wires by where they end, pins, repeated
// groups.
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/network/project.h"

namespace loom {

// A pin of a node of one drawing, by places.
struct PlannedPin {
  std::ptrdiff_t node = -1;  // -1: the wire names a node that is not there
  std::string port;
};

// What is written out together: the drawing without its repeated groups, or the inside of one of them without those
// inside it.
struct Body {
  struct Item {
    bool isBody = false;
    std::size_t index = 0;  // into nodes, or into bodies
  };
  std::ptrdiff_t group = -1;  // index into the drawing's groups; -1: the drawing itself
  std::size_t parent = 0;
  std::vector<Item> items;    // in the order of the file, a body where its first node stands
  std::size_t nodeCount = 0;  // of nodes that are items
  PlannedPin entry,
      exit;  // of a group: the one pin outside that all wires into it come from, the one inside that gives its result
};

struct DrawingPlan {
  struct Wire {
    std::ptrdiff_t from = -1, to = -1;  // nodes; -1 when there is none of that name
  };

  const Network* drawing = nullptr;
  std::unordered_map<std::string_view, std::size_t> byId;
  std::vector<Wire> wires;                         // one for one with the drawing's edges
  std::vector<std::vector<std::size_t>> incoming;  // by node: edges that end there, in the order of the file
  std::vector<std::size_t> inputs, outputs;        // nodes that are pins where the drawing is used as a unit
  std::vector<Body> bodies;                        // [0]: the drawing
  std::vector<std::size_t> bodyOf, placeIn;        // by node: its body, and its place among the nodes of that
  std::vector<Problem> problems;                   // of groups, names and pins: the same wherever the drawing is used
  std::vector<Problem> unitProblems;               // further ones, where it is used as a unit

  bool isWithin(std::size_t body, std::size_t outer) const;
  // Place of a pin's name among `inputs` or `outputs`; -1 when there is none.
  std::ptrdiff_t pin(const std::vector<std::size_t>& pins, std::string_view id) const;
  // The last edge to a pin of a node; -1 when there is none.
  std::ptrdiff_t edgeTo(std::size_t node, std::string_view port) const;
};

// Whether an Input or Output of a unit is a pin of it: noise and constants are made inside.
bool isInputPin(const Node& node);
bool isOutputPin(const Node& node);

DrawingPlan planOf(const Network& drawing);

}  // namespace loom
