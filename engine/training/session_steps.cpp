// The steps of a session: each is begun, and its figures are told when they are there. On a machine of its own that is
// when the next step was begun, so that it never waits for the host.
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/program/trace.h"
#include "engine/training/gradient_figures.h"
#include "engine/training/same_weights.h"
#include "engine/training/training_session.h"

namespace loom {
namespace {

constexpr int kExchangesMeasured = 8;  // steps of an attempt behind which it is told what the exchange takes

// What is told by layer comes every few seconds at first, and rarer the longer a run takes: its log stays small.
constexpr double kSecondsBetweenLayers = 2, kShareBetweenLayers = 0.1;

constexpr std::int64_t kStepsBetweenChecksums = 64;  // of the weights, over several ranks

}  // namespace

void TrainingSession::trainStep() {
  const bool records = m_recorder && m_recorder->due(m_position.step);
  if (records) settle(0);  // weights stand still while they are compared
  beginStep();
  const bool epochEnded = m_underWay.back().epochEnded, pauses = pausesAfterStep(epochEnded);
  settle(pauses || records ? 0 : m_mostUnderWay);
  if (!pauses) return;
  afterStep(epochEnded);
  m_rankClock.restart(waited(), m_dataWaited);
}

void TrainingSession::beginStep() {
  StepBegun step;
  step.began = Clock::now();
  const bool measures = m_mostUnderWay == 0;  // a machine of its own may still be at it
  if (measures) m_layerTimes.stepBegins();
  if (m_parallel.ranks() > 1 && m_position.step % kStepsBetweenChecksums == 0) step.weights = checksumOf(m_store);
  std::vector<Feed*> fed;
  for (const auto& update : m_updates) {
    if (!update->due(m_position.step)) continue;
    if (std::find(fed.begin(), fed.end(), &update->feed()) == fed.end()) {
      const auto waiting = Trace::Clock::now();
      update->feed().next();
      if (m_options.trace) m_options.trace->add(Trace::Lane::data, "wait for data", "", waiting, Trace::Clock::now());
      fed.push_back(&update->feed());
    }
    if ((step.recorded = m_recorder && m_recorder->due(m_position.step))) m_recorder->look(*update, m_position.step);
    m_sound = false;
    double rate = update->learningRate(m_position.scheduleStep);
    if (m_options.rateAt) rate = m_options.rateAt(static_cast<std::size_t>(update->index()), m_position.step, rate);
    update->begin(m_position.step, rate, m_position.epoch);
    step.parts.push_back({.update = update.get(), .rate = rate, .outcome = {}});
    if (!update->late()) readFigures(step, step.parts.back());
    if (!step.diverged.empty()) break;
  }
  step.step = ++m_position.step;
  if (measures) step.layers = m_layerTimes.stepEnded();
  m_parallel.communicator.activity().step.store(m_position.step, std::memory_order_relaxed);
  if (std::find(fed.begin(), fed.end(), m_primary) != fed.end()) {
    const Batch& batch = m_primary->current();
    step.batch = batch.size;
    step.epochEnded = batch.lastOfEpoch;
    m_position.samples += batch.size;
    m_position.scheduleStep +=
        m_endsBySteps ? 1 : static_cast<double>(m_primary->batch()) / static_cast<double>(m_settings.batch);
    m_position.epoch =
        static_cast<double>(batch.epoch) + (batch.lastOfEpoch ? 1
                                                              : static_cast<double>(batch.first + batch.size) /
                                                                    static_cast<double>(m_primary->samplesPerEpoch()));
  }
  for (PartBegun& part : step.parts)
    if (part.outcome && part.outcome->made) part.update->made(m_position.epoch);
  step.samples = m_position.samples;
  step.epoch = m_position.epoch;
  for (const auto& [name, feed] : m_feeds) step.waited += feed->waited();
  m_dataWaited += step.waited;
  m_underWay.push_back(std::move(step));
  m_sound = true;
}

// Until at most so many steps are under way.
void TrainingSession::settle(std::size_t underWay) {
  while (m_underWay.size() > underWay) finishStep();
}

void TrainingSession::readFigures(StepBegun& step, PartBegun& part) {
  const Signals signals{.stop = stopWanted(),
                        .commands = !m_held.empty(),
                        .write = first() && longSinceWrite(),
                        .weights = &part == &step.parts.front() ? step.weights : 0,
                        .time = &part == &step.parts.front() && m_parallel.ranks() > 1
                                    ? m_rankClock.take(waited(), m_dataWaited)
                                    : RankStep()};
  UpdateRunner::Outcome& outcome = part.outcome.emplace(part.update->finish(signals));
  if (signals.weights != 0) step.apart = std::move(outcome.said.apart);
  if (first() && &part == &step.parts.front()) m_rankSums.add(outcome.said.times);
  m_stopAgreed |= outcome.said.stop;
  m_commandsAgreed |= outcome.said.commands;
  m_writeAgreed |= outcome.said.write;
  if (!outcome.diverged.empty()) step.diverged = fmt::format("in {} {}", nameOf(*part.update), outcome.diverged);
}

std::string TrainingSession::nameOf(const UpdateRunner& update) const {
  const std::string network = fmt::format("network '{}'", update.network().name);
  return m_updates.size() == 1 ? network : fmt::format("update {} ({})", update.index() + 1, network);
}

// What the updates before it made of their weights in this step is not saved either: whatever is loaded, all updates
// stand as they did behind one and the same step.
void TrainingSession::refuseStep(const StepBegun& step) {
  m_underWay.clear();  // nothing came of what was begun behind it
  const std::string kept = m_writtenStep > 0
                               ? fmt::format(
                                     "the newest checkpoint holds all weights as they were behind step {}, and a "
                                     "resumed run goes on from there",
                                     m_writtenStep)
                           : first() ? "there is no checkpoint from before it yet"
                                     : "rank 0 knows of its checkpoints";
  throwError(ErrorCode::diverged,
             "training diverged at step {} (epoch {:.3f}): {}. Nothing of this step was saved; {}. A lower learning "
             "rate, a warm-up or clip_norm may help",
             step.step, step.epoch, step.diverged, kept);
}

// The oldest: its event, and what follows from its figures.
void TrainingSession::finishStep() {
  m_sound = false;
  StepBegun step = std::move(m_underWay.front());
  m_underWay.pop_front();
  for (PartBegun& part : step.parts)
    if (!part.outcome && step.diverged.empty()) readFigures(step, part);
  Measured measured = m_firstMeasured;
  measured.metrics.resize(m_ownMetrics);
  for (PartBegun& part : step.parts) {
    if (!part.outcome) continue;
    Measured& own = part.outcome->measured;
    if (part.update == m_updates.front().get()) {
      measured = m_firstMeasured = std::move(own);
      m_ownMetrics = measured.metrics.size();
      if (part.update->spec().every > 1) m_position.first = m_firstMeasured;
      continue;
    }
    // Those of further updates stand under their network's name, and only at the steps at which they ran.
    const std::string prefix = part.update->network().name + "/";
    measured.metrics.emplace_back(prefix + "loss", own.loss);
    for (const auto& [name, value] : own.metrics) measured.metrics.emplace_back(prefix + name, value);
    for (MetricSums& sums : own.sums) measured.sums.push_back({prefix + sums.name, sums.rule, std::move(sums.values)});
  }
  if (step.batch) measured.samples = static_cast<double>(*step.batch);
  m_step = step.step;
  tellStep(step, measured);
  if (step.recorded) tellRecorded(step);
  if (!step.diverged.empty()) refuseStep(step);
  m_position.means.add(measured);
  if (!step.apart.empty()) makeAlike(step.apart);
  m_sound = true;
}

// Figures of an epoch that a checkpoint interrupted: some update may not run any more before it ends.
void TrainingSession::knowMetrics() {
  if (m_position.first) m_firstMeasured = *m_position.first;
  m_ownMetrics = m_firstMeasured.metrics.size();
  for (const auto& update : m_updates) {
    const bool isFirst = update == m_updates.front();
    for (const MetricPlace& metric : update->metrics()) {
      if (!metric.rule) continue;
      m_position.means.know(isFirst ? metric.name : update->network().name + "/" + metric.name, *metric.rule);
      if (!isFirst) continue;
      for (MetricSums& sums : m_firstMeasured.sums)
        if (sums.name == metric.name) sums.rule = metric.rule;
    }
  }
}

// Known to all ranks alike. Hosts of different kinds come apart in the last bits now and then: rank 0's weights go on.
void TrainingSession::makeAlike(const std::vector<int>& apart) {
  for (const auto& update : m_updates) update->settleExchange();
  shareStore(m_parallel.communicator, m_store, StorePart::valuesAndSlots, sharedSlots());
  std::vector<std::string> names;
  for (const int rank : apart)
    names.push_back(fmt::format("rank {} on {}", rank, m_hosts[static_cast<std::size_t>(rank)]));
  tell("warning",
       {{"message", fmt::format("at step {} other weights than those of rank 0 on {} were found on {}: hosts "
                                "that round differently, or a fault of one of them. All go on with those of "
                                "rank 0",
                                m_step, m_hosts.front(), fmt::join(names, ", "))},
        {"code", "weights"}});
}

// What each bucket took beside what it sends and, where a way was chosen by the links, was predicted to take.
void TrainingSession::tellExchange(std::int64_t step) {
  Json updates = Json::array();
  for (const auto& update : m_updates)
    if (Json exchange = update->exchange(); !exchange.is_null()) {
      exchange["network"] = update->network().name;
      updates.push_back(std::move(exchange));
    }
  if (!updates.empty()) tell("exchange", {{"step", step}, {"updates", std::move(updates)}});
}

void TrainingSession::tellRecorded(const StepBegun& step) {
  if (const std::string failure = m_recorder->takeFailure(); !failure.empty())
    tell("warning", {{"message", fmt::format("layers are recorded no longer: {}. Training goes on without", failure)},
                     {"code", "record"}});
  Json fields = m_recorder->recorded();
  if (fields["updates"].empty()) return;
  fields["step"] = step.step;
  tell("recorded", fields);
}

// Trust ratios by layer, and how large gradients are; those of the newest step stand in the store where no machine
// works ahead.
void TrainingSession::tellGradients(std::int64_t step) {
  const UpdateRunner& runner = *m_updates.front();
  const ParameterUpdate& update = runner.update();
  const bool watches = m_settings.watchGradients && m_mostUnderWay == 0;
  if (!first() || (!update.measures() && !watches)) return;
  const Clock::time_point now = Clock::now();
  if (m_lastGradients) {
    const std::chrono::duration<double> since = now - *m_lastGradients, all = now - *m_firstGradients;
    if (since.count() < std::max(kSecondsBetweenLayers, kShareBetweenLayers * all.count())) return;
  }
  if (!m_firstGradients) m_firstGradients = now;
  m_lastGradients = now;
  Json fields = {{"step", step}};
  if (update.measures()) {
    Json& ratios = fields["trust_ratios"] = Json::array();  // in the order of the network
    for (std::size_t i = 0; i < update.parameters().size(); ++i)
      if (update.scaled()[i])
        ratios.push_back({{"name", update.parameters()[i]}, {"ratio", numberToJson(update.trustRatios()[i])}});
  }
  if (watches) fields["magnitudes"] = gradientMagnitudes(m_store, update.parameters(), runner.lossScale());
  tell("gradients", fields);
}

double TrainingSession::waited() const {
  double seconds = 0;
  for (const auto& update : m_updates) seconds += update->waited();
  return seconds;
}

// What of a step each rank computes and waits, of the steps since it was told last: behind the first few of an attempt,
// then as what is told by layer.
void TrainingSession::tellRanks(std::int64_t step) {
  if (m_parallel.ranks() == 1 || m_rankSums.steps() == 0 || m_stepsTold < kExchangesMeasured) return;
  const Clock::time_point now = Clock::now();
  if (!m_lastRanks) {
    m_firstRanks = now;
  } else {
    const std::chrono::duration<double> since = now - *m_lastRanks, all = now - m_firstRanks;
    if (since.count() < std::max(kSecondsBetweenLayers, kShareBetweenLayers * all.count())) return;
  }
  m_lastRanks = now;
  Json fields = m_rankSums.take(m_hosts);
  fields["step"] = step;
  tell("ranks", fields);
}

// A step takes from when it was begun, or from when the one before was done, to its figures.
void TrainingSession::tellStep(const StepBegun& step, const Measured& measured) {
  const Clock::time_point now = Clock::now(), from = std::max(step.began, std::exchange(m_lastTold, now));
  UpdateRunner::Outcome none;
  const bool ran = !step.parts.empty() && step.parts.front().update == m_updates.front().get();
  const UpdateRunner::Outcome& outcome = ran ? *step.parts.front().outcome : none;
  Json fields = {{"step", step.step},
                 {"epoch", step.epoch},
                 {"samples", step.samples},
                 {"loss", numberToJson(measured.loss)},
                 {"metrics", metricsJson(inUnits(measured, m_units))},
                 {"learning_rate", numberToJson(ran ? step.parts.front().rate : 0)},
                 {"gradient_norm", numberToJson(outcome.gradientNorm)},
                 {"ms", milliseconds(now - from)},
                 {"data_ms", milliseconds(std::chrono::duration<double>(step.waited))}};
  if (outcome.exchange) fields["exchange_ms"] = milliseconds(std::chrono::duration<double>(*outcome.exchange));
  if (outcome.noiseScale) fields["noise_scale"] = numberToJson(*outcome.noiseScale);
  if (outcome.lossScale > 0) fields["loss_scale"] = outcome.lossScale;
  if (outcome.skipped) fields["skipped"] = 1;
  if (outcome.ratios) {
    fields["trust_ratio_least"] = numberToJson(outcome.ratios->least);
    fields["trust_ratio_median"] = numberToJson(outcome.ratios->median);
  }
  tell("step", fields);
  if (outcome.made) tellGradients(step.step);
  if (m_parallel.ranks() > 1 && ++m_stepsTold == kExchangesMeasured) tellExchange(step.step);
  tellRanks(step.step);
  if (!step.layers) return;
  Json layers = *step.layers;
  layers["step"] = step.step;
  std::vector<StepPart> parts;
  for (const auto& update : m_updates) {
    const double share = 1.0 / update->spec().every;
    parts.push_back(
        {update->executable(), share * static_cast<double>(m_settings.accumulate * m_settings.method.computes)});
    parts.push_back({update->update().executable(), share});
  }
  completeLayerTimes(layers, parts, m_options.predictedSeconds, m_options.predictedFrom);
  tell("layers", layers);
}

}  // namespace loom
