#pragma once
// A trained run as a network that computes: its project with the weights of one of its checkpoints, to evaluate and to
// predict with.
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/network/flatten.h"
#include "engine/run/predictions.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/means.h"
#include "engine/training/project_data.h"
#include "engine/training/settings.h"
#include "engine/training/trained_run.h"

namespace loom {

class FilesToPredict;

struct TrainedNetworkOptions {
  RunFolder run;
  Which which = Which::best;                // as TrainedRun takes it
  const std::atomic<bool>* stop = nullptr;  // Error(stopped)
  std::function<void(const std::string& dataset, const CacheProgress&)> progress;
};

// What a network said of a sample, in place: valid while it is told.
struct PredictedRow {
  std::int64_t sample = 0, row = 0;                   // from 0: of what was read, and of its file
  const std::vector<std::span<const float>>& values;  // of each output
  const std::vector<std::vector<float>>& truth;       // of each output, comparable with its values; empty = not known
};

struct PredictionRequest {
  std::vector<std::filesystem::path> files;  // one CSV; or pictures, sounds, arrays, a sample each
  std::filesystem::path out;                 // a CSV, see predict(); empty = none is written
  std::int64_t keep = 0;                     // how many samples the answer holds, from the first; the CSV holds all
  std::string dataset;  // in place of files, and without `out`: one of the project's, with the rows that it uses
  // Told of all samples in their order; the predictions have everything but samples by then.
  std::function<void(const Predictions& predictions, const PredictedRow& row)> each;
};

// What was read for a prediction.
struct PredictedData {
  std::filesystem::path csv;
  std::string content, input;  // hash of its samples; the variable that is the network's one input, if it is one
  std::vector<Json> prepare;   // resolved
  std::int64_t samples = 0;
};

class TrainedNetwork {
 public:
  // Throws Error(missingFile) when the folder is no run or has no whole checkpoint.
  TrainedNetwork(Backend& backend, TrainedNetworkOptions options);

  // Loss and metrics over a dataset of the project; empty = the validation set, or the training set where there is
  // none. Measured in evaluation mode, over every sample. Error(stopped) when `stop` became true.
  Measured evaluate(const std::string& dataset);
  // What the network says of each sample, in the units of the files (predictions.h). A column is found by its name;
  // those that the network does not read need not be there. Where the CSV has all that a loss compares, each kept
  // sample has its truth and its loss.
  // `out` gets the CSV's own columns and the outputs beside them, in the convention of Neural Network Console: the name
  // of the target variable and an apostrophe; "y'" for one value, "y'__0", "y'__1", ... for several. What has more than
  // one axis or more than 1000 values goes into .npy files beside it.
  Predictions predict(const PredictionRequest& request);

  const TrainedRun& run() const { return m_run; }
  // The first update's, with its units written out: metrics are called like its nodes. Error(badProject): there is
  // none.
  const Network& network() const;
  std::int64_t step() const { return m_step; }
  const std::string& evaluated() const { return m_evaluated; }    // name of the dataset of the last evaluate()
  const PredictedData& predicted() const { return m_predicted; }  // of the last predict(), from its first sample on
  // The dataset that evaluation takes where none is named: the validation set, else the one that is trained on.
  std::string usualDataset() const;
  const std::string& trainedOn() const;  // the dataset of the first update

 private:
  OpenedDataset openToPredict(const FilesToPredict& files, const Network& network,
                              const std::vector<std::string>& inputs) const;
  void restore();  // fills what the store newly holds
  TrainedNetworkOptions m_options;
  TrainedRun m_run;
  const RunDescription& m_description;
  FlatNetworks m_flat{m_description.project};
  TrainSettings m_settings;
  Backend& m_backend;
  ParameterStore m_store;
  CompileOptions m_compile;
  CompiledNetworks m_networks;
  ProjectData m_data;
  std::int64_t m_step = 0;
  std::string m_evaluated;
  PredictedData m_predicted;
};

}  // namespace loom
