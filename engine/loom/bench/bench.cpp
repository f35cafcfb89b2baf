#include "engine/loom/bench/bench.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/host.h"
#include "engine/base/json.h"
#include "engine/comm/communicator.h"
#include "engine/loom/bench/inputs.h"
#include "engine/loom/bench/workloads.h"
#include "engine/network/analysis.h"
#include "engine/passes/differentiate.h"
#include "engine/passes/passes.h"
#include "engine/program/builder.h"
#include "engine/program/trace.h"
#include "engine/run/safetensors.h"
#include "engine/training/parameter_update.h"
#include "engine/training/step_exchange.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds that this process's threads have spent runnable but without a core.
double waited() {
  double total = 0;
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::FILE* file = std::fopen(fmt::format("/proc/self/task/{}/schedstat", task->d_name).c_str(), "r");
    if (file == nullptr) continue;  // the thread has ended meanwhile
    unsigned long long ran = 0, stood = 0;
    if (std::fscanf(file, "%llu %llu", &ran, &stood) == 2) total += static_cast<double>(stood) * 1e-9;
    std::fclose(file);
  }
  closedir(tasks);
  return total;
}

// Bytes of memory that this process holds; and the most that it has held since it was asked for those.
double memoryOf(const char* what) {
  double kilobytes = 0;
  if (std::FILE* file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::strncmp(line, what, std::strlen(what)) == 0) kilobytes = std::atof(line + std::strlen(what));
    std::fclose(file);
  }
  return kilobytes * 1024;
}
double restingMemory() {
  if (std::FILE* file = std::fopen("/proc/self/clear_refs", "w")) {
    std::fputs("5", file);  // the peak is what is held now
    std::fclose(file);
  }
  return memoryOf("VmRSS:");
}
double memoryPeak() {
  return memoryOf("VmHWM:");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

// A GPU's steps take turns between two buffers of inputs, which keep what was written.
constexpr std::int64_t kInputBuffers = 2;
constexpr double kGradientScale = 1024;  // of f16

DataType precisionOf(const BenchArguments& arguments) {
  for (const DataType type : {DataType::f32, DataType::bf16, DataType::f16})
    if (arguments.precision == toString(type)) return type;
  throwError(ErrorCode::badArgument, "--precision is f32, bf16 or, on a GPU, f16, not '{}'", arguments.precision);
}

// A step of the workload on this rank, and what it exchanges with the others.
class Stepper {
 public:
  Stepper(const Workload& workload, Backend& backend, const BenchArguments& arguments, Communicator& communicator,
          Trace* trace)
      : m_workload(workload),
        m_settings(readSettings({{"batch", workload.batch * communicator.size()}})),
        m_parallel(communicator, m_settings, trace),
        m_store(1, backend.makeMemory()) {
    m_parallel.connect = arguments.connect;
    Program program = lower(workload.network, {.batch = workload.batch, .seed = 1, .training = true});
    ProgramBuilder builder(std::move(program));
    differentiate(builder);
    program = builder.take();
    m_store.ensure(program.parameters);
    CompileOptions options{.precision = precisionOf(arguments),
                           .threads = arguments.threads,
                           .memoryBudget = static_cast<std::size_t>(arguments.memoryBudget * (1 << 20)),
                           .trace = trace};
    if (communicator.size() > 1 && !arguments.apart && !arguments.inStep) {
      averageStates(program);
      const auto buckets = planBuckets(program, m_settings.fusionBytes);
      m_exchange = std::make_unique<StepExchange>(
          m_parallel, m_settings, m_store,
          StepExchange::Options{
              .buckets = buckets, .hasStates = !averagedStates(program).empty(), .smallestBatch = m_settings.batch});
      options.collectives = m_exchange->collectives();
      exchangeGradients(program, buckets);
      m_parallel.shards(m_settings.batch, m_settings.batch, m_shards);
    }
    m_executable = backend.compile(std::move(program), m_store, options);
    if (options.precision == DataType::f16) m_gradientScale = kGradientScale;
    m_update = std::make_unique<ParameterUpdate>(workload.update, 0, m_executable->program(), m_store, backend,
                                                 ParameterUpdate::Options{.trace = trace});
  }

  void run() {
    compute();
    update();
  }

  // Loss and gradients of the next step.
  void compute() {
    const std::int64_t step = m_steps++;
    if (step < kInputBuffers) fillInputs(*m_executable, m_workload.classes);
    if (m_exchange)
      m_exchange->run(m_shards, m_settings.batch, [&](std::size_t, StepOptions options) {
        options.step = step;
        options.lossScale = 1.0 / m_parallel.ranks();
        options.gradientScale = m_gradientScale;
        m_executable->run(options);
      });
    else
      m_executable->run({.step = step, .gradientScale = m_gradientScale});
  }
  // What they make of the weights.
  void update() {
    m_update->begin({.learningRate = m_update->baseRate()});
    // A machine of its own has the next step before it while this one's outcome is read, as in training.
    if (m_steps == 1 && m_executable->resultsKept() > 1) return;
    const ApplyOutcome outcome = m_update->finish();
    if (!outcome.notFinite.empty())
      throwError(ErrorCode::diverged, "{}: the gradient of '{}' is no longer finite", m_workload.name,
                 outcome.notFinite);
  }
  const Executable& executable() const { return *m_executable; }
  // Of a whole step, and what was measured of it.
  std::vector<StageCost> stages() const {
    std::vector<StageCost> all = m_executable->cost().stages;
    const StepCost update = m_update->executable().cost();
    all.insert(all.end(), update.stages.begin(), update.stages.end());
    return all;
  }
  Executable& executable() { return *m_executable; }
  ParameterStore& store() { return m_store; }

 private:
  const Workload& m_workload;
  TrainSettings m_settings;
  Parallel m_parallel;
  ParameterStore m_store;
  std::unique_ptr<StepExchange> m_exchange;
  std::vector<Shard> m_shards;
  std::unique_ptr<Executable> m_executable;
  std::unique_ptr<ParameterUpdate> m_update;
  std::int64_t m_steps = 0;
  double m_gradientScale = 1;
};

// All ranks begin together, and go on until the slowest has measured for long enough.
bool goOn(Communicator& communicator, bool wanted) {
  float ranks = wanted ? 1.0f : 0.0f;
  communicator.allReduce(std::span(&ranks, 1));
  return ranks > 0;
}

Json measure(const Workload& workload, Backend& backend, const BenchArguments& arguments, Communicator& communicator,
             Trace* trace) {
  const double resting = arguments.predict ? restingMemory() : 0;
  Stepper stepper(workload, backend, arguments, communicator, trace);
  for (int i = 0; i < 3; ++i) stepper.run();
  goOn(communicator, true);
  // As the yardstick: the median over the steps in which no thread stood waiting for a core for more than 2 % of the
  // step.
  std::vector<double> times, clean;
  const Clock::time_point start = Clock::now();
  const auto wanted = [&] { return secondsSince(start) < arguments.seconds || times.size() < 5; };
  do {
    const double before = waited();
    const Clock::time_point began = Clock::now();
    stepper.run();
    if (arguments.inStep) goOn(communicator, true);
    times.push_back(secondsSince(began));
    if (waited() - before <= 0.02 * times.back()) clean.push_back(times.back());
  } while (arguments.apart || communicator.size() == 1 ? wanted() : goOn(communicator, wanted()));
  const double seconds = median(clean.size() >= 5 ? clean : times);
  if (std::getenv("GRADLOOM_PROFILE") != nullptr && !arguments.predict)
    std::fprintf(stderr, "%s\n", stepper.executable().describe().dump().c_str());
  float rate = static_cast<float>(static_cast<double>(workload.batch) / seconds);
  communicator.allReduce(std::span(&rate, 1));
  const auto rounded = [](double value, double places) { return std::round(value * places) / places; };
  Json line = {{"peer", "gradloom " GRADLOOM_VERSION},
               {"mode", "program"},
               {"workload", workload.name},
               {"precision", arguments.precision},
               {"device", arguments.device},
               {"batch", workload.batch},
               {"samples_per_s", rounded(rate, 100)},
               {"step_ms", rounded(seconds * 1e3, 1000)},
               {"steps", times.size()},
               {"contended", rounded(1 - static_cast<double>(clean.size()) / static_cast<double>(times.size()), 1000)},
               {"loss", numberToJson(stepper.executable().scalarResult("loss"))}};
  if (communicator.size() > 1)
    line.update({{"ranks", communicator.size()}, {"exchange", !arguments.apart && !arguments.inStep}});
  if (arguments.predict) line.update(arguments.predict(workload, {seconds, memoryPeak() - resting, stepper.stages()}));
  return line;
}

// Two programs cannot share what a dropout draws.
void leaveOutDropout(Network& network) {
  for (Node& node : network.nodes)
    if (node.layer == "Dropout") node.values["probability"] = 0.0;
}

void beginWith(const std::string& path, ParameterStore& store) {
  const TensorFile file(path);
  for (const auto& entry : store.entries()) {
    if (entry->parameter.isState) continue;
    const TensorFile::Tensor* found = file.find("weight:" + entry->parameter.name);
    if (found == nullptr)
      throwError(ErrorCode::badData, "{}: there is no 'weight:{}'; loom bench NAME --record FILE writes such a file",
                 path, entry->parameter.name);
    if (found->shape != entry->parameter.shape)
      throwError(ErrorCode::badData, "{}: 'weight:{}' is {}, not {}", path, entry->parameter.name,
                 found->shape.toString(), entry->parameter.shape.toString());
    entry->value.write(found->values);
  }
}

// What a step began with, what it gave, and the loss of each of `steps` steps on the same batch.
void record(const Workload& workload, Backend& backend, const BenchArguments& arguments, Communicator& communicator) {
  Stepper stepper(workload, backend, arguments, communicator, nullptr);
  if (!arguments.weights.empty()) beginWith(arguments.weights, stepper.store());
  TensorFile::Metadata metadata{{"workload", workload.name}, {"precision", arguments.precision}};
  std::list<std::vector<float>> kept;
  std::vector<TensorFile::Tensor> tensors;
  const auto keep = [&](std::string name, Shape shape, std::vector<float> values) {
    kept.push_back(std::move(values));
    tensors.push_back({std::move(name), std::move(shape), kept.back()});
  };
  std::string order;  // of creation: a file's header is sorted by name
  for (const auto& entry : stepper.store().entries()) {
    if (entry->parameter.isState) continue;
    order += (order.empty() ? "" : " ") + entry->parameter.name;
    keep("weight:" + entry->parameter.name, entry->parameter.shape, entry->value.values());
  }
  metadata["parameters"] = order;
  std::vector<float> losses;
  for (std::int64_t step = 0; step < std::max<std::int64_t>(arguments.recordedSteps, 1); ++step) {
    stepper.compute();
    losses.push_back(static_cast<float>(stepper.executable().scalarResult("loss")));
    if (step == 0)
      for (const auto& entry : stepper.store().entries())
        if (!entry->parameter.isState)
          keep("gradient:" + entry->parameter.name, entry->parameter.shape, entry->gradient.values());
    stepper.update();
  }
  for (const Tensor& tensor : stepper.executable().program().tensors) {
    if (tensor.role != TensorRole::input) continue;
    const std::byte* at = stepper.executable().input(tensor.name).data();
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = tensor.type == DataType::i32 ? static_cast<float>(reinterpret_cast<const std::int32_t*>(at)[i])
                                               : reinterpret_cast<const float*>(at)[i];
    keep("input:" + tensor.name, tensor.shape, std::move(values));
  }
  const auto count = static_cast<std::int64_t>(losses.size());
  keep("losses", {count}, std::move(losses));
  TensorFile::write(arguments.record, tensors, metadata);
}

}  // namespace

