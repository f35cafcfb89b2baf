#include "engine/training/figures.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/metrics/gathered.h"

namespace loom {
namespace {

Measured resultsOf(const Executable& executable, StepNumber step, double samples) {
  Measured measured{.samples = samples};
  const std::vector<NamedResult>& results = executable.program().results;
  const auto losses =
      std::count_if(results.begin(), results.end(), [](const NamedResult& r) { return r.kind == ResultKind::loss; });
  for (const NamedResult& result : results) {
    if (result.kind != ResultKind::loss && result.kind != ResultKind::metric) continue;
    if (result.sums != nullptr) {
      std::vector<double> run(static_cast<std::size_t>(executable.program().tensor(result.tensor).shape.elements()));
      executable.readResult(result.name, std::span(run), step);
      MetricSums& sums = measured.sums.emplace_back(MetricSums{result.name, result.sums, {}});
      if (const GatheredSums* const gathered = asGathered(result.sums)) {
        sums.values = gathered->list(run);
      } else if (result.sums->accumulate) {
        sums.values.assign(run.size(), 0);
        result.sums->accumulate(run, sums.values);
      } else {
        sums.values = std::move(run);
      }
      measured.metrics.emplace_back(result.name, result.sums->finish(sums.values));
      continue;
    }
    const double value = executable.scalarResult(result.name, step);
    if (result.kind == ResultKind::loss) measured.loss += value;
    // A single loss is told once; several also by name.
    if (result.kind == ResultKind::metric || losses > 1) measured.metrics.emplace_back(result.name, value);
  }
  return measured;
}

}  // namespace

void Figures::read(Run& run) {
  if (std::exchange(run.read, true)) return;
  run.measured = resultsOf(*run.executable, run.step, run.samples);
}

// The executable keeps the results of its last runs, the one that is about to begin among them.
void Figures::readWhatIsPushedOut(const Executable& executable) {
  int kept = executable.resultsKept();
  for (auto run = m_runs.rbegin(); run != m_runs.rend(); ++run) {
    if (run->executable != &executable || --kept > 0) continue;
    return read(*run);
  }
}

void Figures::run(Executable& executable, const StepOptions& options, double samples) {
  readWhatIsPushedOut(executable);
  const StepNumber step = executable.run(options);
  m_runs.push_back({.executable = &executable, .step = step, .samples = samples, .measured = {}});
}

void Figures::readAll() {
  for (Run& run : m_runs) read(run);
}

Measured Figures::take() {
  if (m_runs.empty()) throwError(ErrorCode::internal, "figures are asked for, but no run was begun");
  read(m_runs.front());
  Measured measured = std::move(m_runs.front().measured);
  m_runs.pop_front();
  return measured;
}

}  // namespace loom
