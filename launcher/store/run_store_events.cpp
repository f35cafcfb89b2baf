// What comes of a run: its events, and what they say about its record.
#include <algorithm>
#include <map>

#include "engine/base/error.h"
#include "launcher/store/database.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr int kReadPatienceMs = 3000;

std::int64_t integerOf(const Json& body, const char* key, std::int64_t otherwise) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number() ? found->get<std::int64_t>() : otherwise;
}

double realOf(const Json& body, const char* key, double otherwise) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number() ? found->get<double>() : otherwise;
}

QString textOf(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

}  // namespace

void RunStore::append(const QString& id, const EventBatch& batch) {
  Entry* const found = entry(id);
  if (!found) return;
  RunData* curves = nullptr;
  if (m_database) m_database->setPatience(kReadPatienceMs);  // events that are not taken now are not offered again
  guarded([&] {
    curves = &data(*found);
    m_database->setPatience(kPatienceMs);
  });
  if (!curves || !entry(id)) return;  // the store was built anew: the folder is read from its beginning
  const RunData::Taken taken = curves->take(batch);
  RunRecord& record = found->record;
  // The curves are read when they are first wanted, the record was before: another window may have taken the beginning
  // of an attempt into the curves since, and it would be in no record that this window writes.
  for (const Event& event : batch.others)
    if (event.kind == "started" &&
        (event.attempt > record.attempt || (event.attempt == record.attempt && record.stepsTotal == 0)))
      takeEvent(*found, event);
  for (const Event* event : taken.events) {
    takeEvent(*found, *event);
    found->pending.push_back(*event);
  }
  if (taken.lastStep) {
    record.step = taken.lastStep->step;
    record.lastTime = std::max(record.lastTime, taken.lastStep->time);
    for (std::uint32_t i = taken.lastStep->begin; i < taken.lastStep->end; ++i) {
      const auto& [name, value] = batch.cells[i];
      if (batch.names[name] == series::kLoss) record.loss = value;
      if (batch.names[name] == series::kEpochAxis) record.epoch = value;
    }
  }
  record.duration = curves->duration();
  if (taken.measured) measure(*found);
  if (batch.from <= found->offset && batch.to > found->offset) {  // else there is a hole before it
    found->offset = batch.to;
    found->mark = batch.mark;
  }
  markDirty(*found);
  if (taken.rows > 0) Q_EMIT pointsAdded(id);
  if (!taken.events.empty()) Q_EMIT eventsAdded(id);
  if (taken.rows > 0 || !taken.events.empty()) Q_EMIT runChanged(id);
  if (Entry* const still = entry(id)) trim(*still);
}

void RunStore::takeEvent(Entry& entry, const Event& event) {
  RunRecord& run = entry.record;
  const Json& body = event.body;
  run.lastTime = std::max(run.lastTime, event.time);
  if (event.kind == "started" && event.attempt >= run.attempt) {
    run.attempt = event.attempt;
    run.stepsTotal = integerOf(body, "steps_total", run.stepsTotal);
    run.stepsPerEpoch = integerOf(body, "steps_per_epoch", run.stepsPerEpoch);
    run.samples = integerOf(body, "samples", run.samples);
    run.batch = integerOf(body, "batch", run.batch);
    run.parameters = integerOf(body, "parameters", run.parameters);
    run.epochs = realOf(body, "epochs", run.epochs);
    if (const QString device = textOf(body, "device"); !device.isEmpty()) run.device = device;
    if (const QString host = textOf(body, "host"); !host.isEmpty()) run.host = host;
    if (run.started == 0) run.started = event.time;
    run.ended = 0;
    run.message.clear();
    if (run.state != RunState::stopping) run.state = RunState::running;
  } else if (event.kind == "control" && event.attempt >= run.attempt && textOf(body, "command") == "stop") {
    const QString id = textOf(body, "id");  // who asked for it, where that was no person: see engine/agent/supervisor
    if (id == "time-limit") run.message = tr("Its job came to its time limit.");
    if (id == "terminated")
      run.message = tr("The batch system ended its job: it was cancelled, or gave way to others.");
  } else if (event.kind == "error" && event.attempt >= run.attempt) {
    run.message = textOf(body, "message");
  } else if (event.kind == "finished" && event.attempt >= run.attempt) {
    const QString reason = textOf(body, "reason");
    run.state = reason == "done" ? RunState::finished : reason == "stopped" ? RunState::stopped : RunState::failed;
    if (const QString message = textOf(body, "message"); !message.isEmpty()) run.message = message;
    run.ended = event.time;
  }
}

// Best and last of the compared metric over the merged attempts, of equal ones that of the lower loss, as the engine
// keeps its weights. Once a batch: validations are few.
void RunStore::measure(Entry& entry) {
  RunRecord& run = entry.record;
  const std::vector<std::string> names = entry.data->names();
  const auto compared = [&](const std::string& prefix) {
    QStringList measured;
    for (const std::string& name : names)
      if (name.starts_with(prefix)) measured << QString::fromStdString(name.substr(prefix.size()));
    const QString metric = m_metrics.comparedOf(run, measured);
    return metric.isEmpty() ? std::string() : prefix + metric.toStdString();
  };
  std::string name = compared("validation.");
  run.metricOfValidation = !name.empty();
  if (name.empty()) name = compared("epoch.");
  if (name.empty()) return;
  run.metric = QString::fromStdString(name.substr(name.find('.') + 1));
  const bool higher = m_metrics.higherIsBetter(run, run.metric);
  run.best = std::nan("");
  run.bestStep = -1;
  std::map<std::int64_t, double> losses;
  for (const SeriesPoint& point : entry.data->points(name.substr(0, name.find('.')) + ".loss"))
    losses[point.step] = point.value;
  const auto lossAt = [&](std::int64_t step) {
    const auto found = losses.find(step);
    return found == losses.end() ? std::nan("") : found->second;
  };
  for (const SeriesPoint& point : entry.data->points(name)) {
    run.last = point.value;
    if (!std::isfinite(point.value)) continue;
    if (run.bestStep >= 0 && !(higher ? point.value > run.best : point.value < run.best) &&
        !(point.value == run.best && lossAt(point.step) < lossAt(run.bestStep)))
      continue;
    run.best = point.value;
    run.bestStep = point.step;
  }
  run.bestEpoch = run.bestStep >= 0 ? entry.data->xOf(Axis::epoch, run.bestStep) : std::nan("");
}

}  // namespace loom
