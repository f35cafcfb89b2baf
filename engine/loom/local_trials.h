#pragma once
// Trials of a search as processes of this machine: one `loom train` each, in a session of its own, so that a search
// that is killed leaves its trials training and finds them again.
#include <map>

#include "engine/search/driver.h"

namespace loom {

class LocalTrials : public TrialBench {
 public:
  LocalTrials(std::filesystem::path project, std::filesystem::path runs, std::vector<std::string> trainArguments);
  ~LocalTrials() override;
  std::filesystem::path place(const SearchPlan& plan, int number) override;
  void start(TrialRun& run, bool goesOn) override;
  bool lives(const TrialRun& run) override;
  void stop(const TrialRun& run) override;
  std::string lastWords(const TrialRun& run) override;

 private:
  std::filesystem::path m_project, m_runs;
  std::vector<std::string> m_arguments;  // further ones of `loom train`
  std::map<int, int> m_processes;        // by the trial's number
};

}  // namespace loom
