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
#include <memory>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/philox.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/loom/bench/workloads.h"
#include "engine/network/analysis.h"
#include "engine/program/builder.h"
#include "engine/training/parameter_update.h"

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

void fillInputs(Executable& executable, const Workload& workload) {
  for (const Tensor& tensor : executable.program().tensors) {
    if (tensor.role != TensorRole::input) continue;
    const std::span<std::byte> bytes = executable.input(tensor.name);
    const Philox random(0, tensor.name);
    const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
    if (tensor.type == DataType::i32) {
      const auto found = workload.classes.find(tensor.name);
      if (found == workload.classes.end())
        throwError(ErrorCode::internal, "the workload says no range for input '{}'", tensor.name);
      auto* to = reinterpret_cast<std::int32_t*>(bytes.data());
      for (std::uint64_t i = 0; i < count; ++i)
        to[i] = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(found->second), i));
    } else {
      auto* to = reinterpret_cast<float*>(bytes.data());
      for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<float>(random.normal(i));
    }
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

Json measure(const Workload& workload, Backend& backend, const BenchArguments& arguments) {
  Program forward = lower(workload.network, {.batch = workload.batch, .seed = 1, .training = true});
  ProgramBuilder builder(std::move(forward));
  differentiate(builder);
  ParameterStore store(1);
  const auto executable =
      backend.compile(builder.take(), store, {.precision = DataType::f32, .threads = arguments.threads});
  fillInputs(*executable, workload);
  ParameterUpdate update(workload.update, 0, executable->program(), store);

  std::int64_t steps = 0;
  const auto step = [&] {
    executable->run({.step = steps++});
    const ApplyOutcome outcome = update.apply(backend, {.learningRate = update.baseRate()});
    if (!outcome.notFinite.empty())
      throwError(ErrorCode::diverged, "{}: the gradient of '{}' is no longer finite", workload.name, outcome.notFinite);
  };
  for (int i = 0; i < 3; ++i) step();
  // As the yardstick: the median over the steps in which no thread stood waiting for a core for more than 2 % of the
  // step.
  std::vector<double> times, clean;
  const Clock::time_point start = Clock::now();
  while (secondsSince(start) < arguments.seconds || times.size() < 5) {
    const double before = waited();
    const Clock::time_point began = Clock::now();
    step();
    times.push_back(secondsSince(began));
    if (waited() - before <= 0.02 * times.back()) clean.push_back(times.back());
  }
  const double seconds = median(clean.size() >= 5 ? clean : times);
  const auto rounded = [](double value, double places) { return std::round(value * places) / places; };
  if (std::getenv("GRADLOOM_PROFILE") != nullptr) std::fprintf(stderr, "%s\n", executable->describe().dump().c_str());
  return {{"peer", "gradloom " GRADLOOM_VERSION},
          {"mode", "program"},
          {"workload", workload.name},
          {"precision", arguments.precision},
          {"device", arguments.device},
          {"batch", workload.batch},
          {"samples_per_s", rounded(static_cast<double>(workload.batch) / seconds, 100)},
          {"step_ms", rounded(seconds * 1e3, 1000)},
          {"steps", times.size()},
          {"contended", rounded(1 - static_cast<double>(clean.size()) / static_cast<double>(times.size()), 1000)},
          {"loss", numberToJson(executable->scalarResult("loss"))}};
}

}  // namespace

int runBench(const BenchArguments& arguments) {
  if (arguments.device != "cpu") {
    throwError(ErrorCode::device, "bench runs on --device cpu so far, not on '{}'", arguments.device);
  }
  if (arguments.precision != "f32") {
    throwError(ErrorCode::device, "bench computes in f32 so far; --precision {} is not there yet", arguments.precision);
  }
  std::vector<Workload> workloads;
  for (const std::string& name : arguments.names.empty() ? workloadNames() : arguments.names)
    workloads.push_back(makeWorkload(name));
  const auto backend = makeCpuBackend(arguments.threads);
  for (const Workload& workload : workloads) {
    fmt::print("{}\n", measure(workload, *backend, arguments).dump());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace loom
