#pragma once
// A run after (or while) it is trained, and which of its weights are meant. Whoever evaluates, predicts, exports, looks
// at a wire or begins a training with the weights of a run asks here, so all of them mean the same ones.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exchange/exporter.h"
#include "engine/training/checkpoint.h"
#include "engine/training/run_description.h"

namespace loom {

// The word of a person: "best" or "last". Throws Error(badArgument).
Which whichWeights(std::string_view word);

class TrainedRun {
 public:
  // The weights of `which`; of the last checkpoint where no best one was written yet. Throws Error(missingFile) where
  // the folder holds no whole checkpoint.
  explicit TrainedRun(RunFolder run, Which which = Which::best);

  const RunFolder& folder() const { return m_run; }
  const std::filesystem::path& checkpoint() const { return m_path; }
  Which which() const { return m_which; }  // whose weights they are, last where there was no best
  // run.json, read when it is first asked for. Throws as readRunDescription().
  const RunDescription& description() const;
  // Which network is meant where none is named: the validated one, else that of the first update. Throws
  // Error(badProject).
  std::string networkName() const;

  // Fills all that the store holds, in the shape that it has there (Checkpoint::restore()); answers the step.
  std::int64_t restore(ParameterStore& store) const;
  // Weights and states by name, and nothing of an optimizer.
  std::map<std::string, ExportedWeight> weights() const;

 private:
  RunFolder m_run;
  Which m_which;
  std::filesystem::path m_path;
  mutable std::optional<RunDescription> m_description;
};

// The words of a variable's classes in the order of their numbers; empty where they have none. Of the dataset that the
// run was trained on, as run.json keeps them, else as they stand beside its CSV.
std::vector<std::string> classNames(const RunDescription& run, const std::string& variable);

}  // namespace loom
