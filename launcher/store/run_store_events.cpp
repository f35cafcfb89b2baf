// What events say about a run's record.
#include <algorithm>

#include "launcher/store/run_store.h"

namespace loom {
namespace {

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

// Best and last of the compared metric over the merged attempts. Once a batch: validations are few.
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
  for (const SeriesPoint& point : entry.data->points(name)) {
    run.last = point.value;
    if (!std::isfinite(point.value)) continue;
    if (run.bestStep >= 0 && !(higher ? point.value > run.best : point.value < run.best)) continue;
    run.best = point.value;
    run.bestStep = point.step;
  }
  run.bestEpoch = run.bestStep >= 0 ? entry.data->xOf(Axis::epoch, run.bestStep) : std::nan("");
}

}  // namespace loom
