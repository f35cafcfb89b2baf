#pragma once
// The drawing: nodes and wires. Holds what the file holds and nothing derived; see analysis.h for shapes and problems.
#include <map>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/layers/layer.h"

namespace loom {

struct Node {
  std::string id;     // unique in its network; letters, digits, '_' and '-'; begins with a letter
  std::string layer;  // catalogue id
  Json values = Json::object();  // fields that differ from the default
  std::string shares;            // id whose parameters this node uses too (in any network of the project); empty = its own
  double x = 0, y = 0;           // centre of the card on the canvas, in logical pixels
  bool placed = false;           // false = the file named no place: the canvas arranges it
};

struct Endpoint {
  std::string node;
  std::string port;  // key of a port of the entry; never empty in memory (the file may leave the first one out)
  auto operator<=>(const Endpoint&) const = default;
};

struct Edge {
  Endpoint from, to;
  auto operator<=>(const Edge&) const = default;
};

struct Network {
  std::string name;
  std::vector<Node> nodes;  // in the order of the file
  std::vector<Edge> edges;

  const Node* find(std::string_view id) const;
  Node* find(std::string_view id);
  // "conv", "conv2", "conv3": the first free id for a new node of this layer.
  std::string freeId(const LayerDefinition& layer) const;
  bool operator==(const Network&) const = default;
};

inline bool operator==(const Node& a, const Node& b) {
  return a.id == b.id && a.layer == b.layer && a.values == b.values && a.shares == b.shares && a.x == b.x && a.y == b.y && a.placed == b.placed;
}

}  // namespace loom
