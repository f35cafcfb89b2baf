#pragma once
// GPUs that a step can be predicted for: what their data sheets say, and which share of it is taken to be reached.
#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/json_fwd.h"
#include "engine/program/step_cost.h"

namespace loom {

struct GpuModel {
  std::string_view id;    // "h100"
  std::string_view name;  // as the driver tells it
  int computeCapability = 0, multiprocessors = 0;
  std::int64_t memoryBytes = 0;
  double bandwidth = 0;                       // bytes of memory a second, read and written
  double f32 = 0, tf32 = 0, sixteenBits = 0;  // operations a second, without sparsity; a multiply-add is two
  double link = 0;                            // bytes a second from the host: PCI Express, one way
};
std::span<const GpuModel> gpuModels();
// By id, or by the name that a driver told; null where it is none of these.
const GpuModel* findGpuModel(std::string_view idOrName);

struct GpuEfficiency {
  struct Kind {
    double bandwidth = 1, f32 = 1, tf32 = 1, bf16 = 1, f16 = 1;  // shares of the data sheet's
  };
  std::array<Kind, kStageKindNames.size()> kinds{};  // by StageKind
  double link = 1;
  double launchSeconds = 0;  // from one kernel to the next in a captured graph
  std::string source;        // "assumed", or where they were measured
};
// Of nothing measured: the README tells where they come from.
GpuEfficiency assumedEfficiency();
// The calibration file (README). Throws Error (missingFile, badData) that names what is wrong.
GpuEfficiency readCalibration(const std::filesystem::path& file);
Json toJson(const GpuEfficiency& efficiency);

// What a stage takes at least on that GPU: memory and arithmetic beside each other, and the way to the next kernel.
// (Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.)
double secondsOf(const StageCost& stage, const GpuModel& gpu, const GpuEfficiency& efficiency);

}  // namespace loom
