#include "engine/training/update_runner.h"

#include <chrono>
#include <cmath>

#include "engine/base/error.h"
#include "engine/network/analysis.h"
#include "engine/optimizers/optimizer.h"
#include "engine/training/divergence.h"
#include "engine/training/methods/slot_owners.h"

namespace loom {

static constexpr std::int64_t kStepsBetweenNorms = 4;  // where gradients are watched

// Over all stages of the batch.
static std::int64_t smallestBatchOf(const Feed& feed, const TrainSettings& settings) {
  std::int64_t smallest = feed.smallestBatch();
  for (const BatchStage& stage : settings.batchStages) smallest = std::min(smallest, feed.smallestBatch(stage.batch));
  return smallest;
}

UpdateRunner::UpdateRunner(const UpdateParts& parts) : m_parts(parts), m_scale(parts.settings.precision) {
  const std::int64_t largest = parts.settings.largestBatch(), smallest = smallestBatchOf(parts.feed, parts.settings);
  // A rank without samples would not enter the collectives inside the program, and the others would wait for it.
  if (parts.settings.statistics == BatchStatistics::synchronised && smallest < parts.parallel.ranks())
    throwError(
        ErrorCode::badProject,
        "training: synchronised batch statistics need a sample on each of the {} ranks in every step, but the smallest "
        "batch of dataset '{}' has {} ({} samples in batches of {}); set drop_last, choose another batch, or start "
        "fewer ranks",
        parts.parallel.ranks(), parts.feed.options().name, smallest, parts.feed.size(), parts.feed.batch());
  // The largest shard of this rank, of any stage of the batch, so that one which does not fit is known now; a rank that
  // has none in a full batch only learns the program.
  std::vector<Shard> shards;
  parts.parallel.shards(std::min(largest, parts.feed.size()), largest, shards);
  std::int64_t shard = 1;
  for (const Shard& one : shards) shard = std::max(shard, one.count);
  m_request = {
      .network = &parts.network,
      .phase = Phase::training,
      .batch = shard,
      .update = parts.index,
      .wanted = [&spec = parts.spec](const Parameter& parameter) { return isChosen(spec, parameter); },
      .averagesStates = !parts.parallel.alone() || parts.parallel.passes > 1 || !parts.settings.methods.empty(),
      .feed = &parts.feed,
      .passes = parts.settings.accumulate};
  // Which gradients travel together is decided on one program, for executables of every size.
  const Program whole = parts.networks.program(m_request);
  // All that the network has: what leads to an Output and to no loss is not updated, but evaluated, predicted and
  // exported, so it is kept in checkpoints and may come from start_from.
  parts.store.ensure(lower(parts.network, {.seed = parts.settings.seed}).parameters);
  parts.store.ensure(whole.parameters);
  m_buckets = planBuckets(whole, parts.settings.fusionBytes);
  m_metrics = metricsOf(whole);
  m_statistics = averagedStates(whole);
  std::string delayed;
  for (const MethodChoice& choice : parts.settings.methods)
    if (choice.row->delays) delayed = methodSlot(choice.row->slots.front(), parts.index);
  if (!delayed.empty()) m_noise.setDelayed();
  if (m_request.averagesStates) {
    m_exchange = std::make_unique<StepExchange>(parts.parallel, parts.settings, parts.store,
                                                StepExchange::Options{.buckets = m_buckets,
                                                                      .hasStates = !m_statistics.empty(),
                                                                      .smallestBatch = smallest,
                                                                      .delayedIn = delayed,
                                                                      .owners = ownersOfGradients(whole)});
    m_request.collectives = m_exchange->collectives();
    if (m_request.collectives && !parts.parallel.deterministic) m_request.buckets = &m_buckets;
  }
  const auto isLoss = [](const NamedResult& result) { return result.kind == ResultKind::loss; };
  if (std::none_of(whole.results.begin(), whole.results.end(), isLoss))
    throwError(ErrorCode::badProject,
               "network '{}' has no loss: add one, such as SoftmaxCrossEntropy, so that it can be trained",
               parts.network.name);
  // Its slots stand first: what is free beside them is a batch's.
  makeUpdate(whole);
  makeMethods();
  m_bindings = parts.feed.bind(parts.network, parts.networks.get(m_request).program());
  m_late = executable().resultsKept() > 1 && !m_scale.active() && m_methods.empty() && !m_update->weighsSteps() &&
           !m_sharded && !m_update->worksOnHost();
}

bool UpdateRunner::sharesSlots() const {
  return m_parts.settings.shardOptimizer && m_parts.parallel.communicator.size() > 1;
}

// By parameter, where each is stepped by one rank that needs no other gradient.
std::map<std::string, int> UpdateRunner::ownersOfGradients(const Program& whole) const {
  const OptimizerDefinition* rule = findOptimizer(m_parts.spec.optimizer.value("name", std::string()));
  if (!sharesSlots() || !rule || !needsOwnGradientsAlone(m_parts.settings.methods, rule->products != nullptr))
    return {};
  std::vector<std::string> names;
  std::vector<std::int64_t> elements;
  for (const Parameter& parameter : whole.parameters) {
    if (parameter.isState || whole.findTensor(parameter.name, TensorRole::parameterGradient) == kNoTensor) continue;
    names.push_back(parameter.name);
    elements.push_back(parameter.shape.elements());
  }
  const std::vector<int> ranks = ownersOf(elements, m_parts.parallel.communicator.size());
  std::map<std::string, int> owners;
  for (std::size_t i = 0; i < names.size(); ++i) owners[names[i]] = ranks[i];
  return owners;
}

// Each rank's own, by parameter, become those of the ranks that own them.
void UpdateRunner::gatherSquares(std::span<double> squares) const {
  Communicator& communicator = m_parts.parallel.communicator;
  communicator.activity().subject.store("norms of gradients", std::memory_order_relaxed);
  std::vector<double> all(squares.size() * static_cast<std::size_t>(communicator.size()));
  communicator.allGather(std::as_bytes(squares), std::as_writable_bytes(std::span(all)));
  for (std::size_t i = 0; i < squares.size(); ++i)
    squares[i] = all[static_cast<std::size_t>(m_update->owners()[i]) * squares.size() + i];
}

void UpdateRunner::makeUpdate(const Program& whole) {
  Communicator& communicator = m_parts.parallel.communicator;
  const bool sharesSlots = this->sharesSlots();
  const bool shared = sharesSlots || (communicator.size() > 1 && givesOneRankEach(m_parts.spec));
  m_update = std::make_unique<ParameterUpdate>(
      m_parts.spec, m_parts.index, whole, m_parts.store, m_parts.backend,
      ParameterUpdate::Options{.stepsPerEpoch = m_parts.stepsPerEpoch,
                               .averageDecay = m_parts.settings.averageDecay,
                               .clipNorm = m_parts.settings.clipNorm,
                               .rank = shared ? communicator.rank() : 0,
                               .ranks = shared ? communicator.size() : 1,
                               .sharesSlots = sharesSlots,
                               .gatherSquares = m_exchange && m_exchange->scatters()
                                                    ? [this](std::span<double> squares) { gatherSquares(squares); }
                                                    : std::function<void(std::span<double>)>(),
                               .threads = m_parts.settings.deterministic ? m_parts.compile.threads : 0,
                               .trace = m_parts.compile.trace});
  if (!shared) return;
  std::vector<ShardedSlots::Tensor> tensors;
  for (std::size_t i = 0; i < m_update->parameters().size(); ++i)
    if (m_update->owners()[i] >= 0)
      tensors.push_back(
          {m_update->parameters()[i], m_update->owners()[i], m_update->slotsOf()[i], m_update->matricesOf()[i]});
  m_sharded = std::make_unique<ShardedSlots>(communicator, m_parts.store, std::move(tensors));
}

void UpdateRunner::makeMethods() {
  const MethodWeights weights{.store = m_parts.store,
                              .names = m_update->parameters(),
                              .update = m_parts.index,
                              .seed = m_parts.settings.seed,
                              .epochs = m_parts.settings.epochs};
  for (const MethodChoice& choice : m_parts.settings.methods)
    m_methods.push_back(choice.row->make(Values(choice.row->entry, choice.values), weights));
}

std::optional<EvaluatedFrom> UpdateRunner::evaluated() const {
  for (const auto& method : m_methods)
    if (auto from = method->evaluated()) return from;
  return m_update->evaluated();
}

bool UpdateRunner::mayEvaluateOthers() const {
  const std::vector<MethodChoice>& methods = m_parts.settings.methods;
  return m_update->evaluated() || std::any_of(methods.begin(), methods.end(), [](const MethodChoice& choice) {
           return choice.row->place == MethodPlace::afterwards;
         });
}

std::vector<std::string> UpdateRunner::copies() const {
  std::vector<std::string> names = m_update->copies();
  for (const MethodChoice& choice : m_parts.settings.methods)
    if (choice.row->slotsBeginAsWeights)
      for (const std::string& slot : choice.row->slots) names.push_back(methodSlot(slot, m_parts.index));
  return names;
}

void UpdateRunner::made(double epoch) {
  for (const auto& method : m_methods) method->updated({.updates = m_update->count(), .epoch = epoch});
}

void UpdateRunner::setSpan(ScheduleSpan span) {
  span.rateScale = m_parts.settings.rateScale;
  m_schedule = makeSchedule(m_parts.spec.schedule, m_parts.spec.warmup, span);
  m_withoutWarmup = makeSchedule(m_parts.spec.schedule, nullptr, span);
}

double UpdateRunner::learningRate(double scheduleStep) const {
  if (!m_override)
    return m_update->baseRate() * m_parts.settings.rateScale * m_schedule->factor(scheduleStep) * m_plateau.scale;
  const double then = m_withoutWarmup->factor(m_override->at), rate = m_override->value * m_plateau.scale;
  return then > 0 ? rate * m_withoutWarmup->factor(scheduleStep) / then : rate;
}

void UpdateRunner::observe(double value, bool higherIsBetter) {
  if (const auto rule = m_schedule->plateau()) m_plateau.observe(*rule, value, higherIsBetter);
}

void UpdateRunner::setLearningRate(double value, double scheduleStep) {
  m_override = RateOverride{.value = value, .at = scheduleStep, .base = m_update->baseRate()};
  m_plateau = {};
}

Position::UpdatePlace UpdateRunner::place() const {
  Position::UpdatePlace place{.count = m_update->count(), .rate = m_override};
  if (m_schedule->plateau()) place.plateau = m_plateau;
  for (std::size_t i = 0; i < m_methods.size(); ++i)
    if (Json state = m_methods[i]->state(); !state.is_null())
      place.methods[m_parts.settings.methods[i].row->entry.id] = std::move(state);
  place.highestRate = m_update->stepWeights().most;
  place.weights = m_update->stepWeights().sum;
  if (!m_scale.active()) return place;
  place.lossScale = m_scale.value();
  place.finiteSteps = m_scale.finiteSteps();
  return place;
}

void UpdateRunner::setPlace(const Position::UpdatePlace& place) {
  m_update->setCount(place.count);
  m_override = place.rate;
  m_plateau = place.plateau.value_or(PlateauState{});
  for (std::size_t i = 0; i < m_methods.size(); ++i)
    if (const auto state = place.methods.find(m_parts.settings.methods[i].row->entry.id); state != place.methods.end())
      m_methods[i]->restore(*state);
  m_update->setStepWeights({.most = place.highestRate, .sum = place.weights});
  m_scale.restore(place.lossScale, place.finiteSteps);
}

Executable& UpdateRunner::fill(const Shard& shard) {
  m_request.batch = shard.count;
  Executable& executable = m_parts.networks.get(m_request);
  m_parts.feed.fill(executable, m_bindings, shard.first, shard.count);
  return executable;
}

void UpdateRunner::compute(Begun& begun, std::size_t k, StepOptions options) {
  const Shard& shard = begun.shards[k];
  Executable& executable = fill(shard);
  options.step = begun.step;
  options.firstSample = shard.first;
  options.lossScale = static_cast<double>(shard.count) / static_cast<double>(begun.size);
  options.gradientScale = m_scale.value();
  for (const auto& method : m_methods) method->beforeShard(shard.logical);
  try {
    if (m_again)
      executable.run(options);
    else
      m_figures.run(executable, options, static_cast<double>(shard.count));
  } catch (Error& error) {
    if (error.code() == ErrorCode::badData)
      error.addContext(fmt::format("in dataset '{}' at step {}", m_parts.feed.options().name, options.step + 1));
    throw;
  }
  begun.options = options;
}

void UpdateRunner::begin(std::int64_t step, double learningRate, double epoch) {
  const Parallel& parallel = m_parts.parallel;
  const Batch& batch = m_parts.feed.current();
  const std::int64_t size = batch.size, whole = m_parts.feed.batch(), most = parallel.shardsOfAll(size, whole);
  Begun& begun = m_begun.emplace_back();
  begun.step = step;
  begun.apply = {.learningRate = learningRate, .epoch = epoch, .clipNorm = m_parts.settings.clipNorm};
  begun.options.step = step;
  begun.most = static_cast<std::size_t>(most);
  begun.epoch = batch.epoch;
  begun.first = batch.first;
  begun.size = size;
  // The shard of a batch that was changed while training follows it; a smaller last batch of one rank keeps the shard
  // and so its executable.
  parallel.shards(size, whole, begun.shards);
  for (const auto& method : m_methods) method->begin(step);
  computeAll(begun);
  for (const auto& method : m_methods)
    if (method->again()) computeAgain(begun);
  for (const auto& method : m_methods) {
    method->gradientsDone();
    begun.applies &= method->applies();
  }
  // A machine of its own sees by itself whether loss and gradients are finite.
  if (late()) m_update->begin(begun.apply);
}

void UpdateRunner::computeAll(Begun& begun) {
  if (m_exchange) {
    const double before = m_exchange->waited().value_or(0);
    m_exchange->run(
        begun.shards, begun.size, [&](std::size_t k, StepOptions options) { compute(begun, k, options); },
        measures(begun));
    if (!m_again) begun.norm = m_exchange->shardNorm(), begun.whole = m_exchange->wholeNorm();
    if (const auto waited = m_exchange->waited()) begun.exchange = begun.exchange.value_or(0) + *waited - before;
  } else
    for (std::size_t k = 0; k < begun.shards.size(); ++k) compute(begun, k, {.accumulate = k > 0});
}

// A method that computes twice is measured the first time, at the run's own weights.
StepExchange::Measures UpdateRunner::measures(const Begun& begun) const {
  if (!m_parts.settings.watchGradients || m_again || begun.step % kStepsBetweenNorms != 0)
    return StepExchange::Measures::nothing;
  return m_parts.settings.method.computes > 1 ? StepExchange::Measures::bothNorms : StepExchange::Measures::shardNorm;
}

// At weights that a method moved. Loss, metrics and running statistics stay those of the first time.
void UpdateRunner::computeAgain(Begun& begun) {
  std::vector<std::vector<float>> statistics;
  for (const std::string& name : m_statistics) statistics.push_back(m_parts.store.gradient(name).values());
  m_figures.readAll();
  m_again = true;
  computeAll(begun);
  m_again = false;
  for (std::size_t i = 0; i < m_statistics.size(); ++i) m_parts.store.gradient(m_statistics[i]).write(statistics[i]);
}

UpdateRunner::Outcome UpdateRunner::finish(const Signals& signals) {
  if (m_begun.empty()) throwError(ErrorCode::internal, "a step is to be finished, but none was begun");
  const Parallel& parallel = m_parts.parallel;
  const Begun begun = std::move(m_begun.front());
  m_begun.pop_front();
  m_update->noSquares();
  std::vector<Measured> measured;  // by shard
  std::string symptom;             // of this rank's
  std::size_t shard = begun.shards.empty() ? 0 : begun.shards.size() - 1;
  for (std::size_t k = 0; k < begun.shards.size(); ++k) {
    measured.push_back(m_figures.take());
    if (!symptom.empty() || std::isfinite(measured.back().loss)) continue;
    symptom = fmt::format("the loss is {}", measured.back().loss);
    shard = k;
  }

  Outcome outcome;
  if (parallel.ranks() > 1) {
    const auto entered = std::chrono::steady_clock::now();
    outcome.said = gatherMeasured(parallel.communicator, m_metrics, measured, begun.most, signals);
    m_gathered += std::chrono::duration<double>(std::chrono::steady_clock::now() - entered).count();
    measured = std::move(outcome.said.parts);
  }
  Means means;
  bool finite = true;
  for (const Measured& part : measured) {
    means.add(part);
    finite &= std::isfinite(part.loss);
  }
  outcome.measured = means.value();
  outcome.exchange = begun.exchange;
  if (!finite) {
    outcome.gradientNorm = std::nan("");
    outcome.diverged = diagnose(begun, symptom, shard);
    return outcome;
  }
  const auto samples = static_cast<double>(begun.size);
  if (!begun.applies) {
    outcome.noiseScale = m_noise.add(begun.norm, begun.whole, samples, std::nan(""));
    return outcome;
  }
  const ApplyOutcome applied = late() ? m_update->finish() : m_update->apply(begun.apply);
  outcome.gradientNorm = applied.gradientNorm;
  outcome.ratios = applied.ratios;
  if (m_scale.active()) outcome.lossScale = m_scale.value();
  // All ranks see the same sum of gradients, to the bit, and so come to the same answer.
  outcome.made = applied.notFinite.empty();
  const double taken = outcome.made ? applied.gradientNorm : std::nan("");
  outcome.noiseScale = m_noise.add(begun.norm, begun.whole, samples, taken);
  if (m_sharded && outcome.made) m_sharded->shareWeights();
  if (outcome.made)
    m_scale.grow();
  else if (m_scale.shrink())
    outcome.skipped = true;
  else
    outcome.diverged = diagnose(begun, fmt::format("the gradient of '{}' is not finite", applied.notFinite), shard);
  return outcome;
}

std::string UpdateRunner::diagnose(const Begun& begun, const std::string& symptom, std::size_t shard) {
  Communicator& communicator = m_parts.parallel.communicator;
  if (communicator.rank() == 0 && m_parts.beforeDiagnosis) m_parts.beforeDiagnosis();
  const std::string first = firstText(communicator, symptom);  // nobody goes on before rank 0 has written
  const std::string where = symptom.empty() || begun.shards.empty() ? std::string() : placeOf(begun, shard);
  // A rank that finds the place says more than one that knows only the symptom.
  const std::string found = firstText(
      communicator, where.empty() ? std::string()
                                  : fmt::format("{}; the first values that are not finite are in {}", symptom, where));
  return found.empty() ? first : found;
}

std::string UpdateRunner::placeOf(const Begun& begun, std::size_t k) {
  try {
    m_parts.feed.goBack(begun.epoch, begun.first);  // the next batch may have been read meanwhile
    const Shard& shard = begun.shards[k];
    Executable& executable = fill(shard);
    CompileRequest alone = m_request;  // no other rank takes part
    alone.buckets = nullptr;
    alone.collectives = nullptr;
    StepOptions options = begun.options;
    options.exchange = false;
    options.firstSample = shard.first;
    options.lossScale = static_cast<double>(shard.count) / static_cast<double>(begun.size);
    return firstNotFinite(m_parts.backend, m_parts.store,
                          {.network = m_parts.network,
                           .program = m_parts.networks.program(alone),
                           .executable = executable,
                           .step = options,
                           .compile = m_parts.compile});
  } catch (const std::exception&) {
    return {};  // the symptom alone must do; another fault on the way must not hide it
  }
}

}  // namespace loom
