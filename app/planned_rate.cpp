#include "app/planned_rate.h"

#include <QString>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/run_settings.h"
#include "engine/base/error.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

constexpr int kPlaces = 256;

// "schedule.name", "schedule.to" -> {"name": ..., "to": ...}; a list stands there as "30, 60".
Json partOf(const Json& settings, const std::string& group) {
  Json part = Json::object();
  for (const auto& [key, value] : settings.items()) {
    if (key.rfind(group + '.', 0) != 0 || value.is_null()) continue;
    Json& to = part[key.substr(group.size() + 1)];
    to = value;
    if (!value.is_string()) continue;
    const QStringList parts = QString::fromStdString(value.get<std::string>()).split(QStringLiteral(", "));
    Json numbers = Json::array();
    for (const QString& each : parts) {
      bool number = false;
      const double read = each.toDouble(&number);
      if (number) numbers.push_back(read == std::floor(read) ? Json(static_cast<std::int64_t>(read)) : Json(read));
    }
    if (parts.size() > 1 && static_cast<qsizetype>(numbers.size()) == parts.size()) to = numbers;
  }
  return part;
}

}  // namespace

std::vector<std::pair<double, double>> plannedRate(const RunRecord& run, double now) {
  std::vector<std::pair<double, double>> ahead;
  if (run.stepsTotal <= run.step || run.stepsPerEpoch <= 0 || !(now > 0) || run.settings.empty()) return ahead;
  try {
    const Json schedule = partOf(run.settings, "schedule"), warmup = partOf(run.settings, "warmup");
    const auto planned =
        makeSchedule(schedule.empty() ? Json{{"name", "Constant"}} : schedule, warmup.empty() ? Json() : warmup,
                     {.steps = run.stepsTotal, .stepsPerEpoch = run.stepsPerEpoch});
    const double at = planned->factor(static_cast<double>(std::max<std::int64_t>(run.step - 1, 0)));
    if (!(at > 0)) return ahead;
    for (int i = 0; i <= kPlaces; ++i) {
      const double step = static_cast<double>(run.step) + static_cast<double>(run.stepsTotal - run.step) * i / kPlaces;
      ahead.emplace_back(step, now * planned->factor(std::max(step - 1, 0.0)) / at);
    }
  } catch (const Error&) {
    ahead.clear();
  } catch (const Json::exception&) {
    ahead.clear();
  }
  return ahead;
}

}  // namespace loom
