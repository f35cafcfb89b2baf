#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/schedules/schedule.h"

namespace loom {
namespace cosine_schedule {

class Cosine final : public Schedule {
 public:
  Cosine(const Values& values, const ScheduleSpan& span) : m_end(values.real("end")), m_steps(span.steps) {}

  double factor(double step) const override {
    const double done = std::clamp(step / static_cast<double>(m_steps), 0.0, 1.0);
    return m_end + (1 - m_end) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  }

 private:
  double m_end;
  std::int64_t m_steps;
};

}  // namespace cosine_schedule

const ScheduleDefinition& defineCosineSchedule() {
  using namespace cosine_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Cosine",
                .label = "Cosine",
                .aliases = {"CosineAnnealing", "CosineAnnealingLR"},
                .summary = "Falls along half a cosine: gently at first, fast in the middle, gently to the end.",
                .help = "factor = end + (1 − end) · ½ (1 + cos(π t / T)), with t steps done of T. Loshchilov and "
                        "Hutter, \"SGDR\", ICLR 2017, "
                        "one period without restarts.",
                .fields = {{.key = "end",
                            .label = "End",
                            .help = "The share of the learning rate that is left at the end of the run.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0, 0.5}}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<Cosine>(values, span);
      }};
  return definition;
}

}  // namespace loom
