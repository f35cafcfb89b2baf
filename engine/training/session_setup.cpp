#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/host.h"
#include "engine/data/balance.h"
#include "engine/metrics/metric.h"
#include "engine/network/lone_statistics.h"
#include "engine/network/method_check.h"
#include "engine/training/agreement.h"
#include "engine/training/label_check.h"
#include "engine/training/moved_data.h"
#include "engine/training/run_description.h"
#include "engine/training/same_weights.h"
#include "engine/training/start_from.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

// A deterministic shard is computed by one thread: how a sum is shared among threads shows in its last bits.
CompileOptions compileOptionsOf(const TrainSettings& settings, Trace* trace) {
  return {.precision = settings.precision,
          .tf32 = settings.tf32,
          .threads = settings.deterministic ? 1 : settings.threads,
          .memoryBudget = settings.memoryBudget,
          .passes = settings.accumulate,
          .trace = trace};
}

}  // namespace

TrainingSession::TrainingSession(Backend& backend, TrainerOptions options, EventWriter* events, std::int64_t& step)
    : m_backend(backend),
      m_options(std::move(options)),
      m_weighed(m_options.project),
      m_events(events),
      m_step(step),
      m_settings(readSettings(m_options.project.training.settings)),
      m_alone(m_options.communicator ? nullptr : makeSelfCommunicator()),
      m_parallel(m_alone ? *m_alone : *m_options.communicator, m_settings, m_options.trace),
      m_layerTimes(m_options.trace == nullptr),
      m_compile(compileOptionsOf(m_settings, m_options.trace ? m_options.trace : m_layerTimes.trace())),
      m_data(m_options.project,
             {.folder = m_options.folder,
              .stop = m_options.stop,
              .progress =
                  [this, last = Clock::now() - std::chrono::hours(1)](const std::string& name,
                                                                      const CacheProgress& progress) mutable {
                    if (Clock::now() - last < std::chrono::milliseconds(500)) return;
                    last = Clock::now();
                    tell("preparing", {{"dataset", name},
                                       {"rows", progress.rowsDone},
                                       {"rows_total", progress.rowsTotal},
                                       {"rows_per_second", progress.rowsPerSecond}});
                  },
              .warn =
                  [this](const std::string& name, const std::string& sentence) {
                    tell("warning", {{"message", fmt::format("dataset '{}': {}", name, sentence)}, {"code", "data"}});
                  }}),
      m_store(m_settings.seed, backend.makeMemory()),
      m_networks(backend, m_store, m_compile, m_settings.seed, m_settings.statistics) {
  m_parallel.connect = m_options.connect;
  if (m_options.project.training.updates.empty())
    throwError(ErrorCode::badProject,
               "the project has nothing to train: give it a \"training\" with a network, a dataset and an optimizer");
  if (first()) {
    m_control = std::make_unique<ControlReader>(
        m_options.run, events->attempt() == 1 ? ControlReader::From::start : ControlReader::From::end);
    m_keeper = std::make_unique<CheckpointKeeper>(m_options.run);
  }
  refuseMethods();
  openData();
  makeUpdates();
  makeEvaluation();
  makeStatistics();
  chooseMonitor();
  resume();
  describe();
}

Feed& TrainingSession::feedOf(const std::string& dataset, const std::string& trained) {
  if (const auto found = m_feeds.find(dataset); found != m_feeds.end()) return *found->second;
  const OpenedDataset& opened = m_data.open(dataset, trained);
  const std::shared_ptr<const Dataset> data =
      m_settings.oversample.empty() ? opened.data : balanceClasses(opened.data, m_settings.oversample, m_settings.seed);
  auto feed =
      std::make_unique<Feed>(data, FeedOptions{.name = dataset,
                                               .prepare = opened.prepare,
                                               .batch = m_settings.batch,
                                               .shuffle = m_settings.shuffle,
                                               .random = true,
                                               .dropLast = m_settings.dropLast && data->size() >= m_settings.batch,
                                               .seed = m_settings.seed,
                                               .threads = m_settings.threads > 0 ? m_settings.threads : 2,
                                               .parts = m_parallel.logical,
                                               .partBegin = m_parallel.firstLogical(m_parallel.communicator.rank()),
                                               .partEnd = m_parallel.firstLogical(m_parallel.communicator.rank() + 1)});
  return *m_feeds.emplace(dataset, std::move(feed)).first->second;
}

