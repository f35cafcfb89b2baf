#include "launcher/store/run_record.h"

#include <algorithm>
#include <array>

namespace loom {
namespace {

struct StateName {
  RunState state;
  const char* key;
  const char* text;
};
constexpr std::array<StateName, 7> kStates{{{RunState::queued, "queued", "Queued"},
                                            {RunState::starting, "starting", "Starting"},
                                            {RunState::running, "running", "Running"},
                                            {RunState::stopping, "stopping", "Stopping"},
                                            {RunState::finished, "finished", "Finished"},
                                            {RunState::stopped, "stopped", "Stopped"},
                                            {RunState::failed, "failed", "Failed"}}};

void flatten(const Json& value, const std::string& path, Json& into) {
  if (value.is_object()) {
    for (const auto& [key, each] : value.items()) flatten(each, path.empty() ? key : path + "." + key, into);
  } else if (value.is_array() &&
             std::any_of(value.begin(), value.end(), [](const Json& each) { return each.is_structured(); })) {
    int number = 0;
    for (const Json& each : value) {
      ++number;
      flatten(each, value.size() == 1 ? path : path + "." + std::to_string(number), into);
    }
  } else if (value.is_array()) {
    std::string text;
    for (const Json& each : value)
      text += (text.empty() ? "" : ", ") + (each.is_string() ? each.get<std::string>() : each.dump());
    into[path] = text;
  } else if (!value.is_null()) {
    into[path] = value;
  }
}

}  // namespace

QString toText(RunState state) {
  return QString::fromLatin1(kStates[static_cast<std::size_t>(state)].text);
}
const char* toKey(RunState state) {
  return kStates[static_cast<std::size_t>(state)].key;
}

RunState runStateFromKey(const QString& key) {
  for (const StateName& each : kStates)
    if (key == QLatin1String(each.key)) return each.state;
  return RunState::failed;
}

Json flattenSettings(const Json& settings) {
  Json flat = Json::object();
  flatten(settings, "", flat);
  return flat;
}

}  // namespace loom
