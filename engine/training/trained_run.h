#pragma once
// A run after (or while) it is trained: its project and the weights of one of its checkpoints, to evaluate and to
// predict with.
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/network/flatten.h"
#include "engine/training/checkpoint.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/means.h"
#include "engine/training/project_data.h"
#include "engine/training/run_description.h"
#include "engine/training/settings.h"

namespace loom {

struct TrainedRunOptions {
  RunFolder run;
  Which which = Which::best;                // falls back to the last one when there is no best
  const std::atomic<bool>* stop = nullptr;  // Error(stopped)
  std::function<void(const std::string& dataset, const CacheProgress&)> progress;
};

struct PredictionRequest {
  std::filesystem::path csv;
  std::filesystem::path out;
};

struct PredictionResult {
  std::int64_t rows = 0;
  std::vector<std::string> columns;  // that were added
};

class TrainedRun {
 public:
  // Throws Error(missingFile) when the folder is no run or has no whole checkpoint.
  TrainedRun(Backend& backend, TrainedRunOptions options);

  // Loss and metrics over a dataset of the project; empty = the validation set, or the training set where there is
  // none. Measured in evaluation mode, over every sample. Error(stopped) when `stop` became true.
  Measured evaluate(const std::string& dataset);
  // Writes the CSV's own columns and the network's outputs beside them, in the convention of Neural Network Console:
  // the name of the target variable and an apostrophe; "y'" for one value, "y'__0", "y'__1", ... for several. A cross
  // entropy gives probabilities. What has more than one axis or more than 1000 values goes into .npy files beside
  // `out`.
  PredictionResult predict(const PredictionRequest& request);

  const std::filesystem::path& checkpoint() const { return m_path; }
  std::int64_t step() const { return m_step; }
  const std::string& evaluated() const { return m_evaluated; }  // name of the dataset of the last evaluate()
  const RunDescription& description() const { return m_description; }

 private:
  const Network& network() const;
  void restore();  // fills what the store newly holds
  TrainedRunOptions m_options;
  RunDescription m_description;
  FlatNetworks m_flat{m_description.project};
  TrainSettings m_settings;
  std::filesystem::path m_path;
  Backend& m_backend;
  ParameterStore m_store;
  CompileOptions m_compile;
  CompiledNetworks m_networks;
  ProjectData m_data;
  std::int64_t m_step = 0;
  std::string m_evaluated;
};

}  // namespace loom
