#include "app/measured_step.h"

#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr int kNewest = 1000, kAll = 1 << 22;  // events
constexpr double kMost = 1e9;                  // milliseconds that a step is believed to take

double numberOf(const Json& body, const char* key) {
  const auto found = body.find(key);
  const double value = found != body.end() && found->is_number() ? found->get<double>() : 0;
  return value >= 0 && value < kMost ? value : 0;
}

MeasuredStep::Seconds secondsIn(const Json& body, const char* key) {
  MeasuredStep::Seconds seconds;
  const auto all = body.find(key);
  if (all == body.end() || !all->is_object()) return seconds;
  for (const auto& [name, ms] : all->items())
    if (ms.is_number() && ms.get<double>() >= 0 && ms.get<double>() < kMost) seconds[name] = ms.get<double>() / 1e3;
  return seconds;
}

MeasuredStep stepFrom(const Json& body) {
  MeasuredStep step{.steps = static_cast<int>(numberOf(body, "steps")),
                    .lastStep = static_cast<std::int64_t>(numberOf(body, "step")),
                    .step = numberOf(body, "step_ms") / 1e3,
                    .layers = secondsIn(body, "ms"),
                    .operations = secondsIn(body, "ops_ms"),
                    .update = numberOf(body, "other_ms") / 1e3,
                    .predicted = {}};
  const auto predicted = body.find("predicted");
  if (predicted == body.end() || !predicted->is_object()) return step;
  step.predicted = {.layers = secondsIn(*predicted, "ms"),
                    .operations = secondsIn(*predicted, "ops_ms"),
                    .update = numberOf(*predicted, "other_ms") / 1e3,
                    .from = {}};
  const auto from = predicted->find("from");
  if (from != predicted->end() && from->is_string())
    step.predicted->from = QString::fromStdString(from->get<std::string>()).left(200);
  return step;
}

}  // namespace

double MeasuredStep::computed() const {
  double sum = update;
  for (const auto& [layer, seconds] : layers) sum += seconds;
  return sum;
}

std::optional<MeasuredStep> measuredStep(RunStore& store, const QString& run, EventsRead read) {
  for (const int limit : {kNewest, kAll}) {
    const std::vector<Event> events = store.events(run, limit);
    for (auto event = events.rbegin(); event != events.rend(); ++event)
      if (event->kind == "layers" && event->body.is_object())
        if (MeasuredStep step = stepFrom(event->body); step.computed() > 0) return step;
    if (read == EventsRead::newest || events.size() < static_cast<std::size_t>(kNewest)) break;
  }
  return {};
}

}  // namespace loom
