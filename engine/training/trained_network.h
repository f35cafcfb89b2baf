#pragma once
// A trained run as a network that computes: its project with the weights of one of its checkpoints, to evaluate and to
// predict with.
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/network/flatten.h"
#include "engine/program/tensor_summary.h"
#include "engine/run/predictions.h"
#include "engine/run/sample_look.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/means.h"
#include "engine/training/project_data.h"
#include "engine/training/settings.h"
#include "engine/training/trained_run.h"

namespace loom {

class FilesToPredict;
class SampleLens;

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

// What a file is read for: every row of it, or the rows that training would take, where all is there to judge by.
enum class FileUse { predict, evaluate };

struct PredictionRequest {
  std::vector<std::filesystem::path> files;  // one CSV; or pictures, sounds, arrays, a sample each
  std::filesystem::path out;                 // a CSV, see predict(); empty = none is written
  std::int64_t keep = 0;                     // how many samples the answer holds, from the first; the CSV holds all
  std::string dataset;  // in place of files, and without `out`: one of the project's, with the rows that it uses
  FileUse use = FileUse::predict;
  bool recognised = false;  // the CSV is written as its own lines tell, and not as the run's data were said to be
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

enum class LookMethod { none, gradient, gradCam, occlusion };
// The words of a person: "gradient", "grad-cam", "occlusion". Throws Error(badArgument).
LookMethod lookMethod(std::string_view word);

struct LookRequest {
  std::string dataset;         // of the project; empty = the usual one
  std::filesystem::path file;  // in its place a CSV, a picture, a sound or an array
  std::int64_t sample = 0;     // of these, from 0
  std::string output;          // one of the predictions', "y'"; empty = the first
  // A class by its word or number, or a value by its number; empty = what is said most likely, of numbers the first.
  std::string of;
  LookMethod method = LookMethod::none;
  std::string layer;  // whose values are wanted, and whose channels Grad-CAM weighs; empty = the last with places
  std::int64_t window = 0, stride = 0;  // of occlusion; 0 = as OcclusionOptions
  bool layers = true;                   // false: no layer's values are told
};

struct LookAnswer {
  SampleLook look;
  TensorSummary layer;  // values of look.layer
};

class TrainedNetwork {
 public:
  // Throws Error(missingFile) when the folder is no run or has no whole checkpoint.
  TrainedNetwork(Backend& backend, TrainedNetworkOptions options);
  ~TrainedNetwork();

  // Loss and metrics over a dataset of the project; empty = the validation set, or the training set where there is
  // none. Measured in evaluation mode, over every sample. Error(stopped) when `stop` became true.
  Measured evaluate(const std::string& dataset);
  // What the network says of each sample, in the units of the files (predictions.h). A column is found by its name;
  // those that the network does not read need not be there. What was said of the run's own data (no header, a mark of
  // thousands) holds for a CSV too, but a first line that names the columns is one. Where the CSV has all that a loss
  // compares, each kept sample has its truth and its loss. `out` gets the CSV's own columns and the outputs beside
  // them, in the convention of Neural Network Console: the name of the target variable and an apostrophe; "y'" for one
  // value, "y'__0", "y'__1", ... for several. What has more than one axis or more than 1000 values goes into .npy files
  // beside it.
  Predictions predict(const PredictionRequest& request);

  // What it sees in one sample (sample_lens.h). The second look at the same samples costs no more than the arithmetic.
  LookAnswer look(const LookRequest& request);

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
  OpenedDataset openToPredict(FilesToPredict& files, const Network& network, const std::vector<std::string>& inputs,
                              FileUse use) const;
  void restore();  // fills what the store newly holds
  struct NamedOutput {
    std::string result;  // of the program
    PredictedOutput output;
    bool logits = false;  // of a chance: it is what comes before the sigmoid
  };
  std::vector<NamedOutput> outputsOf(const Program& one) const;  // `one`: lowered for a prediction
  const OpenedDataset& openToLook(const LookRequest& request, const std::vector<std::string>& inputs);
  TrainedNetworkOptions m_options;
  TrainedRun m_run;
  const RunDescription& m_description;
  Project m_project;  // the run's, in its losses what classes counted
  FlatNetworks m_flat{m_project};
  TrainSettings m_settings;
  Backend& m_backend;
  ParameterStore m_store;
  CompileOptions m_compile;
  CompiledNetworks m_networks;
  ProjectData m_data;
  std::int64_t m_step = 0;
  std::string m_evaluated;
  PredictedData m_predicted;
  std::map<std::int64_t, std::unique_ptr<Executable>> m_predicting;  // by batch: the full one and the last
  std::map<std::string, std::unique_ptr<SampleLens>> m_lenses;       // by output
  std::unique_ptr<FilesToPredict> m_lookedFiles;
  std::filesystem::path m_lookedFile;
  std::optional<OpenedDataset> m_looked;  // of m_lookedFile
};

}  // namespace loom
