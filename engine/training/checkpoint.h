#pragma once
// The state of a run in one file, checkpoints/step-00000128.safetensors: weights and states under their names,
// optimizer slots as "conv1/weight#momentum", and the position in the data and the run as JSON in the metadata.
// last.json and best.json name the newest and the best one: {"file", "step", "metric", "value"}; last.json also the one
// "before" the newest.
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/program/parameter_store.h"
#include "engine/run/run_folder.h"
#include "engine/run/safetensors.h"

namespace loom {

inline constexpr int kCheckpointVersion = 1;
// Where the weights to evaluate are others than those that are trained, they stand under the weights' names, and
// statistics that fit them: whoever reads a checkpoint means these. Those with which training goes on stand beside
// them, as "conv1/weight#trained"; a slot that is evaluated as it is stands under the weight's name alone ("evaluated"
// in the position).
inline constexpr const char* kTrainedSuffix = "#trained";

// A copy of the store at one step: training goes on while it waits to be written.
struct Snapshot {
  struct Tensor {
    std::string name;
    Shape shape;
    std::vector<float> values;
  };
  std::int64_t step = 0;
  std::vector<Tensor> tensors;
  Json position;  // what the trainer needs to go on: see Position in position.h
};

class EvaluatedInPlace;
// `shown`: what stands in the store at this moment in place of what is trained; null: nothing.
Snapshot takeSnapshot(const ParameterStore& store, std::int64_t step, Json position,
                      const EvaluatedInPlace* shown = nullptr);

class Checkpoint {
 public:
  // Throws Error(badData) unless the file is whole, Error(newerVersion) when a newer Gradloom wrote it.
  explicit Checkpoint(const std::filesystem::path& path);
  const Json& position() const { return m_position; }
  std::int64_t step() const { return m_position.value("step", std::int64_t{0}); }
  // Fills everything that the store holds, with the weights to evaluate. Weights and states must be there in the right
  // shape (Error(badData) names the first that is not), but for those that it may lack; answers the slots that the file
  // lacks, which stay as they are.
  std::vector<std::string> restore(ParameterStore& store,
                                   const std::function<bool(const std::string&)>& mayLack = {}) const;
  // The same for a training that goes on: with the weights as the rule left them, beside those that were evaluated.
  std::vector<std::string> restoreTraining(ParameterStore& store,
                                           const std::function<bool(const std::string&)>& mayLack = {}) const;
  // "conv1/weight#momentum"; empty: it has none.
  std::vector<float> slotValues(const std::string& name) const;
  // The names of slots of which it has any.
  std::set<std::string> slots() const;
  // Fills what the file has under its name and in its shape, and nothing of an optimizer: a drawing may have changed
  // since. Answers how many were filled.
  std::size_t restoreMatching(ParameterStore& store) const;

 private:
  std::set<std::string> evaluatedSlots() const;
  std::filesystem::path m_path;
  TensorFile m_file;
  Json m_position;
};

enum class Which { last, best };

struct RefusedCheckpoint {
  std::filesystem::path file;
  std::string reason;
};

// The checkpoint that last.json or best.json names, if it is whole; else, for `last`, the newest whole one in the
// folder. Files that are damaged are passed over and told in `refused`; one that is there and cannot be read now may be
// whole, so it is an Error(inputOutput). Nothing when there is none.
std::optional<std::filesystem::path> findCheckpoint(const RunFolder& folder, Which which,
                                                    std::vector<RefusedCheckpoint>* refused = nullptr);

// From what a run goes on.
struct Continuation {
  std::optional<std::filesystem::path> checkpoint;  // none where none was ever written: the run begins anew
  std::vector<std::string> warnings;
};
// Damaged checkpoints that are newer than the one it answers are set aside beside it, as "*.damaged", and never
// removed. Throws Error(badData) where checkpoints were written and none of them is whole, Error(inputOutput) as above;
// nothing is changed then.
Continuation continuationOf(const RunFolder& folder);

// Writes checkpoints and removes what nothing names any more: the last, the one before it, the best and those to keep
// stay. Where a file that names some cannot be understood, only those go that this keeper wrote.
class CheckpointKeeper {
 public:
  explicit CheckpointKeeper(const RunFolder& folder);
  void goOnFrom(const std::filesystem::path& checkpoint);  // it is the newest one now, whatever last.json names
  struct Written {
    std::string file;  // relative to the run's folder
    std::int64_t step;
    bool best;
  };
  // `bestOf`: {"metric", "value", ...} when this is the best one so far. `keep`: it is never removed.
  Written write(const Snapshot& snapshot, bool last, const std::optional<Json>& bestOf, bool keep);

 private:
  void removeUnnamed();
  RunFolder m_folder;
  std::string m_last, m_before, m_best;
  std::set<std::string> m_kept, m_written;
  bool m_allKnown = true;  // what was there before is named by files that could be read
};

}  // namespace loom
