#include "engine/planner/processor_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/base/user_folders.h"

namespace loom {
namespace {

constexpr const char* kForm = "gradloom_processor_times";
constexpr int kVersion = 1;
constexpr double kNear = 0.05;
constexpr double kStep = 0.5;  // what one doubling of the bytes that a step moves matters

using Point = ProcessorTimes::Point;

// What takes the time of a stage: arithmetic, or memory.
double unitsOf(double operations, double bytes) {
  return operations > 0 ? operations : bytes;
}

bool multiplies(StageKind kind) {
  return kind != StageKind::memory && kind != StageKind::update;
}

double distance(const StageCost& stage, const Point& point) {
  if (stage.sizes.size() != point.sizes.size()) return 1e6;
  double sum = 0;
  for (std::size_t i = 0; i < stage.sizes.size(); ++i)
    sum += (stage.sizes[i] - point.sizes[i]) * (stage.sizes[i] - point.sizes[i]);
  // Weights are read once a step: whether they are still in a cache goes by what the step moves meanwhile.
  const bool readsWeights = stage.kind == StageKind::update || stage.op == "pack weights";
  if (readsWeights && stage.step > 0 && point.step > 0) {
    const double off = kStep * std::log2(stage.step / point.step);
    sum += off * off;
  }
  return sum;
}

// Seconds a unit, from the relatives that `isRelative` names; 0 where there are none.
template <class IsRelative>
double rateFrom(const StageCost& stage, const std::vector<Point>& points, const IsRelative& isRelative) {
  double sum = 0, weights = 0;
  for (const Point& point : points) {
    const double units = unitsOf(point.operations, point.bytes);
    if (!isRelative(point) || (stage.operations > 0) != (point.operations > 0) || units <= 0 || point.seconds <= 0)
      continue;
    const double near = distance(stage, point) + kNear, weight = 1 / (near * near);
    sum += weight * std::log(point.seconds / units);
    weights += weight;
  }
  return weights > 0 ? std::exp(sum / weights) : 0;
}

double assumedSeconds(const StageCost& stage, const ProcessorModel& model) {
  return std::max(stage.operations / (model.operations * model.threads),
                  (stage.read + stage.written) / (model.bandwidth * model.threads)) +
         model.stage * stage.calls;
}

DataType typeOf(const std::string& name) {
  return name == toString(DataType::bf16) ? DataType::bf16 : DataType::f32;
}

Json readFileOfTimes(const std::filesystem::path& file) {
  std::error_code none;
  if (file.empty() || !std::filesystem::exists(file, none)) return {{kForm, kVersion}, {"machines", Json::object()}};
  const Json all = parseJson(readFile(file, std::size_t{64} << 20), file.string());
  if (!all.is_object() || all.value(kForm, Json()) != kVersion || !all.contains("machines") ||
      !all["machines"].is_object())
    throwError(ErrorCode::badData,
               "{} holds no processor's times of this version of Gradloom: move it away, and measure with loom plan "
               "--calibrate",
               file.string());
  return all;
}

ProcessorTimes timesFrom(const std::string& machine, const Json& kept) {
  ProcessorTimes times{.machine = machine,
                       .program = kept.at("program").get<std::string>(),
                       .date = kept.at("date").get<std::string>(),
                       .betweenStages = kept.at("between_stages_us").get<double>() * 1e-6,
                       .points = {},
                       .assumed = {}};
  for (const Json& one : kept.at("stages")) {
    const auto kind = std::find(kStageKindNames.begin(), kStageKindNames.end(), one.at("kind").get<std::string>());
    Point point{.op = one.at("op").get<std::string>(),
                .kernel = one.at("kernel").get<std::string>(),
                .kind = static_cast<StageKind>(kind == kStageKindNames.end() ? 4 : kind - kStageKindNames.begin()),
                .factors = typeOf(one.at("factors").get<std::string>()),
                .bytes = one.at("bytes").get<double>(),
                .operations = one.at("operations").get<double>(),
                .seconds = one.at("us").get<double>() * 1e-6,
                .sizes = one.at("sizes").get<std::vector<double>>(),
                .step = one.value("step_bytes", 0.0)};  // none in files of 2026-11-26 and before
    if (!(point.seconds > 0) || !(point.bytes >= 0) || !(point.operations >= 0) || !(point.step >= 0))
      throwError(ErrorCode::badData, "the stage '{}' has a time or a size that none can have", point.op);
    times.points.push_back(std::move(point));
  }
  return times;
}

}  // namespace

ProcessorModel thisProcessor(int threads) {
  ProcessorModel model;
  model.threads = threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
#if defined(__x86_64__)
  // Two units of so many numbers at 2.5 GHz, of which half is reached.
  model.operations = __builtin_cpu_supports("avx512f") ? 80e9 : __builtin_cpu_supports("avx2") ? 40e9 : 10e9;
#endif
  return model;
}

double secondsOf(const StageCost& stage, const ProcessorTimes& times) {
  if (times.points.empty()) return assumedSeconds(stage, times.assumed);
  const auto sameOp = [&](const Point& point) { return point.op == stage.op && point.factors == stage.factors; };
  double rate = 0;
  // What a pass over memory computes stands in its kernel's name; a product's says only what is joined to it.
  if (!multiplies(stage.kind))
    rate = rateFrom(stage, times.points,
                    [&](const Point& point) { return sameOp(point) && point.kernel == stage.kernel; });
  if (rate == 0) rate = rateFrom(stage, times.points, sameOp);
  if (rate == 0)
    rate = rateFrom(stage, times.points,
                    [&](const Point& point) { return point.kind == stage.kind && point.factors == stage.factors; });
  if (rate == 0) rate = rateFrom(stage, times.points, [&](const Point& point) { return point.kind == stage.kind; });
  if (rate == 0) return assumedSeconds(stage, times.assumed);
  return rate * unitsOf(stage.operations, stage.read + stage.written) + times.betweenStages * stage.calls;
}

std::string sourceOf(const ProcessorTimes& times) {
  if (times.points.empty()) return "from assumed speeds: nothing was measured on this machine (loom plan --calibrate)";
  return fmt::format("from {} stages measured on {} by {}", times.points.size(), times.date, times.program);
}

std::filesystem::path keptProcessorTimes() {
  return userCacheFolder() / "processors.json";
}

std::optional<ProcessorTimes> readProcessorTimes(const std::filesystem::path& file, const std::string& machine) {
  const Json all = readFileOfTimes(file);
  const auto kept = all["machines"].find(machine);
  if (kept == all["machines"].end()) return {};
  try {
    return timesFrom(machine, *kept);
  } catch (const std::exception& error) {
    throwError(ErrorCode::badData, "{}, '{}': {}; measure anew with loom plan --calibrate", file.string(), machine,
               error.what());
  }
}

void keepProcessorTimes(const std::filesystem::path& file, const ProcessorTimes& times) {
  Json all = readFileOfTimes(file), stages = Json::array();
  for (const Point& point : times.points)
    stages.push_back({{"op", point.op},
                      {"kernel", point.kernel},
                      {"kind", kStageKindNames[static_cast<std::size_t>(point.kind)]},
                      {"factors", toString(point.factors)},
                      {"bytes", point.bytes},
                      {"operations", point.operations},
                      {"us", point.seconds * 1e6},
                      {"sizes", point.sizes},
                      {"step_bytes", point.step}});
  all["machines"][times.machine] = {{"program", times.program},
                                    {"date", times.date},
                                    {"between_stages_us", times.betweenStages * 1e6},
                                    {"stages", std::move(stages)}};
  std::filesystem::create_directories(file.parent_path());
  writeFileAtomically(file, all.dump(1) + "\n");
}

}  // namespace loom
