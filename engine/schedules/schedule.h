#pragma once
// The learning rate over a run as a factor of the base rate; a function of the step alone, so that a chart can draw all
// of it. Only Plateau has more to it: what the run measures.
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/catalogue/entry.h"
#include "engine/schedules/plateau.h"

namespace loom {

struct ScheduleSpan {
  std::int64_t steps = 1;  // of the whole run
  std::int64_t stepsPerEpoch = 1;
  double rateScale = 1;  // what a larger batch multiplied the base rate with: a warm-up may begin before it
};

// Multiplies the learning rate: "none", "linear" (batch / base) or "square_root" of it.
double rateScale(std::string_view scaling, std::int64_t batch, std::int64_t baseBatch);

class Schedule {
 public:
  virtual ~Schedule() = default;
  // Factor for step (from 0). Steps may be fractional for drawing.
  virtual double factor(double step) const = 0;
  // Where what is measured lowers the rate besides: by which rule. factor() knows nothing of it.
  virtual std::optional<PlateauRule> plateau() const { return std::nullopt; }
};

struct ScheduleDefinition {
  Entry entry;
  std::unique_ptr<Schedule> (*make)(const Values& values, const ScheduleSpan& span);
};

std::span<const ScheduleDefinition* const> scheduleTable();
const ScheduleDefinition* findSchedule(std::string_view name);

// The entry of `warmup`: {"epochs": 5} or {"steps": 100}, "from": 0.
const Entry& warmupEntry();
// The schedule with a linear warm-up before it; both given as the project holds them. Throws Error(badProject).
std::unique_ptr<Schedule> makeSchedule(const Json& schedule, const Json& warmup, const ScheduleSpan& span);

}  // namespace loom
