#include "engine/training/training_session.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/metrics/gathered.h"
#include "engine/program/trace.h"
#include "engine/training/same_weights.h"

namespace loom {
namespace {

constexpr double kWholeEpoch = 1e-9;  // tolerance for fractions of epochs that were added up

}  // namespace

TrainResult TrainingSession::run() {
  while (m_pause != Pause::now) {
    const std::vector<Json> told = commands();
    const bool stop = stopAgreed();
    if (!told.empty() || stop) settle(0);
    obey(told);
    if (stop && m_pause != Pause::now) {
      m_pause = Pause::now;
      tell("control", {{"command", "stop"}, {"step", m_step}, {"signal", true}});
    }
    if (m_pause == Pause::now) break;
    if (m_position.validationDue && !validate()) break;  // a signal came; the next attempt validates first
    if (finished()) break;
    trainStep();
  }
  for (const auto& update : m_updates) update->settleExchange();
  const bool done = finished() && !m_position.validationDue;
  if (decidedByFirst(m_writtenStep != m_step || m_pendingBest || !done)) writeCheckpoint(false);
  Json last = {{"reason", done ? "done" : "stopped"}, {"step", m_step}, {"epoch", m_position.epoch}};
  if (m_position.best) last["best"] = m_position.best->toJson();
  tell("finished", last);
  return {.stopped = !done,
          .step = m_step,
          .epoch = m_position.epoch,
          .best = m_position.best,
          .lastCheckpoint = m_lastCheckpoint,
          .bestCheckpoint = m_bestCheckpoint};
}

// At a step boundary. Several ranks: rank 0's commands were announced with the step before.
std::vector<Json> TrainingSession::commands() {
  if (m_parallel.ranks() == 1) return m_control->read();
  std::vector<Json> obeyed;
  if (m_commandsAgreed) {
    m_commandsAgreed = false;
    const std::string text = broadcastText(m_parallel.communicator, Json(m_held).dump());
    for (const Json& command : parseJson(text, "rank 0's commands")) obeyed.push_back(command);
    m_held.clear();
  }
  if (first())
    for (Json& command : m_control->read()) m_held.push_back(std::move(command));
  return obeyed;
}

bool TrainingSession::finished() const {
  return m_position.epoch >= m_settings.epochs - kWholeEpoch ||
         (m_settings.maxSteps && m_position.step >= *m_settings.maxSteps);
}

bool TrainingSession::validationPlanned() const {
  return m_evaluation && m_position.epoch >= m_position.nextValidation - kWholeEpoch;
}

bool TrainingSession::keepPlanned() const {
  return m_settings.checkpointEvery && *m_settings.checkpointEvery > 0 &&
         m_position.epoch >= m_position.nextKept - kWholeEpoch;
}

bool TrainingSession::longSinceWrite() const {
  return std::chrono::duration<double>(Clock::now() - m_lastWrite).count() >= m_options.longEpochSeconds;
}

// Whether there is more to do behind the step that was begun last than to begin the next one. The same on all ranks,
// whose clocks differ: rank 0 told the others with an earlier step that it wants to write.
bool TrainingSession::pausesAfterStep(bool epochEnded) const {
  return epochEnded || finished() || validationPlanned() || keepPlanned() ||
         (m_parallel.ranks() > 1 ? m_writeAgreed : longSinceWrite());
}

// No step is under way.
void TrainingSession::afterStep(bool epochEnded) {
  m_writeAgreed = false;
  if (epochEnded || finished()) endEpoch();
  if (epochEnded && !finished()) beginStage();
  const double every = m_settings.validateEvery;
  if (validationPlanned() || (m_evaluation && finished())) {
    while (m_position.nextValidation <= m_position.epoch + kWholeEpoch) m_position.nextValidation += every;
    m_position.validationDue = true;
    if (!validate()) return;
  }
  checkpointIfDue(epochEnded);
  if (epochEnded && m_pause == Pause::afterEpoch) m_pause = Pause::now;
}

void TrainingSession::endEpoch() {
  const Measured means = m_position.means.value();
  m_position.means.clear();
  tell("epoch", {{"step", m_step},
                 {"epoch", m_position.epoch},
                 {"loss", numberToJson(means.loss)},
                 {"metrics", metricsJson(inUnits(means, m_units))}});
  tellRemarks(means);
  if (!m_evaluation) considerBest(means);
}

bool TrainingSession::validate() {
  const auto begin = Clock::now();
  const EvaluatedInPlace shown(m_store, evaluatedNow());
  const std::optional<Measured> measured = m_evaluation->run(m_options.stop);
  if (!measured) return false;
  m_position.validationDue = false;
  tell("validation", {{"step", m_step},
                      {"epoch", m_position.epoch},
                      {"loss", numberToJson(measured->loss)},
                      {"metrics", metricsJson(inUnits(*measured, m_validationUnits))},
                      {"samples", measured->samples},
                      {"ms", milliseconds(Clock::now() - begin)}});
  tellRemarks(*measured);
  considerBest(*measured, &shown);
  return true;
}

// Once for each metric: what has to be known of its number.
void TrainingSession::tellRemarks(const Measured& measured) {
  for (const MetricSums& sums : measured.sums) {
    const GatheredSums* const rule = asGathered(sums.rule);
    const std::string remark = rule ? rule->remark(sums.values) : "";
    if (!remark.empty() && m_remarked.insert(sums.name).second)
      tell("warning", {{"message", fmt::format("the metric '{}' {}", sums.name, remark)}, {"code", "metric"}});
  }
}

EvaluatedWeights TrainingSession::evaluatedNow() const {
  EvaluatedWeights evaluated;
  for (const auto& update : m_updates)
    if (const auto from = update->evaluated())
      for (const std::string& name : update->update().parameters()) evaluated.from.emplace(name, *from);
  if (!evaluated.from.empty())
    for (const auto& fresh : m_statistics) evaluated.statistics.push_back(fresh.get());
  return evaluated;
}

void TrainingSession::considerBest(const Measured& measured, const EvaluatedInPlace* shown) {
  double value = measured.loss;
  for (const auto& [name, metric] : measured.metrics)
    if (name == m_settings.monitor) value = metric;
  for (const auto& update : m_updates) update->observe(value, m_higherIsBetter);
  if (!std::isfinite(value)) return;
  if (const auto& best = m_position.best; best && !(m_higherIsBetter ? value > best->value : value < best->value) &&
                                          !(value == best->value && measured.loss < best->loss))
    return;
  m_position.best = BestSoFar{
      .metric = m_settings.monitor, .value = value, .loss = measured.loss, .epoch = m_position.epoch, .step = m_step};
  if (!first() && !sharesSlots()) return;
  for (const auto& update : m_updates) update->settleExchange();
  std::optional<EvaluatedInPlace> own;
  if (!shown) shown = &own.emplace(m_store, evaluatedNow());
  m_pendingBest = snapshot(shown);
}

void TrainingSession::checkpointIfDue(bool epochEnded) {
  const double since = std::chrono::duration<double>(Clock::now() - m_lastWrite).count();
  const bool keep = keepPlanned();
  while (keepPlanned()) m_position.nextKept += *m_settings.checkpointEvery;
  if (decidedByFirst(keep || (epochEnded && since >= m_options.checkpointSeconds) || longSinceWrite()))
    writeCheckpoint(keep);
}

void TrainingSession::writeCheckpoint(bool keep) {
  if (!first()) {
    if (sharesSlots()) snapshot(nullptr);  // rank 0 gathers what stands here
    return;
  }
  m_events->sync();  // a resumed run goes on behind steps that the log has
  if (m_pendingBest && m_pendingBest->step != m_step) {
    tellCheckpoint(m_keeper->write(*m_pendingBest, false, m_position.best->toJson(), false));
    m_pendingBest.reset();
  }
  const std::optional<Json> bestOf = m_pendingBest ? std::optional<Json>(m_position.best->toJson()) : std::nullopt;
  // The position of now, not of when the best was seen: a validation may have been counted in between.
  for (const auto& update : m_updates) update->settleExchange();
  const EvaluatedInPlace shown(m_store, evaluatedNow());
  tellCheckpoint(m_keeper->write(*snapshot(&shown), true, bestOf, keep));
  m_pendingBest.reset();
  m_writtenStep = m_step;
  m_lastWrite = Clock::now();
}

// The best state of before is sound, wherever the weights in memory went since; where it is newer than the last
// checkpoint, a resumed run goes on from it.
void TrainingSession::saveBestBeforeDivergence() {
  if (!m_pendingBest) return;
  const bool newest = m_pendingBest->step > m_writtenStep;
  tellCheckpoint(m_keeper->write(*m_pendingBest, newest, m_position.best->toJson(), false));
  if (newest) m_writtenStep = m_pendingBest->step;
  m_pendingBest.reset();
}

void TrainingSession::salvage() {
  const bool sound = m_sound;
  if (m_parallel.ranks() == 1) settle(0);  // other ranks may be gone
  if (sharesSlots()) return;               // what others keep cannot be had any more
  if (sound && m_underWay.empty() && m_step > std::max<std::int64_t>(m_writtenStep, 0)) writeCheckpoint(false);
}

Position TrainingSession::position() const {
  Position position = m_position;
  position.datasets.clear();
  for (const auto& [name, feed] : m_feeds)
    position.datasets[name] = {.epoch = feed->nextEpoch(), .sample = feed->nextSample()};
  position.updates.clear();
  for (const auto& update : m_updates) position.updates.push_back(update->place());
  return position;
}

void TrainingSession::obey(const std::vector<Json>& commands) {
  for (const Json& command : commands) {
    const std::string name = command["command"].get<std::string>();
    Json told = command;
    told.erase("time");
    told["step"] = m_step;
    const auto refuse = [&](const std::string& reason) {
      tell("warning", {{"message", fmt::format("the command {} was not carried out: {}", command.dump(), reason)},
                       {"code", "control"}});
    };
    const Json* value = command.contains("value") && command["value"].is_number() ? &command["value"] : nullptr;
    if (name == "stop") {
      m_pause = Pause::now;
    } else if (name == "stop_after_epoch") {
      if (m_pause == Pause::none) m_pause = Pause::afterEpoch;
    } else if (name == "learning_rate") {
      const Json which = command.value("update", Json(0));
      if (!value || !(value->get<double>() >= 0) || !std::isfinite(value->get<double>())) {
        refuse("a learning rate of 0 or more is wanted as \"value\"");
        continue;
      }
      if (!which.is_number_integer() || which.get<std::int64_t>() < 0 || which.get<std::size_t>() >= m_updates.size()) {
        refuse(fmt::format("there are {} updates, counted from 0", m_updates.size()));
        continue;
      }
      m_updates[which.get<std::size_t>()]->setLearningRate(value->get<double>(), m_position.scheduleStep);
    } else if (name == "batch") {
      if (!value || !value->is_number_integer() || value->get<std::int64_t>() < m_settings.accumulate ||
          value->get<std::int64_t>() > (1 << 30)) {
        refuse(fmt::format("a whole number of at least {} samples is wanted as \"value\"", m_settings.accumulate));
        continue;
      }
      if (m_settings.statistics == BatchStatistics::synchronised && m_parallel.ranks() > 1) {
        refuse(
            "with batch_statistics synchronised, each rank needs samples in every step of the run, which only the "
            "start can "
            "check; resume the run with another batch instead");
        continue;
      }
      const std::int64_t batch = value->get<std::int64_t>();
      const auto tooSmall = std::find_if(m_feeds.begin(), m_feeds.end(), [&](const auto& feed) {
        return feed.second->options().dropLast && batch > feed.second->size();
      });
      if (tooSmall != m_feeds.end()) {
        refuse(
            fmt::format("dataset '{}' has {} samples, and drop_last leaves out what fills no batch: nothing would be "
                        "left",
                        tooSmall->first, tooSmall->second->size()));
        continue;
      }
      m_position.batch = batch;
      for (auto& [dataset, feed] : m_feeds) feed->setBatch(m_position.batch);
    } else {
      refuse("there is no such command");
      continue;
    }
    tell("control", told);
  }
}

void TrainingSession::tellCheckpoint(const CheckpointKeeper::Written& written) {
  if (written.best) m_bestCheckpoint = m_options.run.path / written.file;
  if (!written.best || written.step == m_step) m_lastCheckpoint = m_options.run.path / written.file;
  tell("checkpoint", {{"step", written.step}, {"file", written.file}, {"best", written.best}});
}

double TrainingSession::milliseconds(std::chrono::duration<double> duration) {
  return std::round(duration.count() * 1e7) / 1e4;
}

void TrainingSession::tell(std::string_view kind, const Json& fields) {
  if (!first()) return;
  const Event event = m_events->write(kind, fields);
  if (m_options.observer) m_options.observer(event);
}

}  // namespace loom
