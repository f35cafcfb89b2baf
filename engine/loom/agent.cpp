// agent: what a launcher speaks with, on this machine and on hosts; and the two processes that it starts itself.
#include "engine/agent/agent.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "engine/agent/facts.h"
#include "engine/agent/supervisor.h"
#include "engine/base/json.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

struct AgentArguments {
  std::string job;
  bool probe = false;
};

int serve() {
  // The stream belongs to the frames alone: whatever a library prints goes to standard error.
  const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return serveAgent({.in = STDIN_FILENO, .out = out, .version = versionText()});
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
      if (!given->probe) return serve();
      // One write: lines of many ranks share a stream.
      const std::string line = probeFacts(versionText()).dump() + "\n";
      return ::write(STDOUT_FILENO, line.data(), line.size()) == static_cast<ssize_t>(line.size())
                 ? kExitDone
                 : exitCode(ErrorCode::inputOutput);
    };
  });
}

}  // namespace loom