// Whatever a rank cannot read is known to all before any of them waits for another.
void TrainingSession::openData() {
  const TrainingSpec& training = m_options.project.training;
  std::optional<Error> failure;
  Json facts;
  try {
    for (const UpdateSpec& update : training.updates) m_data.open(update.dataset);
    if (!training.validation.empty() && m_settings.validateEvery > 0)
      m_data.open(training.validation, training.updates.front().dataset);
    if (m_settings.weighClasses) weighClasses();
    for (const UpdateSpec& update : training.updates)
      if (const Network* network = m_flat.find(update.network)) checkLabels(*network, m_data.open(update.dataset));
    facts = this->facts();
    if (m_options.resume && first()) compareData();
  } catch (const Error& error) {
    failure = error;
  }
  agree(m_parallel.communicator, facts, failure);
}

// Before any network is made flat. What is validated has the weights of what is trained, as far as it has its losses.
void TrainingSession::weighClasses() {
  const TrainingSpec& training = m_options.project.training;
  int weighed = 0;
  for (const UpdateSpec& update : training.updates) {
    const ClassWeights weights =
        measureClassWeights(m_options.project, update.network, *m_data.open(update.dataset).data);
    weighed += weighLosses(m_weighed, update.network, weights);
    if (training.validationNetwork != update.network) weighLosses(m_weighed, training.validationNetwork, weights);
    m_classWeights[update.dataset].insert(weights.begin(), weights.end());
  }
  if (weighed == 0)
    throwError(ErrorCode::badProject,
               "training.weigh_classes: no loss of '{}' compares with classes of the data; a SoftmaxCrossEntropy, "
               "CategoricalCrossEntropy or BinaryCrossEntropy of one value does, outside of units. Set it back to none",
               training.updates.front().network);
}

// Data that were changed where they lie may be meant; data from elsewhere that are others are a mistake.
void TrainingSession::compareData() {
  std::map<std::string, std::string> changed;
  try {
    changed = changedData(m_options.trainedOn, m_data.facts());
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badData, "{} is damaged: what it says of the data is of another type ({}); start a new run",
               m_options.run.runFile().string(), fault.what());
  }
  for (const auto& [name, sentence] : changed) {
    if (std::find(m_options.moved.begin(), m_options.moved.end(), name) != m_options.moved.end())
      throwError(ErrorCode::badData, "{}; name the file that it was trained on with --data {}=CSV", sentence, name);
    tell("warning", {{"message", sentence}, {"code", "data"}});
  }
}

void TrainingSession::makeUpdates() {
  const TrainingSpec& training = m_options.project.training;
  // An epoch is one pass over the data of the first update that runs at every step.
  const auto always = std::find_if(training.updates.begin(), training.updates.end(),
                                   [](const UpdateSpec& spec) { return spec.every == 1; });
  m_primary = &feedOf((always == training.updates.end() ? training.updates.front() : *always).dataset, {});
  for (std::size_t i = 0; i < training.updates.size(); ++i) {
    const UpdateSpec& spec = training.updates[i];
    const Network* network = m_flat.find(spec.network);
    if (!network)
      throwError(ErrorCode::badProject, "training: update {} names the network '{}', which the project lacks", i + 1,
                 spec.network);
    if (spec.every < 1)
      throwError(ErrorCode::badProject, "training: update {} is to run every {} steps; at least 1 is wanted", i + 1,
                 spec.every);
    m_updates.push_back(
        std::make_unique<UpdateRunner>(UpdateParts{.spec = spec,
                                                   .index = static_cast<int>(i),
                                                   .network = *network,
                                                   .feed = feedOf(spec.dataset, {}),
                                                   .networks = m_networks,
                                                   .store = m_store,
                                                   .backend = m_backend,
                                                   .settings = m_settings,
                                                   .compile = m_compile,
                                                   .parallel = m_parallel,
                                                   .stepsPerEpoch = m_primary->stepsPerEpoch(),
                                                   .beforeDiagnosis = [this] { saveBestBeforeDivergence(); }}));
  }
  m_units = unitMetrics(m_updates.front()->network(), m_data.open(training.updates.front().dataset));
  checkStages();
  if (m_settings.recordLayers > 0)
    m_recorder = std::make_unique<LayerRecorder>(m_backend, m_store, m_settings, m_parallel, m_updates);
  if (std::all_of(m_updates.begin(), m_updates.end(), [](const auto& update) { return update->late(); }))
    m_mostUnderWay = 1;
}

