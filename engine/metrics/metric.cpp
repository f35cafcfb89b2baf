#include "engine/metrics/metric.h"

namespace loom {

Goal goalOf(std::string_view layer) {
  return layer.ends_with("Accuracy") ? Goal::higher : Goal::lower;
}

}  // namespace loom
