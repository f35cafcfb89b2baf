#include "engine/training/trained_network.h"

#include "engine/base/error.h"
#include "engine/training/class_weights.h"
#include "engine/training/evaluation.h"
#include "engine/training/files_to_predict.h"
#include "engine/training/sample_lens.h"
#include "engine/training/user_units.h"

namespace loom {

TrainedNetwork::TrainedNetwork(Backend& backend, TrainedNetworkOptions options)
    : m_options(std::move(options)),
      m_run(m_options.run, m_options.which),
      m_description(m_run.description()),
      m_project(asTrained(m_description)),
      m_settings(readSettings(m_description.project.training.settings)),
      m_backend(backend),
      m_store(m_settings.seed, backend.makeMemory()),
      m_compile({.precision = m_settings.precision, .tf32 = m_settings.tf32, .threads = m_settings.threads}),
      m_networks(backend, m_store, m_compile, m_settings.seed),
      m_data(m_description.project, {.folder = m_description.folder,
                                     .threads = m_settings.threads,
                                     .stop = m_options.stop,
                                     .progress = m_options.progress,
                                     .prepared = m_description.prepared}) {}

TrainedNetwork::~TrainedNetwork() = default;

const Network& TrainedNetwork::network() const {
  const std::string name = m_run.networkName();
  const Network* network = m_flat.find(name);
  if (!network) throwError(ErrorCode::badProject, "the run's project has no network '{}'", name);
  return *network;
}

const std::string& TrainedNetwork::trainedOn() const {
  static const std::string none;
  const TrainingSpec& training = m_description.project.training;
  return training.updates.empty() ? none : training.updates.front().dataset;
}

std::string TrainedNetwork::usualDataset() const {
  const std::string& validated = m_description.project.training.validation;
  return validated.empty() ? trainedOn() : validated;
}

void TrainedNetwork::restore() {
  m_step = m_run.restore(m_store);
}

Measured TrainedNetwork::evaluate(const std::string& dataset) {
  m_evaluated = dataset.empty() ? usualDataset() : dataset;
  const OpenedDataset& opened = m_data.open(m_evaluated, trainedOn());
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
  return inUnits(*measured, unitMetrics(network(), opened));
}

}  // namespace loom
