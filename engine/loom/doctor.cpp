// doctor: what this machine offers and what stands in the way, each with its remedy.
#include <CLI/CLI.hpp>

#include "engine/base/json.h"
#include "engine/loom/findings.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {

void addDoctor(CLI::App& app, Session& session) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("doctor", "What this machine offers for training, and what stands in the way");
  verb->add_flag("--json", *json, "One JSON object");
  verb->callback([&session, json] {
    session.chosen = [json] {
      std::vector<Finding> findings = examineMachine();
      for (Finding& finding : examineLibraries()) findings.push_back(std::move(finding));
      Json all = {{"version", versionText()}};
      if (!*json) fmt::print("{:<13} {}\n", "version", versionText());
      for (const Finding& finding : findings) {
        all[finding.key] = finding.value;
        if (!finding.advice.empty()) all["advice"].push_back(finding.key + ": " + finding.advice);
        if (!*json)
          fmt::print("{:<13} {}{}\n", finding.key, finding.value,
                     finding.advice.empty() ? "" : "  <- " + finding.advice);
      }
      if (*json) fmt::print("{}\n", all.dump(2));
      return kExitDone;
    };
  });
}

}  // namespace loom
