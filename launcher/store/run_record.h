#pragma once
// What is known of a run besides its curves: a row of the table of runs.
#include <QString>
#include <QStringList>
#include <cmath>
#include <cstdint>

#include "engine/base/json.h"

namespace loom {

enum class RunState { queued, starting, running, stopping, finished, stopped, failed };

QString toText(RunState state);                // "Running"
const char* toKey(RunState state);             // "running": in the store and in files
RunState runStateFromKey(const QString& key);  // failed for what is unknown
inline bool isLive(RunState state) {
  return state == RunState::starting || state == RunState::running || state == RunState::stopping;
}

struct RunRecord {
  QString id;       // chosen by the client: unique over all projects
  QString folder;   // absolute
  QString project;  // absolute path of the .loom file it was started from; empty for a foreign folder
  QString name;
  QStringList tags;
  QString note;
  int colour = 0;  // number of the curve colour, for life
  RunState state = RunState::queued;
  QString message;                             // one sentence: why it failed or stopped
  Json settings = Json::object();              // resolved, flat: "optimizer.learning_rate" -> 0.1
  double created = 0, started = 0, ended = 0;  // seconds since 1970; 0 = not yet
  double deleted = 0;                          // when the row was taken away; 0 = it is there
  bool archived = false;                       // put away by a person: listed only where it is asked for
  QString host, device;
  std::int64_t attempt = 0;
  std::int64_t stepsTotal = 0, stepsPerEpoch = 0, samples = 0, batch = 0, parameters = 0;
  double epochs = 0;
  // As of the newest event.
  std::int64_t step = 0;
  double epoch = 0, loss = std::nan(""), lastTime = 0;
  double duration = 0;  // seconds of training over all attempts, pauses left out
  // The metric by which runs are compared: validation's where there is one.
  QString metric;  // "accuracy", "loss"; empty = nothing measured yet
  bool metricOfValidation = false;
  double best = std::nan(""), bestEpoch = std::nan(""), last = std::nan("");
  std::int64_t bestStep = -1;

  double progress() const { return stepsTotal > 0 ? static_cast<double>(step) / static_cast<double>(stepsTotal) : 0; }
};

// {"a": {"b": 1}, "c": [1, 2]} -> {"a.b": 1, "c": "1, 2"}; a list of objects counts its members from 1.
Json flattenSettings(const Json& settings);

}  // namespace loom
