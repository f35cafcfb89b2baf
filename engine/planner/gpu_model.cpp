#include "engine/planner/gpu_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"

namespace loom {
namespace {

// NVIDIA's data sheets: "H100 Tensor Core GPU" (SXM5 80 GB), "H200 Tensor Core GPU" (SXM 141 GB), "A100 Tensor Core
// GPU" (SXM4 40 GB). Memory is what their drivers report.
constexpr GpuModel kModels[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 90, 132, 85028896768, 3.35e12, 67e12, 494.5e12, 989e12, 64e9},
    {"h200", "NVIDIA H200", 90, 132, 150121545728, 4.8e12, 67e12, 494.5e12, 989e12, 64e9},
    {"a100", "NVIDIA A100-SXM4-40GB", 80, 108, 42410180608, 1.555e12, 19.5e12, 156e12, 312e12, 32e9},
};

using Kind = GpuEfficiency::Kind;
constexpr std::pair<const char*, double Kind::*> kShares[] = {{"bandwidth", &Kind::bandwidth},
                                                              {"f32", &Kind::f32},
                                                              {"tf32", &Kind::tf32},
                                                              {"bf16", &Kind::bf16},
                                                              {"f16", &Kind::f16}};

class CalibrationReader {
 public:
  explicit CalibrationReader(const std::filesystem::path& file) : m_file(file.string()) {}

  GpuEfficiency read(const Json& all) const {
    GpuEfficiency made = assumedEfficiency();
    if (!all.is_object() || !all.contains("calibration") || all["calibration"] != 1)
      fail("is no calibration file: it must say \"calibration\": 1");
    if (!all.contains("device") || !all["device"].is_string()) fail("must say on which \"device\" it was measured");
    made.source = fmt::format("measured on {}", all["device"].get<std::string>());
    if (all.contains("versions") && all["versions"].is_string())
      made.source += fmt::format(" ({})", all["versions"].get<std::string>());
    for (const auto& [key, value] : all.items()) {
      if (key == "efficiency")
        readKinds(value, made);
      else if (key == "upload")
        made.link = share(key, value);
      else if (key == "launch_us")
        made.launchSeconds = number(key, value, 0, 1e6) * 1e-6;
      else if (key != "calibration" && key != "device" && key != "driver" && key != "versions" && key != "date")
        fail(fmt::format("has the unknown key \"{}\"", key));
    }
    std::vector<std::string_view> assumed;
    const Json kinds = all.value("efficiency", Json::object());
    std::copy_if(kStageKindNames.begin(), kStageKindNames.end(), std::back_inserter(assumed),
                 [&](std::string_view kind) { return !kinds.contains(std::string(kind)); });
    if (!assumed.empty()) made.source += fmt::format("; assumed: {}", fmt::join(assumed, ", "));
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throwError(ErrorCode::badData, "{} {}", m_file, what); }
  double number(const std::string& key, const Json& value, double least, double most) const {
    if (!value.is_number()) fail(fmt::format("has no number as \"{}\", but {}", key, value.dump()));
    const double found = value.get<double>();
    if (!(found >= least && found <= most))
      fail(fmt::format("has \"{}\": {}, which must be {} to {}", key, found, least, most));
    return found;
  }
  // Above 1 where a data sheet is beaten, as by numbers that stayed in a cache.
  double share(const std::string& key, const Json& value) const { return number(key, value, 1e-6, 10); }

  void readKinds(const Json& kinds, GpuEfficiency& made) const {
    if (!kinds.is_object()) fail("has no object as \"efficiency\"");
    for (const auto& [kind, shares] : kinds.items()) {
      const auto place = std::find(kStageKindNames.begin(), kStageKindNames.end(), kind);
      if (place == kStageKindNames.end())
        fail(fmt::format("has the unknown kind \"{}\"; there are {}", kind, fmt::join(kStageKindNames, ", ")));
      if (!shares.is_object()) fail(fmt::format("has no object as \"{}\"", kind));
      Kind& to = made.kinds[static_cast<std::size_t>(place - kStageKindNames.begin())];
      for (const auto& [name, value] : shares.items()) {
        const auto field =
            std::find_if(std::begin(kShares), std::end(kShares), [&](const auto& one) { return name == one.first; });
        if (field == std::end(kShares)) fail(fmt::format("has the unknown key \"{}\" in \"{}\"", name, kind));
        to.*field->second = share(kind + "." + name, value);
      }
    }
  }

  std::string m_file;
};

}  // namespace

std::span<const GpuModel> gpuModels() {
  return kModels;
}

const GpuModel* findGpuModel(std::string_view idOrName) {
  const auto found = std::find_if(std::begin(kModels), std::end(kModels),
                                  [&](const GpuModel& one) { return one.id == idOrName || one.name == idOrName; });
  return found == std::end(kModels) ? nullptr : &*found;
}

GpuEfficiency assumedEfficiency() {
  GpuEfficiency made{.link = 0.8, .launchSeconds = 2.5e-6, .source = "assumed"};
  const auto of = [&](StageKind kind) -> Kind& { return made.kinds[static_cast<std::size_t>(kind)]; };
  of(StageKind::convolution) = {.bandwidth = 0.80, .f32 = 0.70, .tf32 = 0.50, .bf16 = 0.60, .f16 = 0.60};
  of(StageKind::product) = {.bandwidth = 0.80, .f32 = 0.80, .tf32 = 0.60, .bf16 = 0.70, .f16 = 0.70};
  of(StageKind::attention) = {.bandwidth = 0.80, .f32 = 0.50, .tf32 = 0.40, .bf16 = 0.25, .f16 = 0.25};
  of(StageKind::recurrence) = {.bandwidth = 0.50, .f32 = 0.30, .tf32 = 0.20, .bf16 = 0.20, .f16 = 0.20};
  of(StageKind::memory).bandwidth = of(StageKind::update).bandwidth = 0.85;
  return made;
}

GpuEfficiency readCalibration(const std::filesystem::path& file) {
  return CalibrationReader(file).read(parseJson(readFile(file), file.string()));
}

Json toJson(const GpuEfficiency& efficiency) {
  Json kinds = Json::object();
  for (std::size_t k = 0; k < kStageKindNames.size(); ++k)
    for (const auto& [name, share] : kShares) kinds[std::string(kStageKindNames[k])][name] = efficiency.kinds[k].*share;
  return {{"source", efficiency.source},
          {"efficiency", std::move(kinds)},
          {"upload", efficiency.link},
          {"launch_us", efficiency.launchSeconds * 1e6}};
}

double secondsOf(const StageCost& stage, const GpuModel& gpu, const GpuEfficiency& efficiency) {
  const Kind& share = efficiency.kinds[static_cast<std::size_t>(stage.kind)];
  const double peak = stage.factors == DataType::bf16  ? gpu.sixteenBits * share.bf16
                      : stage.factors == DataType::f16 ? gpu.sixteenBits * share.f16
                      : stage.tf32                     ? gpu.tf32 * share.tf32
                                                       : gpu.f32 * share.f32;
  return std::max((stage.read + stage.written) / (gpu.bandwidth * share.bandwidth), stage.operations / peak) +
         efficiency.launchSeconds;
}

}  // namespace loom
