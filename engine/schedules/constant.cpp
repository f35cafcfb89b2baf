#include "engine/schedules/schedule.h"

namespace loom {
namespace constant_schedule {

class Constant final : public Schedule {
 public:
  double factor(double) const override { return 1; }
};

}  // namespace constant_schedule

const ScheduleDefinition& defineConstantSchedule() {
  using namespace constant_schedule;
  static const ScheduleDefinition definition{
      .entry = {.id = "Constant",
                .label = "Constant",
                .aliases = {"None"},
                .summary = "The learning rate stays as it is.",
                .help = "factor = 1"},
      .make = [](const Values&, const ScheduleSpan&) -> std::unique_ptr<Schedule> {
        return std::make_unique<Constant>();
      }};
  return definition;
}

}  // namespace loom
