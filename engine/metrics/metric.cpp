#include "engine/metrics/metric.h"

#include "engine/layers/layer.h"

namespace loom {

Goal goalOf(std::string_view layer) {
  const LayerDefinition* const known = findLayer(layer);
  return known ? known->result.goal : Goal::lower;
}

bool isShare(std::string_view layer) {
  const LayerDefinition* const known = findLayer(layer);
  return known && known->result.isShare;
}

bool isMetric(std::string_view layer) {
  return roleOf(layer) == LayerRole::metric;
}

}  // namespace loom
