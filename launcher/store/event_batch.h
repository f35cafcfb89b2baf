#pragma once
// Events of a run's log, read and taken apart off the window's thread, ready to be stored.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/event_series.h"

namespace loom {

struct EventBatch {
  struct Row {
    std::int64_t sequence = 0, attempt = 1, step = 0;
    double time = 0;
    bool isStep = false;               // of a step event: counts as "this attempt has the step"
    std::uint32_t begin = 0, end = 0;  // its cells
  };
  std::vector<std::string> names;  // of series: "training.loss", "validation.accuracy", "learning_rate", "axis.epoch"
  std::vector<Row> rows;           // steps, validations, epochs, in order of the log
  std::vector<std::pair<std::uint32_t, double>> cells;  // (index of the name, value)
  std::vector<Event> others;      // every event that is no step and no record of layers, whole (validations and epochs
                                  // stand here too)
  std::int64_t from = 0, to = 0;  // bytes of the log
  std::string mark;               // logMark() at `to`
  bool isAnother = false;         // the log is not the file any more that was read up to `from`: nothing was taken
  std::int64_t skipped = 0;       // lines since `from` that are no event
  bool atEnd = true;              // nothing more stood in the log
};

// Reads on from the batch's byte `from`, at most `limit` events. `mark`: of the batch before it; empty = not known.
EventBatch readBatch(const std::filesystem::path& eventsFile, std::int64_t from, std::size_t limit,
                     const std::string& mark = {});
// The same of events that are already in hand.
EventBatch toBatch(std::vector<Event> events);

}  // namespace loom
