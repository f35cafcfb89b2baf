#include "engine/training/trained_run.h"

#include "engine/base/error.h"
#include "engine/training/evaluation.h"

namespace loom {
namespace {

std::filesystem::path chooseCheckpoint(const TrainedRunOptions& options) {
  std::vector<std::string> refused;
  auto path = findCheckpoint(options.run, options.which, &refused);
  if (!path) path = findCheckpoint(options.run, Which::last, &refused);
  if (path) return *path;
  throwError(ErrorCode::missingFile, "the run {} has no checkpoint to load{}", options.run.path.string(),
             refused.empty() ? std::string("; train it first") : ": " + refused.front());
}

}  // namespace

TrainedRun::TrainedRun(Backend& backend, TrainedRunOptions options)
    : m_options(std::move(options)),
      m_description(readRunDescription(m_options.run)),
      m_settings(readSettings(m_description.project.training.settings)),
      m_path(chooseCheckpoint(m_options)),
      m_backend(backend),
      m_store(m_settings.seed, backend.makeMemory()),
      m_compile({.precision = m_settings.precision, .tf32 = m_settings.tf32, .threads = m_settings.threads}),
      m_networks(backend, m_store, m_compile, m_settings.seed),
      m_data(m_description.project, {.folder = m_description.folder,
                                     .threads = m_settings.threads,
                                     .stop = m_options.stop,
                                     .progress = m_options.progress,
                                     .prepared = m_description.prepared}) {}

const Network& TrainedRun::network() const {
  const TrainingSpec& training = m_description.project.training;
  std::string name = training.validationNetwork;
  if (name.empty() && !training.updates.empty()) name = training.updates.front().network;
  const Network* network = m_flat.find(name);
  if (!network) throwError(ErrorCode::badProject, "the run's project has no network '{}'", name);
  return *network;
}

void TrainedRun::restore() {
  const Checkpoint checkpoint(m_path);
  checkpoint.restore(m_store);
  m_step = checkpoint.step();
}

Measured TrainedRun::evaluate(const std::string& dataset) {
  const TrainingSpec& training = m_description.project.training;
  const std::string trained = training.updates.empty() ? std::string() : training.updates.front().dataset;
  m_evaluated = !dataset.empty() ? dataset : !training.validation.empty() ? training.validation : trained;
  const OpenedDataset& opened = m_data.open(m_evaluated, trained);
  Evaluation evaluation(m_networks, network(),
                        std::make_unique<Feed>(opened.data, FeedOptions{.name = m_evaluated,
                                                                        .prepare = opened.prepare,
                                                                        .batch = m_settings.shard(),
                                                                        .shuffle = false,
                                                                        .random = false,
                                                                        .seed = m_settings.seed}));
  restore();
  const std::optional<Measured> measured = evaluation.run(m_options.stop);
  if (!measured) throwError(ErrorCode::stopped, "the evaluation was stopped");
  return *measured;
}

}  // namespace loom
