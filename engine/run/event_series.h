#pragma once
// The numbers that events of a run carry, as the curves that they make up: which curve a number belongs to is decided
// here, for the list of runs and for whatever leaves it.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/run/run_folder.h"

namespace loom {

// Names of series that everybody knows. Others: "training.NAME", "validation.NAME", "epoch.NAME" of metrics,
// "step.NAME" of any other number that a step carries.
namespace series {
inline constexpr const char* kLoss = "training.loss";
inline constexpr const char* kValidationLoss = "validation.loss";
inline constexpr const char* kRate = "learning_rate";
inline constexpr const char* kMilliseconds = "step.ms";
inline constexpr const char* kDataMilliseconds = "step.data_ms";
inline constexpr const char* kExchangeMilliseconds = "step.exchange_ms";
inline constexpr const char* kNoiseScale = "step.noise_scale";
inline constexpr const char* kLossScale = "step.loss_scale";
inline constexpr const char* kSkipped = "step.skipped";
inline constexpr const char* kEpochAxis = "axis.epoch";
inline constexpr const char* kSamplesAxis = "axis.samples";
inline constexpr const char* kTimeAxis = "axis.time";
}  // namespace series

// The step of an event that carries points of curves (step, validation, epoch); nothing for any other.
std::optional<std::int64_t> stepOfPoints(const Event& event);
// Its points: "training.loss", 2.3; NaN and infinities too. What is no number is left out. Never throws for what the
// event says.
void forEachPoint(const Event& event, const std::function<void(const std::string& series, double value)>& visit);

}  // namespace loom
