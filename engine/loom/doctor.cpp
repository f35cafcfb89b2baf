// doctor: what this machine offers and what stands in the way, each with its remedy.
#include <CLI/CLI.hpp>

#include "engine/base/json.h"
#include "engine/loom/findings.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {

void addDoctor(CLI::App& app, Session& session) {
  struct Given {
    bool json = false, libraries = false;
  };
  auto given = std::make_shared<Given>();
  CLI::App* verb = app.add_subcommand("doctor", "What this machine offers for training, and what stands in the way");
  verb->add_flag("--json", given->json, "One JSON object");
  verb->add_flag("--libraries", given->libraries, "GPUs and libraries alone");
  verb->callback([&session, given] {
    session.chosen = [given] {
      std::vector<Finding> findings = given->libraries ? std::vector<Finding>() : examineMachine();
      for (Finding& finding : examineLibraries()) findings.push_back(std::move(finding));
      Json all = {{"version", versionText()}}, list = Json::array();
      if (!given->json) fmt::print("{:<13} {}\n", "version", versionText());
      for (const Finding& finding : findings) {
        all[finding.key] = finding.value;
        if (!finding.advice.empty()) all["advice"].push_back(finding.key + ": " + finding.advice);
        list.push_back(
            {{"key", finding.key}, {"value", finding.value}, {"advice", finding.advice}, {"remedy", finding.remedy}});
        if (given->json) continue;
        fmt::print("{:<13} {}{}\n", finding.key, finding.value, finding.advice.empty() ? "" : "  <- " + finding.advice);
        if (!finding.remedy.empty()) fmt::print("{:<13} {}\n", "", finding.remedy);
      }
      all["findings"] = std::move(list);
      if (given->json) fmt::print("{}\n", all.dump(2));
      return kExitDone;
    };
  });
}

}  // namespace loom
