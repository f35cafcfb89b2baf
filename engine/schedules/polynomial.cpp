#include <algorithm>
#include <cmath>

#include "engine/schedules/schedule.h"

namespace loom {
namespace polynomial_schedule {

class Polynomial final : public Schedule {
 public:
  Polynomial(const Values& values, const ScheduleSpan& span)
      : m_power(values.real("power")), m_end(values.real("end")), m_steps(span.steps) {}

  double factor(double step) const override {
    const double left = std::clamp(1 - step / static_cast<double>(m_steps), 0.0, 1.0);
    return m_end + (1 - m_end) * std::pow(left, m_power);
  }

 private:
  double m_power, m_end;
  std::int64_t m_steps;
};

}  // namespace polynomial_schedule

const ScheduleDefinition& definePolynomialSchedule() {
  using namespace polynomial_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Polynomial",
                .label = "Polynomial",
                .aliases = {"PolynomialLR", "Linear", "LinearDecay"},
                .summary = "Falls along a power of the share of the run that is left.",
                .help = "factor = end + (1 − end) · (1 − t / T) ^ power, with t steps done of T. A power of 1 is a "
                        "straight line; recipes for "
                        "large batches (LARS) use 2. As nnabla's and PyTorch's schedulers of this name for end = 0.",
                .fields = {{.key = "power",
                            .label = "Power",
                            .help = "1 falls in a straight line, 2 fast at first and gently at the end.",
                            .type = FieldType::real,
                            .defaultValue = 1.0,
                            .hard = Range{1e-3, 100},
                            .comfortable = Range{0.5, 5},
                            .important = true},
                           {.key = "end",
                            .label = "End",
                            .help = "The share of the learning rate that is left at the end of the run.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0, 0.5}}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<Polynomial>(values, span);
      }};
  return definition;
}

}  // namespace loom
