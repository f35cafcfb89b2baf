#include <algorithm>

#include "engine/base/error.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace slow_start_schedule {

class SlowStart final : public Schedule {
 public:
  SlowStart(const Values& values, const ScheduleSpan& span)
      : m_factors(values.reals("factors")),
        m_at(values.reals("at")),
        m_stepsPerEpoch(static_cast<double>(span.stepsPerEpoch)) {
    if (m_factors.size() != m_at.size() + 1)
      throwError(ErrorCode::badProject,
                 "training.schedule: {} epochs divide a run into {} stages, but there are {} factors", m_at.size(),
                 m_at.size() + 1, m_factors.size());
    if (!std::is_sorted(m_at.begin(), m_at.end()))
      throwError(ErrorCode::badProject, "training.schedule: the epochs of 'at' must rise");
  }

  double factor(double step) const override {
    // Half a millionth of an epoch makes up for the rounding of step / steps per epoch at a whole epoch.
    const double epoch = step / m_stepsPerEpoch + 5e-7;
    return m_factors[static_cast<std::size_t>(std::upper_bound(m_at.begin(), m_at.end(), epoch) - m_at.begin())];
  }

 private:
  std::vector<double> m_factors, m_at;
  double m_stepsPerEpoch;
};

}  // namespace slow_start_schedule

const ScheduleDefinition& defineSlowStartSchedule() {
  using namespace slow_start_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "SlowStart",
                .label = "Slow start",
                .aliases = {"Stages", "PiecewiseConstant"},
                .summary = "A factor of the learning rate for each stage of the run; the first is half by default.",
                .help = "factor = the first of the list until the first epoch of `at`, then the second, and so on. "
                        "Akiba, Suzuki and Fukuda, arXiv 1711.04325: 0.5 for 40 epochs, 0.075 for 30, 0.01 for 15 and "
                        "0.001 for 5, of 0.1 · batch / 256.\n"
                        "It pays together with the RMSprop warm-up at large batches, where the full rate is too much "
                        "at first and needed never.",
                .fields = {{.key = "factors",
                            .label = "Factors",
                            .help = "What the learning rate is multiplied with in each stage.",
                            .type = FieldType::reals,
                            .defaultValue = Json::array({0.5, 0.075, 0.01, 0.001}),
                            .hard = Range{0, 1000}},
                           {.key = "at",
                            .label = "At epochs",
                            .help = "The epochs at which the next stage begins: one fewer than factors.",
                            .type = FieldType::reals,
                            .defaultValue = Json::array({40, 70, 85}),
                            .hard = Range{0, 1e9},
                            .unit = "epochs"}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<SlowStart>(values, span);
      }};
  return definition;
}

}  // namespace loom
