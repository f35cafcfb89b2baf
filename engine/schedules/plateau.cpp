#include "engine/schedules/plateau.h"

#include <algorithm>
#include <cmath>

#include "engine/schedules/schedule.h"

namespace loom {

// The order of PyTorch's ReduceLROnPlateau.
void PlateauState::observe(const PlateauRule& rule, double value, bool higherIsBetter) {
  const auto gains = [&] {
    if (!std::isfinite(value)) return false;
    if (!best) return true;
    const double needed = rule.threshold * std::abs(*best);
    return higherIsBetter ? value > *best + needed : value < *best - needed;
  };
  if (gains()) {
    best = value;
    without = 0;
  } else {
    ++without;
  }
  if (cooling > 0) {
    --cooling;
    without = 0;
  }
  if (without <= rule.patience) return;
  scale = std::max(scale * rule.factor, rule.least);
  cooling = rule.cooldown;
  without = 0;
}

namespace plateau_schedule {

class Plateau final : public Schedule {
 public:
  explicit Plateau(const Values& values)
      : m_rule{.factor = values.real("factor"),
               .patience = values.integer("patience"),
               .threshold = values.real("threshold"),
               .cooldown = values.integer("cooldown"),
               .least = values.real("end")} {}
  double factor(double) const override { return 1; }
  std::optional<PlateauRule> plateau() const override { return m_rule; }

 private:
  PlateauRule m_rule;
};

}  // namespace plateau_schedule

const ScheduleDefinition& definePlateauSchedule() {
  using namespace plateau_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Plateau",
                .label = "On a plateau",
                .aliases = {"ReduceLROnPlateau", "ReduceOnPlateau"},
                .summary = "Drops the learning rate when the validation result has not become better for a while.",
                .help = "After each validation (without one, after each epoch) the value that the run is judged by is "
                        "compared with the best so far. More than `patience` values without a gain multiply the rate "
                        "by the factor. The state stands in checkpoints, so that a resumed run drops where one that "
                        "never stopped would. A curve drawn before the run shows no drop, for nobody knows it; a rate "
                        "that is set by hand begins the count anew. It pays where the length of a run is not known "
                        "beforehand; where it is, Cosine or WSD reach more. As PyTorch's ReduceLROnPlateau in its "
                        "relative mode.",
                .fields = {{.key = "factor",
                            .label = "Factor",
                            .help = "What a drop multiplies the learning rate with.",
                            .type = FieldType::real,
                            .defaultValue = 0.1,
                            .hard = Range{0, 1},
                            .comfortable = Range{0.01, 0.9},
                            .important = true},
                           {.key = "patience",
                            .label = "Patience",
                            .help = "Validations without a gain that are borne; the next one drops the rate.",
                            .type = FieldType::integer,
                            .defaultValue = 10,
                            .hard = Range{0, 1e9},
                            .comfortable = Range{0, 100},
                            .important = true},
                           {.key = "threshold",
                            .label = "Least gain",
                            .help = "What counts as a gain, as a share of the best value.",
                            .type = FieldType::real,
                            .defaultValue = 1e-4,
                            .hard = Range{0, 1}},
                           {.key = "cooldown",
                            .label = "Cooldown",
                            .help = "Validations behind a drop that are not counted.",
                            .type = FieldType::integer,
                            .defaultValue = 0,
                            .hard = Range{0, 1e9}},
                           {.key = "end",
                            .label = "End",
                            .help = "The share of the learning rate that is left at least.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0, 0.5}}}},
      .make = [](const Values& values, const ScheduleSpan&) -> std::unique_ptr<Schedule> {
        return std::make_unique<Plateau>(values);
      }};
  return definition;
}

}  // namespace loom
