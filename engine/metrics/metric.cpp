#include "engine/metrics/metric.h"

namespace loom {

Goal goalOf(std::string_view layer) {
  return layer.ends_with("Accuracy") ? Goal::higher : Goal::lower;
}

bool isShare(std::string_view layer) {
  return goalOf(layer) == Goal::higher || layer == "Error";
}

}  // namespace loom
