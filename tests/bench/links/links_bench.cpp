// What ranks exchange over links, while each computes or only waits for as long as computing takes; links.py starts it.
//   links_bench computing PROJECT RANKS SECONDS FILE [KEY=VALUE ...]  one rank's step alone on one thread: into FILE
//   links_bench ranks PROJECT FILE SECONDS [KEY=VALUE ...]            under mpirun: one line of JSON
// A step of `ranks` goes through the engine's own exchange, buckets, order and thread; where the backward part would
// stand, the rank sleeps until each bucket was ready in FILE, so that ranks do not compete for this machine's cores.
#include <fmt/format.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/comm/open_mpi.h"
#include "engine/comm/reductions/host_reduction.h"
#include "engine/comm/reductions/links.h"
#include "engine/cpu/cpu_backend.h"
#include "engine/loom/bench/inputs.h"
#include "engine/network/project_arguments.h"
#include "engine/passes/passes.h"
#include "engine/planner/plan.h"
#include "engine/program/collectives.h"
#include "engine/training/parameter_update.h"
#include "engine/training/step_exchange.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kWarm = 3, kLeastSteps = 5;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The first update's program for one rank's samples, and the buckets in which its gradients leave.
struct Trained {
  Trained(const std::filesystem::path& file, int ranks, const std::vector<std::string>& settings)
      : project(loadForTraining(file, settings).project), read(readSettings(project.training.settings)) {
    samples = (read.batch + ranks - 1) / ranks;
    Project share = project;
    share.training.settings["batch"] = samples;
    planTraining(share, [this](const Program& made) {
      if (program.operations.empty()) program = made;
      return StepMemory{};
    });
    averageStates(program);
    buckets = planBuckets(program, read.fusionBytes);
    hasStates = !averagedStates(program).empty();
    exchangeGradients(program, buckets);
  }

  Project project;
  TrainSettings read;
  std::int64_t samples = 0;
  Program program;
  std::vector<std::vector<std::string>> buckets;
  bool hasStates = false;
};

// Notes when each bucket is ready, and sends nothing.
class Notes final : public Collectives {
 public:
  Notes(int ranks, std::size_t buckets) : ready(buckets), m_ranks(ranks) {}
  int ranks() const override { return m_ranks; }
  void post(int bucket) override { ready[static_cast<std::size_t>(bucket)].push_back(since(begin)); }
  void gather(std::span<const double>, std::span<double>) override {
    throwError(ErrorCode::internal, "statistics of all ranks are not noted");
  }
  RankGroup* group(std::string_view) override { return nullptr; }

  Clock::time_point begin;
  std::vector<std::vector<double>> ready;  // seconds, by bucket and step

 private:
  int m_ranks;
};

// Any network with labels has two classes at least.
std::map<std::string, std::int64_t> twoClasses(const Program& program) {
  std::map<std::string, std::int64_t> classes;
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == TensorRole::input && tensor.type == DataType::i32) classes[tensor.name] = 2;
  return classes;
}

void noteComputing(const std::filesystem::path& file, int ranks, double seconds, const std::filesystem::path& to,
                   const std::vector<std::string>& settings) {
  Trained trained(file, ranks, settings);
  const auto backend = makeCpuBackend(1);
  ParameterStore store(1, backend->makeMemory());
  store.ensure(trained.program.parameters);
  Notes notes(ranks, trained.buckets.size());
  const auto executable =
      backend->compile(std::move(trained.program), store,
                       {.precision = trained.read.precision, .threads = 1, .passes = 1, .collectives = &notes});
  ParameterUpdate update(trained.project.training.updates.front(), 0, executable->program(), store, *backend,
                         {.threads = 1});
  std::vector<double> passes, updates;
  const auto begin = Clock::now();
  for (std::int64_t step = 0; step < kWarm + kLeastSteps || since(begin) < seconds; ++step) {
    fillInputs(*executable, twoClasses(executable->program()));
    notes.begin = Clock::now();
    executable->run({.step = step, .lossScale = 1.0 / ranks, .exchange = true});
    passes.push_back(since(notes.begin));
    update.apply({.learningRate = 1e-6});
    updates.push_back(since(notes.begin) - passes.back());
  }
  Json ready = Json::array();
  for (const std::vector<double>& bucket : notes.ready) ready.push_back(median(bucket));
  writeFileAtomically(
      to, Json{{"samples", trained.samples}, {"ready", ready}, {"pass", median(passes)}, {"update", median(updates)}}
              .dump());
}

