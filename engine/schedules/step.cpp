#include <cmath>

#include "engine/schedules/schedule.h"

namespace loom {
namespace step_schedule {

class StepSchedule final : public Schedule {
 public:
  StepSchedule(const Values& values, const ScheduleSpan& span)
      : m_factor(values.real("factor")),
        m_every(values.real("every")),
        m_at(values.reals("at")),
        m_stepsPerEpoch(span.stepsPerEpoch) {}

  double factor(double step) const override {
    // Half a millionth of an epoch makes up for the rounding of step / steps per epoch at a whole epoch.
    const double epoch = step / static_cast<double>(m_stepsPerEpoch) + 5e-7;
    double drops = std::floor(epoch / m_every);
    if (!m_at.empty()) {
      drops = 0;
      for (const double at : m_at) drops += epoch >= at;
    }
    return std::pow(m_factor, drops);
  }

 private:
  double m_factor, m_every;
  std::vector<double> m_at;
  std::int64_t m_stepsPerEpoch;
};

}  // namespace step_schedule

const ScheduleDefinition& defineStepSchedule() {
  using namespace step_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Step",
                .label = "Step",
                .aliases = {"MultiStep", "StepLR", "MultiStepLR"},
                .summary = "Drops the learning rate by a factor at certain epochs.",
                .help = "factor = f to the power of the number of drops so far: one at each epoch of the list, or "
                        "without a list one every so "
                        "many epochs. The recipe of He et al. 2016 for ImageNet: 0.1 at 30, 60, 80.",
                .fields = {{.key = "factor",
                            .label = "Factor",
                            .help = "What a drop multiplies the learning rate with.",
                            .type = FieldType::real,
                            .defaultValue = 0.1,
                            .hard = Range{0, 1000},
                            .comfortable = Range{0.01, 1},
                            .important = true},
                           {.key = "every",
                            .label = "Every",
                            .help = "Epochs between two drops; not read while a list of epochs is given.",
                            .type = FieldType::real,
                            .defaultValue = 30.0,
                            .hard = Range{1e-6, 1e9},
                            .comfortable = Range{0.1, 1000},
                            .unit = "epochs"},
                           {.key = "at",
                            .label = "At epochs",
                            .help = "The epochs at which it drops, such as 30, 60, 80.",
                            .type = FieldType::reals,
                            .defaultValue = Json::array(),
                            .hard = Range{0, 1e9},
                            .unit = "epochs"}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<StepSchedule>(values, span);
      }};
  return definition;
}

}  // namespace loom
