// bench: the workloads of engine/loom/bench behind arguments.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "engine/loom/verbs.h"
#ifdef GRADLOOM_HAS_BENCH
#include "engine/loom/bench/bench.h"
#include "engine/loom/job.h"
#include "engine/program/backend.h"
#endif

namespace loom {

void addBench(CLI::App& app, Session& session) {
#ifdef GRADLOOM_HAS_BENCH
  auto given = std::make_shared<BenchArguments>();
  CLI::App* verb = app.add_subcommand("bench", "Training speed on fixed workloads; one JSON line each");
  verb->add_option("NAME", given->names, "Which; none = all");
  verb->add_option("--device", given->device, "cpu, cuda or reference");
  verb->add_option("--precision", given->precision, "f32, bf16 or, on a GPU, f16");
  verb->add_option("--seconds", given->seconds, "How long to measure each");
  verb->add_option("--threads", given->threads, "0 = all that this process may use");
  verb->add_option("--batch", given->batch, "Samples that a rank computes at once; 0 = as the workload says")
      ->check(CLI::Range(0, 1 << 20));
  verb->add_flag("--apart", given->apart, "Ranks compute at the same time and exchange nothing");
  verb->add_flag("--in-step", given->inStep, "As --apart, but each step begins when all ranks have ended theirs");
  verb->add_option("--trace", given->trace, "Write when what was computed and sent, for a browser's trace viewer")
      ->type_name("FILE");
  auto* record =
      verb->add_option("--record", given->record,
                       "Do not measure; write the first step's weights, batch and gradients, and the loss of "
                       "each step, for tests/bench/agreement.py")
          ->type_name("FILE");
  verb->add_option("--steps", given->recordedSteps, "How many steps to record")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(record);
  verb->callback([&session, given] {
    session.chosen = [given] {
      Job job;
      given->threads = job.threads(given->threads);
      given->connect = makeConnection(given->device, [&job](const std::string& reason) {
        if (job.first())
          std::fprintf(stderr, "loom: warning: gradients go from GPU to GPU through the hosts: %s\n", reason.c_str());
      });
      const auto backend = makeBackend(given->device, given->threads, true);
      return runBench(*given, *backend, job.communicator());
    };
  });
#else
  (void)app;
  (void)session;
#endif
}

}  // namespace loom