class Waiter {
 public:
  Waiter(Communicator& communicator, const std::filesystem::path& file, const Json& computing,
         const std::vector<std::string>& settings)
      : m_communicator(communicator),
        m_trained(file, communicator.size(), settings),
        m_parallel(communicator, m_trained.read, nullptr),
        m_backend(makeCpuBackend(1)),
        m_store(1, m_backend->makeMemory()),
        m_ready(computing.at("ready").get<std::vector<double>>()),
        m_pass(computing.at("pass").get<double>()),
        m_update(computing.at("update").get<double>()) {
    m_store.ensure(m_trained.program.parameters);
    m_exchange = std::make_unique<StepExchange>(
        m_parallel, m_trained.read, m_store,
        StepExchange::Options{
            .buckets = m_trained.buckets, .hasStates = m_trained.hasStates, .smallestBatch = m_trained.read.batch});
    m_parallel.shards(m_trained.read.batch, m_trained.read.batch, m_shards);
    if (m_shards.size() != 1)
      throwError(ErrorCode::badArgument, "a rank has {} shards of a step; this measures one", m_shards.size());
  }

  // Median of a step, on the first rank; all begin together.
  double measure(bool computes, double seconds) {
    std::vector<double> taken;
    const auto begin = Clock::now();
    for (int step = 0;; ++step) {
      float more = step < kWarm + kLeastSteps || since(begin) < seconds ? 1.0f : 0.0f;
      m_communicator.broadcast(std::as_writable_bytes(std::span(&more, 1)), 0);
      if (more == 0) break;
      m_communicator.allReduce(std::span(&more, 1));
      const auto from = Clock::now();
      this->step(computes, from);
      if (step >= kWarm) taken.push_back(since(from));
    }
    return median(taken);
  }

 private:
  static void sleepUntil(Clock::time_point from, double seconds) {
    std::this_thread::sleep_until(from +
                                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  void step(bool computes, Clock::time_point from) {
    m_exchange->run(m_shards, m_trained.read.batch, [&](std::size_t, StepOptions) {
      for (std::size_t b = 0; b < m_ready.size(); ++b) {
        if (computes) sleepUntil(from, m_ready[b]);
        m_exchange->collectives()->post(static_cast<int>(b));
      }
      if (computes) sleepUntil(from, m_pass);
    });
    if (computes) sleepUntil(Clock::now(), m_update);
  }

  Communicator& m_communicator;
  Trained m_trained;
  Parallel m_parallel;
  std::unique_ptr<Backend> m_backend;
  ParameterStore m_store;
  std::vector<double> m_ready;
  double m_pass, m_update;
  std::unique_ptr<StepExchange> m_exchange;
  std::vector<Shard> m_shards;
};

// Whatever else this machine does, this process's threads go on when they may: they mostly sleep. Not while MPI starts,
// splits groups or ends, for there it spins.
class Urgent {
 public:
  Urgent() { take(SCHED_FIFO, 1); }
  ~Urgent() { take(SCHED_OTHER, 0); }
  Urgent(const Urgent&) = delete;

 private:
  static void take(int policy, int priority) {
    const sched_param parameters{.sched_priority = priority};
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      if (::sched_setscheduler(std::atoi(task.path().filename().c_str()), policy, &parameters) != 0)
        fmt::print(stderr, "links_bench: no right to go before other work\n");
  }
};

void measureRanks(const std::filesystem::path& file, const std::filesystem::path& noted, double seconds,
                  const std::vector<std::string>& settings) {
  const auto communicator = openMpi(launchOfEnvironment());
  const Json computing = parseJson(readFile(noted), noted.filename().string());
  Waiter waiter(*communicator, file, computing, settings);
  const Urgent urgent;
  const MeasuredLinks measured = measureLinks(*communicator, machineOfRank());
  const double exchange = waiter.measure(false, seconds), step = waiter.measure(true, seconds);
  if (communicator->rank() > 0) return;
  const Link& between = measured.links.between;
  fmt::print("{}\n", Json{{"ranks", communicator->size()},
                          {"per_host", measured.perHost},
                          {"delay", between.delay},
                          {"bandwidth", between.bandwidth},
                          {"exchange", exchange},
                          {"step", step}}
                         .dump());
}

int run(const std::vector<std::string>& words) {
  const auto settingsFrom = [&](std::size_t first) {
    return std::vector<std::string>(words.begin() + static_cast<std::ptrdiff_t>(first), words.end());
  };
  if (words.size() >= 5 && words[0] == "computing")
    noteComputing(words[1], std::atoi(words[2].c_str()), std::atof(words[3].c_str()), words[4], settingsFrom(5));
  else if (words.size() >= 4 && words[0] == "ranks")
    measureRanks(words[1], words[2], std::atof(words[3].c_str()), settingsFrom(4));
  else
    throwError(ErrorCode::badArgument,
               "links_bench computing PROJECT RANKS SECONDS FILE [KEY=VALUE ...], or ranks PROJECT FILE SECONDS [...]");
  return 0;
}

}  // namespace
}  // namespace loom

int main(int count, char** arguments) {
  try {
    return loom::run({arguments + 1, arguments + count});
  } catch (const loom::Error& error) {
    fmt::print(stderr, "links_bench: {}\n", error.what());
    return 1;
  }
}
