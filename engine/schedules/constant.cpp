#include "engine/schedules/schedule.h"

namespace loom {
namespace {

class Constant final : public Schedule {
 public:
  double factor(double) const override { return 1; }
};

}  // namespace

const ScheduleDefinition& defineConstantSchedule() {
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
