#include "engine/search/stop_rule.h"

namespace loom {

const StopRule& defineNoneStopRule() {
  static const StopRule row{.id = "none",
                            .label = "None",
                            .help = "Every trial trains to its end.",
                            .isWeak = [](const Trial&, std::span<const Trial>) { return false; }};
  return row;
}

}  // namespace loom
