#include "engine/run/event_series.h"

#include <cmath>
#include <limits>

namespace loom {
namespace {

// A number as the log may write it: itself, or "nan", "inf", "-inf". Anything else is none (never an exception: the log
// may come from elsewhere).
std::optional<double> numberOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return std::nan("");
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return {};
}

// Where the number under `key` belongs; empty = to no curve.
std::string seriesOf(const std::string& kind, const std::string& key) {
  for (const char* each : {"v", "seq", "attempt", "time", "kind", "step"})
    if (key == each) return {};
  const bool isStep = kind == "step";
  if (key == "loss") return (isStep ? "training" : kind) + ".loss";
  if (!isStep) return key == "epoch" || key == "samples" || key == "ms" ? std::string() : kind + '.' + key;
  if (key == "epoch") return series::kEpochAxis;
  if (key == "samples") return series::kSamplesAxis;
  if (key == "learning_rate") return series::kRate;
  return "step." + key;
}

}  // namespace

std::optional<std::int64_t> stepOfPoints(const Event& event) {
  if (event.kind != "step" && event.kind != "validation" && event.kind != "epoch") return {};
  const auto step = event.body.find("step");
  if (step == event.body.end() || !step->is_number()) return {};
  return step->get<std::int64_t>();
}

void forEachPoint(const Event& event, const std::function<void(const std::string& series, double value)>& visit) {
  const bool isStep = event.kind == "step";
  for (const auto& [key, value] : event.body.items()) {
    if (key == "metrics" && value.is_object()) {
      const std::string prefix = (isStep ? "training" : event.kind) + '.';
      for (const auto& [name, each] : value.items())
        if (const auto number = numberOf(each)) visit(prefix + name, *number);
      continue;
    }
    const auto number = numberOf(value);
    if (!number) continue;
    if (const std::string name = seriesOf(event.kind, key); !name.empty()) visit(name, *number);
  }
  if (isStep) visit(series::kTimeAxis, event.time);
}

}  // namespace loom
