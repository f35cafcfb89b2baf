#include <algorithm>
#include <unordered_map>

#include "engine/catalogue/text.h"
#include "engine/layers/layer.h"

namespace loom {

const LayerDefinition* findLayer(std::string_view name) {
  // Ids first, so that an alias never hides another layer's own name.
  static const auto index = [] {
    std::unordered_map<std::string, const LayerDefinition*> names;
    for (const LayerDefinition* layer : layerTable()) names.emplace(folded(layer->entry.id), layer);
    for (const LayerDefinition* layer : layerTable())
      for (const std::string& alias : layer->entry.aliases) names.emplace(folded(alias), layer);
    return names;
  }();
  const auto found = index.find(folded(name));
  return found == index.end() ? nullptr : found->second;
}

LayerRole roleOf(std::string_view name) {
  const LayerDefinition* const layer = findLayer(name);
  return layer ? layer->role : LayerRole::layer;
}

}  // namespace loom
