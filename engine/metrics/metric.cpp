#include "engine/metrics/metric.h"

#include "engine/layers/layer.h"

namespace loom {

Goal goalOf(std::string_view layer) {
  const LayerDefinition* const known = findLayer(layer);
  return known && known->result.higherIsBetter ? Goal::higher : Goal::lower;
}

bool isShare(std::string_view layer) {
  const LayerDefinition* const known = findLayer(layer);
  return known && known->result.isShare;
}

bool isMetric(std::string_view layer) {
  return goalOf(layer) == Goal::higher || isShare(layer);
}

}  // namespace loom
