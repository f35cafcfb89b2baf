// agent: what a launcher speaks with, on this machine and on hosts; and the two processes that it starts itself.
#include "engine/agent/agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "engine/agent/facts.h"
#include "engine/agent/supervisor.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/comm/network_probe.h"
#include "engine/loom/job.h"
#include "engine/loom/run_service.h"
#include "engine/loom/tensor_service.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

struct AgentArguments {
  std::string job;
  bool probe = false;
};

// What the agent's own room does not do by itself: a service for each kind of question.
class Services : public AgentService {
 public:
  bool knows(const std::string& verb) const override { return m_tensors.knows(verb) || m_runs.knows(verb); }
  void heard(const Json& request) override { of(request).heard(request); }
  Json perform(const Json& request, const std::string& bytes, std::string& more, const Tell& tell) override {
    return of(request).perform(request, bytes, more, tell);
  }
  void stop() override {
    m_tensors.stop();
    m_runs.stop();
  }

 private:
  AgentService& of(const Json& request) {
    if (m_runs.knows(request.value("verb", std::string()))) return m_runs;
    return m_tensors;
  }
  TensorService m_tensors;
  RunService m_runs;
};

int serve() {
  // The stream belongs to the frames alone: whatever a library prints goes to standard error.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  Services services;
  return serveAgent({.in = STDIN_FILENO, .out = out, .version = versionText(), .service = &services});
}

// A rank of a check: a line about its machine; then the ranks measure what lies between them, which also shows whether
// they can train together at all.
int probe() {
  // One write: lines of many ranks share a stream.
  const auto print = [](const Json& json) {
    const std::string line = json.dump() + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throwError(ErrorCode::inputOutput, "a line of the check cannot be written");
  };
  const Json facts = probeFacts(versionText());
  print(facts);
  Job job;
  if (job.ranks() == 1) return kExitDone;
  const NetworkFigures network = measureNetwork(job.communicator(), facts.value("machine", std::string()));
  if (job.first())
    print({{"network", job.ranks()},
           {"across", network.acrossMachines},
           {"delay", network.delay},
           {"bandwidth", network.bandwidth},
           {"all_reduce", network.allReduce},
           {"all_reduce_bytes", network.allReduceBytes}});
  return kExitDone;
}

}  // namespace

void addAgent(CLI::App& app, Session& session) {
  auto given = std::make_shared<AgentArguments>();
  CLI::App* verb = app.add_subcommand("agent", "Serves a launcher on standard input and output");
  verb->add_option("--job", given->job, "Run the job in this folder to its end instead")->type_name("FOLDER");
  verb->add_flag("--probe", given->probe, "Print one line about this machine instead: a rank of a check");
  verb->callback([&session, given] {
    session.chosen = [given] {
      if (!given->job.empty()) return superviseJob(JobFolder(std::filesystem::absolute(given->job)));
      return given->probe ? probe() : serve();
    };
  });
}

}  // namespace loom
