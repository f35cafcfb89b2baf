#include <algorithm>
#include <cmath>

#include "engine/schedules/schedule.h"

namespace loom {
namespace wsd_schedule {

class Wsd final : public Schedule {
 public:
  Wsd(const Values& values, const ScheduleSpan& span)
      : m_steps(static_cast<double>(span.steps)),
        m_decay(values.real("decay") * m_steps),
        m_end(values.real("end")),
        m_linear(values.text("shape") == "linear") {}

  double factor(double step) const override {
    const double behind = std::min(step, m_steps) - (m_steps - m_decay);
    if (behind <= 0 || m_decay <= 0) return 1;
    const double done = behind / m_decay;
    return 1 - (1 - m_end) * (m_linear ? done : std::sqrt(done));
  }

 private:
  double m_steps, m_decay, m_end;
  bool m_linear;
};

}  // namespace wsd_schedule

const ScheduleDefinition& defineWSDSchedule() {
  using namespace wsd_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "WSD",
                .label = "Stable, then decay (WSD)",
                .aliases = {"WarmupStableDecay", "Trapezoid"},
                .summary = "Stays at the learning rate and falls only in the last part of the run.",
                .help = "factor = 1 until t = (1 − d) T, then with s the share of the decay that is done 1 − (1 − end) "
                        "√s, or (1 − end) s for a straight line; with the warm-up beside it: warm-up, stable, decay.\n"
                        "It pays where a run may become longer: from any checkpoint of the stable part it can go on, "
                        "or be ended by a short decay, and that is as good as a cosine planned for this length. "
                        "Hägele et al., arXiv 2405.18392.",
                .fields = {{.key = "decay",
                            .label = "Decay",
                            .help = "Which share of the run falls.",
                            .type = FieldType::real,
                            .defaultValue = 0.2,
                            .hard = Range{0, 1},
                            .comfortable = Range{0.05, 0.5},
                            .important = true},
                           {.key = "shape",
                            .label = "Shape",
                            .help = "Of the fall.",
                            .type = FieldType::choice,
                            .defaultValue = "root",
                            .choices = {{"root", "1 − √", "Fast at first: a little better in most reports."},
                                        {"linear", "Straight line", "Even to the end."}}},
                           {.key = "end",
                            .label = "End",
                            .help = "The share of the learning rate that is left at the end of the run.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0, 0.5}}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<Wsd>(values, span);
      }};
  return definition;
}

}  // namespace loom
