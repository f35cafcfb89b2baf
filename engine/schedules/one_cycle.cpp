#include <algorithm>

#include "engine/schedules/schedule.h"

namespace loom {
namespace one_cycle_schedule {

class OneCycle final : public Schedule {
 public:
  OneCycle(const Values& values, const ScheduleSpan& span)
      : m_start(values.real("start")),
        m_peak(values.real("peak") * static_cast<double>(span.steps)),
        m_end(values.real("end")),
        m_steps(static_cast<double>(span.steps)) {}

  double factor(double step) const override {
    const double t = std::clamp(step, 0.0, m_steps);
    if (t < m_peak) return 1 - (1 - m_start) * (1 - t / m_peak);
    return m_peak < m_steps ? 1 - (1 - m_end) * (t - m_peak) / (m_steps - m_peak) : 1;
  }

 private:
  double m_start, m_peak, m_end, m_steps;
};

Field share(const char* key, const char* label, const char* help, double value) {
  return {
      .key = key, .label = label, .help = help, .type = FieldType::real, .defaultValue = value, .hard = Range{0, 1}};
}

}  // namespace one_cycle_schedule

const ScheduleDefinition& defineOneCycleSchedule() {
  using namespace one_cycle_schedule;
  static const ScheduleDefinition definition{
      .entry =
          {.id = "OneCycle",
           .label = "One cycle",
           .aliases = {"OneCycleLR", "Triangular", "SuperConvergence"},
           .summary = "Rises in a straight line to the learning rate, then falls in one: for short runs at high rates.",
           .help = "With t steps done of T and p = peak · T: factor = start + (1 − start) · t / p before p, "
                   "1 − (1 − end) · (t − p) / (T − p) from there on. The learning rate is the highest one. No "
                   "warm-up is needed beside it.\n\n"
                   "Smith and Topin, \"Super-convergence\", arXiv 1708.07120; in straight lines as in the records of "
                   "DAWNBench (Page, 2018) and PyTorch's OneCycleLR with anneal_strategy \"linear\" and "
                   "two phases, where start = 1 / div_factor.",
           .fields = {share("peak", "Peak", "After which share of the run the learning rate is reached.", 0.3),
                      share("start", "Start", "The share of the learning rate at the first step.", 0.04),
                      share("end", "End", "The share of the learning rate that is left at the end of the run.", 0)}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<OneCycle>(values, span);
      }};
  return definition;
}

}  // namespace loom