int runBench(const BenchArguments& arguments, Backend& backend, Communicator& communicator) {
  precisionOf(arguments);
  std::vector<Workload> workloads;
  for (const std::string& name : arguments.names.empty() ? workloadNames() : arguments.names) {
    workloads.push_back(makeWorkload(name));
    if (arguments.batch > 0) workloads.back().batch = arguments.batch;
  }
  if (!arguments.record.empty()) {
    if (workloads.size() != 1 || communicator.size() != 1 || arguments.precision == "f16")
      throwError(ErrorCode::badArgument, "--record takes one workload on one rank, in f32 or bf16");
    leaveOutDropout(workloads.front().network);
    record(workloads.front(), backend, arguments, communicator);
    return 0;
  }
  for (const Workload& workload : workloads) {
    std::optional<Trace> trace;
    if (!arguments.trace.empty()) trace.emplace();
    const Json line = measure(workload, backend, arguments, communicator, trace ? &*trace : nullptr);
    if (communicator.rank() == 0) fmt::print("{}\n", line.dump());
    std::fflush(stdout);
    if (!trace) continue;
    const auto events = allGatherTexts(communicator, trace->events(communicator.rank(), hostName()));
    if (communicator.rank() == 0) writeFileAtomically(arguments.trace, Trace::file(events));
  }
  return 0;
}

}  // namespace loom