void TrainingSession::makeEvaluation() {
  const TrainingSpec& training = m_options.project.training;
  if (training.validation.empty() || m_settings.validateEvery <= 0) return;
  const std::string name =
      training.validationNetwork.empty() ? training.updates.front().network : training.validationNetwork;
  const Network* network = m_flat.find(name);
  if (!network)
    throwError(ErrorCode::badProject, "training: the network '{}' that is to be validated is not in the project", name);
  const OpenedDataset& opened = m_data.open(training.validation, training.updates.front().dataset);
  m_validationUnits = unitMetrics(*network, opened);
  m_evaluation = std::make_unique<Evaluation>(
      m_networks, *network,
      std::make_unique<Feed>(opened.data,
                             FeedOptions{.name = training.validation,
                                         .prepare = opened.prepare,
                                         .batch = m_parallel.shardSize(m_settings.batch) * m_parallel.logical,
                                         .shuffle = false,
                                         .random = false,
                                         .seed = m_settings.seed,
                                         .parts = m_parallel.logical,
                                         .partBegin = m_parallel.firstLogical(m_parallel.communicator.rank()),
                                         .partEnd = m_parallel.firstLogical(m_parallel.communicator.rank() + 1)}),
      &m_parallel);
}

void TrainingSession::chooseMonitor() {
  if (m_settings.monitor == "loss") return;
  const Network& network = m_evaluation ? m_evaluation->network() : m_updates.front()->network();
  const Program& program = m_evaluation ? m_evaluation->program() : m_updates.front()->executable().program();
  std::string known = "\"loss\"";
  for (const NamedResult& result : program.results) {
    if (result.kind == ResultKind::metric) known += ", \"" + result.name + "\"";
    if (result.kind == ResultKind::output || result.name != m_settings.monitor) continue;
    const Node* node = network.find(result.name);
    m_higherIsBetter = result.kind == ResultKind::metric && node && goalOf(node->layer) == Goal::higher;
    return;
  }
  throwError(ErrorCode::badProject, "training.monitor: network '{}' measures no '{}'; it measures {}", network.name,
             m_settings.monitor, known);
}

// Rank 0 reads them; the others get them with its position, and know where it could not.
void TrainingSession::beginWithWeights(bool wanted) {
  if (m_settings.startFrom.empty()) return;
  std::optional<Error> failure;
  try {
    if (wanted && first()) {
      const StartedFrom started = startFrom(
          m_store, {.file = m_options.folder / m_settings.startFrom, .parameters = m_settings.startFromParameters});
      m_options.startedFrom = started.facts;
      for (const std::string& warning : started.warnings) tell("warning", {{"message", warning}, {"code", "weights"}});
    }
  } catch (const Error& error) {
    failure = error;
  }
  agree(m_parallel.communicator, Json::object(), failure);
}

void TrainingSession::resume() {
  m_position.updates.resize(m_updates.size());
  m_position.nextValidation = m_settings.validateEvery;
  m_position.nextKept = m_settings.checkpointEvery.value_or(0);
  std::optional<Checkpoint> from;
  std::vector<std::string> missing;
  if (m_options.resume && first()) {
    const auto [path, warnings] = continuationOf(m_options.run);
    for (const std::string& warning : warnings) tell("warning", {{"message", warning}, {"code", "checkpoint"}});
    if (path) {
      const Checkpoint& checkpoint = from.emplace(*path);
      // Checkpoints of earlier versions lack weights that lead to no loss: those are as they began.
      const auto untrained = [this](const std::string& name) {
        return std::none_of(m_updates.begin(), m_updates.end(), [&](const auto& update) {
          const std::vector<Parameter>& trained = update->executable().program().parameters;
          return std::any_of(trained.begin(), trained.end(), [&](const Parameter& each) { return each.name == name; });
        });
      };
      missing = checkpoint.restoreTraining(m_store, untrained);
      beginMissingCopies(missing);
      m_position = Position::fromJson(checkpoint.position());
      m_position.updates.resize(m_updates.size());
      m_writtenStep = m_position.step;
      m_lastCheckpoint = *path;
      m_keeper->goOnFrom(*path);
      if (const auto best = findCheckpoint(m_options.run, Which::best)) m_bestCheckpoint = *best;
    }
  }
  beginWithWeights(m_writtenStep < 0);
  if (m_parallel.ranks() > 1) sharePosition();
  if (sharesSlots() && m_position.step > 0)
    for (std::string& name : spreadSlots(from))
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(std::move(name));
  if (from) tellOtherSlots(missing, from->slots());
  if (m_position.step == 0)
    for (const auto& update : m_updates) beginAsWeights(m_store, update->copies());
  m_step = m_position.step;
  const std::int64_t perEpoch = m_primary->stepsPerEpoch();
  m_stepsTotal = static_cast<std::int64_t>(std::ceil(m_settings.epochs * static_cast<double>(perEpoch) - 1e-6));
  const std::int64_t planned = m_settings.batchStages.empty() ? m_stepsTotal : stepsOfAllStages();
  m_endsBySteps = m_settings.maxSteps && *m_settings.maxSteps < planned;
  if (m_endsBySteps) m_stepsTotal = *m_settings.maxSteps;
  m_stepsTotal = std::max<std::int64_t>(m_stepsTotal, 1);
  m_stepsPlanned = m_endsBySteps ? m_stepsTotal : std::max<std::int64_t>(planned, 1);
  followSettings(perEpoch);
  knowMetrics();
  for (std::size_t i = 0; i < m_updates.size(); ++i) m_updates[i]->setPlace(m_position.updates[i]);
  for (const auto& update : m_updates) update->setSpan({.steps = m_stepsTotal, .stepsPerEpoch = perEpoch});
  warnOfLoneStatistics();
  for (auto& [name, feed] : m_feeds) {
    if (m_position.batch > 0) feed->setBatch(m_position.batch);
    const auto place = m_position.datasets.find(name);
    if (place == m_position.datasets.end())
      feed->start(0, 0);
    else
      feed->start(place->second.epoch, place->second.sample);
  }
}

