#pragma once
// Where the time of a step goes, as a run measured it and as it was predicted where it ran: its event `layers`.
#include <QString>
#include <map>
#include <optional>
#include <string>

namespace loom {

class RunStore;

struct MeasuredStep {
  using Seconds = std::map<std::string, double>;
  int steps = 0;               // that were measured
  std::int64_t lastStep = 0;   // the last of these
  double step = 0;             // seconds of a whole step; 0 = a run of an older version does not tell
  Seconds layers, operations;  // by node of the flat network; by operation (none: an older version)
  double update = 0;           // what belongs to no layer: the weights' update
  struct Predicted {
    Seconds layers, operations;
    double update = 0;
    QString from;  // "from 310 stages measured on ..."
  };
  std::optional<Predicted> predicted;

  double computed() const;  // all stages together
};

// Of a run with many events: only the newest of them are looked through, or all.
enum class EventsRead { newest, all };
// The newest that the run told; nothing where it told none. What a folder from elsewhere says is looked at before it is
// believed.
std::optional<MeasuredStep> measuredStep(RunStore& store, const QString& run, EventsRead read = EventsRead::all);

}  // namespace loom
