#pragma once
// A drawing as its questions are put: the network or unit, its index, and the project whose units its nodes use. Refers
// to all three: good as long as none of them changes.
#include <memory>
#include <string_view>

#include "engine/network/network_index.h"
#include "engine/network/project.h"

namespace loom {

struct Drawing {
  const Project& project;
  const Network& network;
  const NetworkIndex& index;

  const Node* find(std::string_view id) const { return index.find(network, id); }
};

extern const Project kNoUnits;  // of a drawing that is asked by itself

// The pins of a node, of its layer or of its unit; null for an unknown one. Those of layers are made once. The window's
// thread alone.
std::shared_ptr<const NodePorts> drawnPorts(const Project& project, const Node& node);

const Port* findPort(const std::vector<Port>& ports, std::string_view key);

}  // namespace loom
