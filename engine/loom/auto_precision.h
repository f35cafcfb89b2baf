#pragma once
// The setting `precision` "auto": which of f32 and bf16 a machine steps faster in, from what was measured on it.
#include <functional>
#include <string>

#include "engine/base/data_type.h"
#include "engine/network/project.h"
#include "engine/planner/step_time.h"

namespace loom {

// Whether the precision is left to the machine.
bool isPrecisionAuto(const Json& settings);

// bf16 rounds what is multiplied to three digits, so it must pay: a step has to be this many times as fast as in f32.
inline constexpr double kLeastGain = 1.1;

struct PrecisionChoice {
  DataType precision = DataType::f32;      // f32 or bf16; f16 needs its loss scaled and is never chosen
  double f32Seconds = 0, bf16Seconds = 0;  // of a step, predicted
  std::string from;                        // which times these are: "measured on 2026-11-23"
  double gain() const { return f32Seconds / bf16Seconds; }
};
// `predict`: a step of a project whose precision is said. Throws what it throws.
PrecisionChoice choosePrecision(const Project& project, const std::string& from,
                                const std::function<StepTimes(const Project&)>& predict);

// On this machine's processor with that many threads (0 = all). Where its speed was never measured it is measured now,
// in some seconds, and kept; `tell` hears that.
PrecisionChoice choosePrecisionOnProcessor(const Project& project, int threads,
                                           const std::function<void(const std::string&)>& tell);
// On a GPU: "cuda", or one that need not be here (gpu_plan.h).
PrecisionChoice choosePrecisionOnGpu(const Project& project, const std::string& device, const std::string& calibration);

// "bf16: a step is predicted to be 1.63 times as fast as in f32 (measured on 2026-11-23)".
std::string toText(const PrecisionChoice& choice);

}  // namespace loom
