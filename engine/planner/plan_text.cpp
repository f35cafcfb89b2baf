#include <fmt/format.h>

#include "engine/base/json.h"
#include "engine/planner/numbers_text.h"
#include "engine/planner/plan.h"

namespace loom {

std::string scaledText(double value, double step, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  while (value >= step && unit + 1 != units.end()) {
    value /= step;
    ++unit;
  }
  const int decimals = unit == units.begin() || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, *unit);
}

std::string bytesText(std::int64_t count) {
  return scaledText(static_cast<double>(count), 1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"});
}

std::string groupedText(std::int64_t count) {
  std::string text = std::to_string(count);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3)
    text.insert(static_cast<std::size_t>(place), ",");
  return text;
}

namespace {

Json toJson(const CostPlan& cost) {
  return {{"parameters", cost.parameters},
          {"weight_bytes", cost.weightBytes},
          {"gradient_bytes", cost.gradientBytes},
          {"optimizer_bytes", cost.optimizerBytes},
          {"copy_bytes", cost.copyBytes},
          {"state_bytes", cost.stateBytes},
          {"activation_bytes", cost.activationBytes},
          {"kept_activation_bytes", cost.keptActivationBytes},
          {"operations_again", cost.operationsAgain},
          {"input_bytes", cost.inputBytes},
          {"record_bytes", cost.recordBytes},
          {"process_bytes", cost.processBytes},
          {"total_bytes", cost.totalBytes()},
          {"forward_multiply_adds", cost.forwardMultiplyAdds},
          {"backward_multiply_adds", cost.backwardMultiplyAdds},
          {"again_multiply_adds", cost.againMultiplyAdds}};
}

std::string lines(const CostPlan& cost) {
  std::string text;
  const auto line = [&](const char* what, const std::string& value) {
    text += fmt::format("  {:<26}{:>14}\n", what, value);
  };
  line("parameters", groupedText(cost.parameters));
  line("weights", bytesText(cost.weightBytes));
  line("gradients", bytesText(cost.gradientBytes));
  line("optimizer", bytesText(cost.optimizerBytes));
  if (cost.copyBytes > 0) line("weights kept aside", bytesText(cost.copyBytes));
  if (cost.stateBytes > 0) line("running averages", bytesText(cost.stateBytes));
  line("activations", bytesText(cost.activationBytes));
  if (cost.operationsAgain > 0) line("  if all were kept", bytesText(cost.keptActivationBytes));
  line("inputs", bytesText(cost.inputBytes));
  if (cost.recordBytes > 0) line("layers recorded", bytesText(cost.recordBytes));
  if (cost.processBytes > 0) line("kernels and threads", bytesText(cost.processBytes));
  line("memory together", bytesText(cost.totalBytes()));
  line("multiply-adds, forward", scaledText(cost.forwardMultiplyAdds, 1000, {" ", "k", "M", "G", "T", "P"}));
  line("multiply-adds, backward", scaledText(cost.backwardMultiplyAdds, 1000, {" ", "k", "M", "G", "T", "P"}));
  if (cost.operationsAgain > 0) {
    line("computed again, operations", groupedText(cost.operationsAgain));
    line("multiply-adds, again", scaledText(cost.againMultiplyAdds, 1000, {" ", "k", "M", "G", "T", "P"}));
  }
  return text;
}

}  // namespace

Json toJson(const ProjectPlan& plan) {
  Json updates = Json::array();
  for (const UpdatePlan& update : plan.updates)
    updates.push_back({{"network", update.network},
                       {"optimizer", update.optimizer},
                       {"batch", update.batch},
                       {"passes", update.passes},
                       {"shard", update.shard},
                       {"computes", update.computes},
                       {"cost", toJson(update.cost)}});
  return {{"updates", std::move(updates)}, {"total", toJson(plan.total)}};
}

std::string toText(const ProjectPlan& plan) {
  std::string text;
  for (const UpdatePlan& update : plan.updates) {
    text +=
        fmt::format("network {}, {}: steps of {} samples", update.network, update.optimizer, groupedText(update.batch));
    if (update.passes > 1) text += fmt::format(" in {} passes of {}", update.passes, groupedText(update.shard));
    if (update.computes > 1) text += fmt::format(", gradients computed {} times", update.computes);
    text += "\n" + lines(update.cost);
  }
  if (plan.updates.size() > 1)
    text += "all updates, weights in common counted once, multiply-adds of a mean step\n" + lines(plan.total);
  return text;
}

}  // namespace loom
