#include "tests/gpu/cuda/stage_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/cuda/cuda_backend.h"

namespace loom::cuda {
namespace {

struct Line {
  StageCost cost;
  double seconds = 0, floor = 0;
};

}  // namespace

std::string stageProfile(const Program& program, const std::shared_ptr<StageTimes>& times, const GpuModel& gpu,
                         DataType precision, int most, const std::function<void(Executable&)>& fill) {
  const auto backend = makeCudaBackend(times);
  ParameterStore store(1, backend->makeMemory());
  store.ensure(program.parameters);
  const CompileOptions options{.precision = precision};
  const std::vector<StageCost> costs = stepCost(program, *times, options).stages;
  const auto executable = backend->compile(program, store, options);
  for (int step = 0; step < executable->resultsKept(); ++step) {
    fill(*executable);
    executable->run({.step = step});
  }
  times->begin();
  executable->run({.step = executable->resultsKept()});
  const std::vector<StageTimes::Time> measured = times->end();
  if (measured.size() != costs.size())
    throwError(ErrorCode::internal, "{} calls were timed, but the step has {} stages", measured.size(), costs.size());
  const GpuEfficiency sheet;  // all of it
  std::vector<Line> lines;
  double seconds = 0, floor = 0;
  for (std::size_t k = 0; k < costs.size(); ++k) {
    lines.push_back({costs[k], measured[k].seconds, secondsOf(costs[k], gpu, sheet)});
    seconds += lines.back().seconds;
    floor += lines.back().floor;
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
  lines.resize(std::min(lines.size(), static_cast<std::size_t>(most)));
  std::string text = fmt::format("{:>9} {:>9} {:>6}  of {} stages: {:.3f} ms, floor {:.3f} ms\n", "us", "floor us",
                                 "times", costs.size(), seconds * 1e3, floor * 1e3);
  for (const Line& one : lines)
    text += fmt::format("{:9.1f} {:9.1f} {:6.2f}  {} ({}), {:.1f} MB, {:.2f} GFLOP\n", one.seconds * 1e6,
                        one.floor * 1e6, one.seconds / one.floor, one.cost.kernel, one.cost.origin,
                        (one.cost.read + one.cost.written) * 1e-6, one.cost.operations * 1e-9);
  return text;
}

}  // namespace loom::cuda
