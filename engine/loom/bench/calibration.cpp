#include "engine/loom/bench/calibration.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/host.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/loom/bench/inputs.h"
#include "engine/passes/differentiate.h"
#include "engine/program/backend.h"
#include "engine/program/builder.h"
#include "engine/training/parameter_update.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmSteps = 1, kFewest = 2;
constexpr int kMostAttempts = 5;   // to have a network's steps on the same cores as the others'
constexpr double kSeconds = 0.12;  // of each network and precision at least, and no more steps behind it
// From stage to stage, beside the stages themselves: a barrier's. What is more is other work's, and not believed.
constexpr double kMostBetween = 5e-6, kAssumedBetween = 1e-6;

// One network in one precision.
class Probe {
 public:
  Probe(const Workload& workload, DataType precision, Backend& backend, int threads)
      : m_store(1, backend.makeMemory()) {
    ProgramBuilder builder(lower(workload.network, {.batch = workload.batch, .seed = 1, .training = true}));
    differentiate(builder);
    Program program = builder.take();
    m_store.ensure(program.parameters);
    m_pass =
        backend.compile(std::move(program), m_store, {.precision = precision, .threads = threads, .profile = true});
    m_update = std::make_unique<ParameterUpdate>(workload.update, 0, m_pass->program(), m_store, backend,
                                                 ParameterUpdate::Options{.profile = true});
    fillInputs(*m_pass, workload.classes);
  }

  void run() {
    for (int step = 0; step < kWarmSteps; ++step) once();
    const Clock::time_point start = Clock::now();
    for (int step = 0; step < kFewest || Clock::now() - start < std::chrono::duration<double>(kSeconds); ++step) {
      const Clock::time_point began = Clock::now();
      once();
      m_least = std::min(m_least, std::chrono::duration<double>(Clock::now() - began).count());
    }
  }
  double leastStep() const { return m_least; }
  std::vector<StageCost> stages() const {
    std::vector<StageCost> all = m_pass->cost().stages;
    const StepCost update = m_update->executable().cost();
    all.insert(all.end(), update.stages.begin(), update.stages.end());
    return all;
  }

 private:
  void once() {
    m_pass->run({.step = m_step++});
    m_update->apply({.learningRate = 0});
  }

  ParameterStore m_store;
  std::unique_ptr<Executable> m_pass;
  std::unique_ptr<ParameterUpdate> m_update;
  std::int64_t m_step = 0;
  double m_least = std::numeric_limits<double>::infinity();
};

std::unique_ptr<const Probe> measured(const Workload& workload, DataType precision, Backend& backend, int threads,
                                      bool apart) {
  for (int attempt = 1;; ++attempt) {
    auto probe = std::make_unique<Probe>(workload, precision, backend, threads);
    probe->run();
    if (attempt == kMostAttempts || coresAreApart(threads) == apart) return probe;
  }
}

std::string wordsFor(int threads, bool apart) {
  const ProcessorFacts facts = processorFacts(threads);
  return fmt::format("{}, {}, {} thread{}{}, {}", processorName(), facts.instructions, facts.threads,
                     facts.threads == 1 ? "" : "s", apart ? " without a common cache" : "", facts.library);
}

}  // namespace

std::string processorWords(int threads) {
  return wordsFor(threads, coresAreApart(threads));
}

ProcessorTimes measureProcessor(Backend& backend, int threads, const std::function<void(const std::string&)>& tell,
                                const std::vector<Workload>& probes) {
  const bool apart = coresAreApart(threads);
  ProcessorTimes times{.machine = wordsFor(threads, apart),
                       .program = "gradloom " GRADLOOM_VERSION,
                       .date = fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))),
                       .points = {},
                       .assumed = thisProcessor(processorFacts(threads).threads)};
  double between = std::numeric_limits<double>::infinity();
  std::size_t now = 0;
  for (const Workload& workload : probes)
    for (const DataType precision : {DataType::f32, DataType::bf16}) {
      ++now;
      if (tell) tell(fmt::format("{} of {}, {} in {}", now, 2 * probes.size(), workload.name, toString(precision)));
      const auto probe = measured(workload, precision, backend, threads, apart);
      double sum = 0;
      int calls = 0;
      const std::vector<StageCost> stages = probe->stages();
      const double moved = bytesMoved(stages);
      for (const StageCost& stage : stages) {
        sum += stage.measured;
        calls += stage.calls;
        if (stage.measured > 0)
          times.points.push_back({.op = stage.op,
                                  .kernel = stage.kernel,
                                  .kind = stage.kind,
                                  .factors = stage.factors,
                                  .bytes = stage.read + stage.written,
                                  .operations = stage.operations,
                                  .seconds = stage.measured,
                                  .sizes = stage.sizes,
                                  .step = moved});
      }
      // Of the wall's clock, so other work can only lengthen it: the least counts.
      if (calls > 0) between = std::min(between, std::max(0.0, probe->leastStep() - sum) / calls);
    }
  times.betweenStages = between < kMostBetween ? between : kAssumedBetween;
  return times;
}

ProcessorTimes measuredProcessor(int threads, const std::function<void(const std::string&)>& tell, bool anew) {
  const ProcessorTimes known = knownProcessor(threads);  // a file that cannot be added to is said before the work
  if (!anew && !known.points.empty()) return known;
  const ProcessorTimes times = measureProcessor(*makeCpuBackend(threads), threads, tell);
  keepProcessorTimes(keptProcessorTimes(), times);
  return times;
}

ProcessorTimes knownProcessor(int threads) {
  const bool apart = coresAreApart(threads);
  ProcessorTimes times{.machine = wordsFor(threads, apart)};
  for (const bool as : {apart, !apart}) {
    std::optional<ProcessorTimes> kept = readProcessorTimes(keptProcessorTimes(), wordsFor(threads, as));
    if (!kept) continue;
    times = std::move(*kept);
    break;
  }
  times.assumed = thisProcessor(processorFacts(threads).threads);
  return times;
}

}  // namespace loom
