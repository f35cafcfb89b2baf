#pragma once
// What of a drawing may be searched beside values: chains that are repeated, layers in each other's place.
#include <string>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/search/space.h"

namespace loom {

// Layers that take the same wires, in the palette's order, `layer` first; "none" last where it could be left out.
std::vector<std::string> alternativesTo(const LayerDefinition& layer);

// Whether a plain key ("networks.main.nodes.conv2,relu2.repeat") repeats nodes that are no unit.
bool isChainKey(const Json& project, const std::string& plain);

// Throws Error(badArgument) with the nearest name where the project knows no such layer or unit.
void checkLayerName(const Json& project, const Dimension& dimension, const Json& value);

// What is wrong with the project with this value.
struct TriedValue {
  std::string fault;   // empty: nothing
  bool isOwn = false;  // of what is set itself, whatever else is searched
};
TriedValue tryValue(const Json& project, const std::vector<std::string>& settings, const Dimension& dimension,
                    const Json& value);

}  // namespace loom