// What the settings say now holds over what was set while training under other ones, and the schedule goes on where it
// stood: at its share of an epoch, or at its step where steps end the run.
void TrainingSession::followSettings(std::int64_t stepsPerEpoch) {
  if (m_endsBySteps) m_position.stepsPerEpoch = stepsPerEpoch;
  m_position.countStepsPerEpoch(stepsPerEpoch);
  if (m_position.batch > 0 && m_position.batch != m_position.stageBatch && m_position.settingsBatch > 0 &&
      m_position.settingsBatch != m_settings.batch) {
    tell("warning", {{"message", fmt::format("the batch of {} that was set while training gives way to the settings' "
                                             "{}, which was {} then",
                                             m_position.batch, m_settings.batch, m_position.settingsBatch)},
                     {"code", "resume"}});
    m_position.batch = 0;
  }
  m_position.settingsBatch = m_settings.batch;
  followStages();
  for (std::size_t i = 0; i < m_updates.size(); ++i) {
    std::optional<RateOverride>& rate = m_position.updates[i].rate;
    const double base = m_updates[i]->update().baseRate();
    if (!rate || !rate->base || *rate->base == base) continue;
    tell("warning", {{"message", fmt::format("the learning rate of {:g} that was set while training gives way to the "
                                             "settings' {:g}, which was {:g} then",
                                             rate->value, base, *rate->base)},
                     {"code", "resume"}});
    rate.reset();
  }
  for (std::size_t i = 0; i < m_updates.size(); ++i) {
    std::optional<PlateauState>& plateau = m_position.updates[i].plateau;
    if (!plateau || findSchedule(m_updates[i]->spec().schedule.value("name", "")) == findSchedule("Plateau")) continue;
    if (plateau->scale < 1)
      tell("warning", {{"message", fmt::format("the learning rate that had fallen to {:g} of its first value on "
                                               "plateaus is whole again: the settings have another schedule now",
                                               plateau->scale)},
                       {"code", "resume"}});
    plateau.reset();
  }
}

// A batch normalisation of one number knows neither its mean nor its deviation.
void TrainingSession::warnOfLoneStatistics() {
  if (m_settings.statistics == BatchStatistics::synchronised) return;
  for (const auto& update : m_updates) {
    const Feed& feed = update->feed();
    for (const std::int64_t size : {std::min(m_settings.batch, feed.size()), feed.smallestBatch()}) {
      const std::int64_t shards = m_parallel.shardsOfAll(size, m_settings.batch);
      if (size / std::max<std::int64_t>(shards, 1) > 1) continue;
      const std::vector<std::string> layers = loneStatistics(update->network());
      if (layers.empty()) continue;
      tell("warning", {{"message", loneStatisticsText(layers) + (size < m_settings.batch
                                                                     ? fmt::format(" (in the last batch, of {})", size)
                                                                     : std::string())},
                       {"code", "statistics"}});
      break;
    }
  }
}

// Rank 0 read a checkpoint, whose disk the others may not even see; or it drew the first weights, which another
// machine's library may round otherwise.
void TrainingSession::sharePosition() {
  Communicator& communicator = m_parallel.communicator;
  communicator.activity().subject.store("rank 0's position", std::memory_order_relaxed);
  m_position =
      Position::fromJson(parseJson(broadcastText(communicator, m_position.toJson().dump()), "rank 0's position"));
  m_position.updates.resize(m_updates.size());
  shareStore(communicator, m_store, m_options.resume ? StorePart::valuesAndSlots : StorePart::values, sharedSlots());
}

}  // namespace loom
