#include <cmath>
#include <numbers>

#include "engine/schedules/schedule.h"

namespace loom {
namespace cosine_restarts_schedule {

class CosineRestarts final : public Schedule {
 public:
  CosineRestarts(const Values& values, const ScheduleSpan& span)
      : m_first(values.real("first")),
        m_times(values.real("times")),
        m_peaks(values.real("peaks")),
        m_end(values.real("end")),
        m_stepsPerEpoch(static_cast<double>(span.stepsPerEpoch)) {}

  double factor(double step) const override {
    // Half a millionth of an epoch makes up for the rounding of step / steps per epoch at a whole epoch.
    const double epoch = step / m_stepsPerEpoch, reached = epoch + 5e-7;
    // Cycles before this one: a geometric series that has `reached` between two of its sums.
    double cycle = std::floor(m_times == 1 ? reached / m_first
                                           : std::log1p(reached / m_first * (m_times - 1)) / std::log(m_times));
    while (begin(cycle + 1) <= reached) ++cycle;
    while (cycle > 0 && begin(cycle) > reached) --cycle;
    const double done = (epoch - begin(cycle)) / (begin(cycle + 1) - begin(cycle));
    const double peak = std::pow(m_peaks, cycle);
    return m_end + (peak - m_end) * 0.5 * (1 + std::cos(std::numbers::pi * std::fmax(done, 0)));
  }

 private:
  double begin(double cycle) const {
    return m_times == 1 ? m_first * cycle : m_first * (std::pow(m_times, cycle) - 1) / (m_times - 1);
  }
  double m_first, m_times, m_peaks, m_end, m_stepsPerEpoch;
};

}  // namespace cosine_restarts_schedule

const ScheduleDefinition& defineCosineRestartsSchedule() {
  using namespace cosine_restarts_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "CosineRestarts",
                .label = "Cosine with restarts",
                .aliases = {"SGDR", "CosineAnnealingWarmRestarts"},
                .summary = "Falls along half a cosine again and again, each time for longer.",
                .help = "In cycle i, of first · times^i epochs, factor = end + (peaks^i − end) · ½ (1 + cos(π s)), s "
                        "the share of the cycle that is done. Loshchilov and Hutter, \"SGDR\", ICLR 2017; as PyTorch's "
                        "CosineAnnealingWarmRestarts for peaks = 1.\n"
                        "It pays where results are wanted on the way: the end of each cycle is a good network. Cycles "
                        "of 10, 20, 40 epochs end at 10, 30, 70: a run had better end there, too.",
                .fields = {{.key = "first",
                            .label = "First cycle",
                            .help = "Its length.",
                            .type = FieldType::real,
                            .defaultValue = 10.0,
                            .hard = Range{1e-3, 1e9},
                            .comfortable = Range{0.1, 1000},
                            .unit = "epochs",
                            .important = true},
                           {.key = "times",
                            .label = "Times",
                            .help = "How much longer each cycle is than the one before.",
                            .type = FieldType::real,
                            .defaultValue = 2.0,
                            .hard = Range{1, 100},
                            .comfortable = Range{1, 4}},
                           {.key = "peaks",
                            .label = "Peaks",
                            .help = "What each restart multiplies the peak with.",
                            .type = FieldType::real,
                            .defaultValue = 1.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0.1, 1}},
                           {.key = "end",
                            .label = "End",
                            .help = "The share of the learning rate at the end of a cycle.",
                            .type = FieldType::real,
                            .defaultValue = 0.0,
                            .hard = Range{0, 1},
                            .comfortable = Range{0, 0.5}}}},
      .make = [](const Values& values, const ScheduleSpan& span) -> std::unique_ptr<Schedule> {
        return std::make_unique<CosineRestarts>(values, span);
      }};
  return definition;
}

}  // namespace loom
