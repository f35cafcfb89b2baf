#include <cmath>

#include "engine/schedules/schedule.h"

namespace loom {
namespace exponential_schedule {

class Exponential final : public Schedule {
 public:
  Exponential(const Values& values, const ScheduleSpan& span)
      : m_factor(values.real("factor")),
        m_every(values.real("every")),
        m_smooth(values.boolean("smooth")),
        m_stepsPerEpoch(span.stepsPerEpoch) {}

  double factor(double step) const override {
    const double intervals = step / static_cast<double>(m_stepsPerEpoch) / m_every;
    return std::pow(m_factor, m_smooth ? intervals : std::floor(intervals + 5e-7));
  }

 private:
  double m_factor, m_every;
  bool m_smooth;
  std::int64_t m_stepsPerEpoch;
};

}  // namespace exponential_schedule

const ScheduleDefinition& defineExponentialSchedule() {
  using namespace exponential_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Exponential",
                .label = "Exponential",
                .aliases = {"ExponentialLR"},
                .summary = "Multiplies the learning rate by the same factor again and again.",
                .help =
                    "factor = f ^ ⌊epoch / every⌋, or with `smooth` f ^ (epoch / every), which changes at every step. "
                    "As nnabla's and PyTorch's schedulers of this name.",
                .fields = {{.key = "factor",
                            .label = "Factor",
                            .help = "What each interval multiplies the learning rate with.",
                            .type = FieldType::real,
                            .defaultValue = 0.95,
                            .hard = Range{0, 10},
                            .comfortable = Range{0.5, 1},
                            .important = true},
                           {.key = "every",
                            .label = "Every",
                            .help = "The length of an interval.",
                            .type = FieldType::real,
                            .defaultValue = 1.0,
                            .hard = Range{1e-6, 1e9},
                            .comfortable = Range{0.01, 1000},
                            .unit = "epochs"},
                           {.key = "smooth",
                            .label = "Smooth",
                            .help = "Falls a little at every step rather than in stairs.",
                            .type = FieldType::boolean,
                            .defaultValue = false}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<Exponential>(values, span);
      }};
  return definition;
}

}  // namespace loom
