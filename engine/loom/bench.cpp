// bench: the workloads of engine/loom/bench behind arguments.
#include "engine/loom/bench/bench.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/loom/bench/allreduce.h"
#include "engine/loom/bench/calibration.h"
#include "engine/loom/bench/workloads.h"
#include "engine/loom/job.h"
#include "engine/loom/processor_plan.h"
#include "engine/loom/verbs.h"
#include "engine/program/backend.h"

namespace loom {

namespace {

Project projectOf(const Workload& workload, const BenchArguments& given) {
  Project project;
  project.networks = {workload.network};
  project.training.updates = {workload.update};
  project.training.updates.front().network = workload.network.name;
  project.training.settings = {{"batch", workload.batch}, {"precision", given.precision}, {"threads", given.threads}};
  return project;
}

// The workload's step and memory as `loom plan` predicts them, beside what was measured: shares by which it is wrong.
// Where stages are profiled (GRADLOOM_PROFILE), each op's milliseconds both ways.
Json predicted(const Workload& workload, const BenchArguments::Measured& measured, const BenchArguments& given,
               const ProcessorTimes& times) {
  const ProcessorPlan plan = planOnProcessor(projectOf(workload, given), times);
  const auto bytes = static_cast<double>(plan.memory.total.totalBytes());
  Json line = {{"predicted_ms", plan.step.seconds * 1e3}, {"predicted_error", plan.step.seconds / measured.seconds - 1},
               {"memory_mib", measured.memory / 1048576}, {"predicted_mib", bytes / 1048576},
               {"predicted_for", times.machine},          {"predicted_from", sourceOf(times)}};
  struct Found {
    std::string_view kind;
    double milliseconds = 0, operations = 0;
  };
  std::map<std::string, Found> found;
  double sum = 0;
  for (const StageCost& stage : measured.stages) {
    Found& of = found[stage.op];
    of.kind = kStageKindNames[static_cast<std::size_t>(stage.kind)];
    of.milliseconds += stage.measured * 1e3;
    of.operations += stage.operations;
    sum += stage.measured;
  }
  if (sum <= 0) return line;
  line["profiled_ms"] = sum * 1e3;
  line["profiled_error"] = plan.step.seconds / sum - 1;
  Json ops = Json::object();
  for (const OpTime& op : plan.step.ops)
    ops[op.op] = {{"predicted_ms", op.seconds * 1e3},
                  {"profiled_ms", found[op.op].milliseconds},
                  {"kind", found[op.op].kind},
                  {"gigaoperations", found[op.op].operations * 1e-9}};
  line["ops"] = std::move(ops);
  return line;
}

}  // namespace

void addBench(CLI::App& app, Session& session) {
  auto given = std::make_shared<BenchArguments>();
  auto planned = std::make_shared<bool>(false);
  auto sums = std::make_shared<AllReduceArguments>();
  CLI::App* verb = app.add_subcommand("bench", "Training speed on fixed workloads; one JSON line each");
  verb->add_option("NAME", given->names,
                   "Which; none = all. allreduce: how fast ranks add gradients up, by size and way");
  verb->add_option("--device", given->device, "cpu, cuda or reference");
  verb->add_option("--precision", given->precision, "f32, bf16 or, on a GPU, f16");
  verb->add_option("--seconds", given->seconds, "How long to measure each");
  verb->add_option("--threads", given->threads, "0 = all that this process may use");
  verb->add_option("--batch", given->batch, "Samples that a rank computes at once; 0 = as the workload says")
      ->check(CLI::Range(0, 1 << 20));
  verb->add_option("--memory-budget", given->memoryBudget,
                   "MiB, as memory_budget of a project: activations that do not fit are computed again")
      ->check(CLI::Range(0.001, 1e9));
  verb->add_flag("--apart", given->apart, "Ranks compute at the same time and exchange nothing");
  verb->add_flag("--in-step", given->inStep, "As --apart, but each step begins when all ranks have ended theirs");
  verb->add_option("--trace", given->trace, "Write when what was computed and sent, for a browser's trace viewer")
      ->type_name("FILE");
  verb->add_flag("--plan", *planned, "Put beside each what loom plan predicts of it; for a processor");
  auto* record =
      verb->add_option("--record", given->record,
                       "Do not measure; write the first step's weights, batch and gradients, and the loss of "
                       "each step, for tests/bench/agreement.py")
          ->type_name("FILE");
  verb->add_option("--steps", given->recordedSteps, "How many steps to record")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(record);
  verb->add_option("--weights", given->weights, "Begin with the weights of such a file")
      ->type_name("FILE")
      ->needs(record);
  verb->add_option("--bytes", sums->bytes, "Of allreduce: sizes in bytes; by default 4 KiB to 64 MiB")
      ->check(CLI::Range(std::int64_t{4}, std::int64_t{1} << 32));
  verb->add_option("--reductions", sums->reductions, "Of allreduce: which ways; by default all that can be");
  verb->add_option("--wire", sums->wire, "Of allreduce: f32, bf16 or f16");
  auto* csv = verb->add_flag("--csv", sums->csv, "Of allreduce: one line a measurement instead of a table");
  verb->add_flag("--json", sums->json, "Of allreduce: the links, then one line of JSON a measurement")->excludes(csv);
  verb->callback([&session, given, planned, sums] {
    session.chosen = [given, planned, sums] {
      Job job;
      if (given->names == std::vector<std::string>{"allreduce"}) {
        sums->seconds = given->seconds;
        return benchAllReduce(*sums, job.communicator());
      }
      given->threads = job.threads(given->threads);
      given->connect = makeConnection(given->device, [&job](const std::string& reason) {
        if (job.first())
          std::fprintf(stderr, "loom: warning: gradients go from GPU to GPU through the hosts: %s\n", reason.c_str());
      });
      if (*planned) {
        if (given->device != "cpu")
          throwError(ErrorCode::badArgument,
                     "--plan is for --device cpu, not {}: what is predicted of a GPU is told by "
                     "loom plan",
                     given->device);
        given->predict = [given](const Workload& workload, const BenchArguments::Measured& measured) {
          return predicted(workload, measured, *given, knownProcessor(given->threads));
        };
        // Each with an arena of its own: the memory that one leaves would be the next one's.
        const std::vector<std::string> names = given->names.empty() ? workloadNames() : given->names;
        for (const std::string& name : names) {
          given->names = {name};
          runBench(*given, *makeBackend(given->device, given->threads), job.communicator());
        }
        return 0;
      }
      const auto backend = makeBackend(given->device, given->threads, true);
      return runBench(*given, *backend, job.communicator());
    };
  });
}

}  // namespace loom
