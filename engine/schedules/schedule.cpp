#include "engine/schedules/schedule.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"

namespace loom {
namespace {

// With `from` = 0 the ramp begins one step in, (t + 1) / N: a first step at rate 0 would move nothing (as nnabla).
// Otherwise it begins at `from` itself and reaches 1 after N steps (as Goyal et al.).
class WarmUp final : public Schedule {
 public:
  WarmUp(std::unique_ptr<Schedule> schedule, double steps, double from)
      : m_schedule(std::move(schedule)), m_steps(steps), m_from(from) {}

  double factor(double step) const override {
    const double done = m_from == 0 ? (step + 1) / m_steps : step / m_steps;
    return m_schedule->factor(step) * (m_from + (1 - m_from) * std::clamp(done, 0.0, 1.0));
  }
  std::optional<PlateauRule> plateau() const override { return m_schedule->plateau(); }

 private:
  std::unique_ptr<Schedule> m_schedule;
  double m_steps, m_from;
};

void requireSound(const Entry& entry, const Json& given, const std::vector<std::string>& ignored,
                  std::string_view where) {
  for (const FieldProblem& problem : validate(entry, given, ignored))
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "{}: {}", where, problem.message);
}

}  // namespace

double rateScale(std::string_view scaling, std::int64_t batch, std::int64_t baseBatch) {
  const double grown = static_cast<double>(batch) / static_cast<double>(baseBatch);
  return scaling == "linear" ? grown : scaling == "square_root" ? std::sqrt(grown) : 1;
}

const ScheduleDefinition* findSchedule(std::string_view name) {
  return findNamed(scheduleTable(), name);
}

const Entry& warmupEntry() {
  static const Entry entry{
      .id = "Warmup",
      .label = "Warm-up",
      .summary = "Raises the learning rate in a straight line at the beginning.",
      .help =
          "Multiplies the schedule, which counts from the first step on, with a ramp from `from` to 1. With from = 0 "
          "step t (from 0) of N "
          "has the factor (t + 1) / N; otherwise from + (1 − from) · t / N (Goyal et al. 2017, \"gradual warm-up\").",
      .fields = {{.key = "epochs",
                  .label = "Epochs",
                  .help = "How long it takes.",
                  .type = FieldType::real,
                  .hard = Range{0, 1e6},
                  .comfortable = Range{0, 20},
                  .unit = "epochs",
                  .optional = true},
                 {.key = "steps",
                  .label = "Steps",
                  .help = "How long it takes, in steps; read when no epochs are given.",
                  .type = FieldType::integer,
                  .hard = Range{0, 1e12},
                  .unit = "steps",
                  .optional = true},
                 {.key = "from",
                  .label = "From",
                  .help = "The share of the learning rate at the first step; 0 = one step of the ramp.",
                  .type = FieldType::real,
                  .defaultValue = 0.0,
                  .hard = Range{0, 1}},
                 {.key = "from_unscaled",
                  .label = "Begin unscaled",
                  .help = "Begins at the learning rate before it is scaled to the batch, as Goyal et al.; takes the "
                          "place of `from`.",
                  .type = FieldType::boolean,
                  .defaultValue = false}}};
  return entry;
}

std::unique_ptr<Schedule> makeSchedule(const Json& schedule, const Json& warmup, const ScheduleSpan& span) {
  const Json given = schedule.is_null() ? Json{{"name", "Constant"}} : schedule;
  if (!given.is_object() || !given.contains("name") || !given["name"].is_string())
    throwError(ErrorCode::badProject,
               "training.schedule: {} names no schedule; an object such as {{\"name\": \"Cosine\"}} is wanted",
               given.dump());
  const std::string name = given["name"].get<std::string>();
  const ScheduleDefinition* definition = findSchedule(name);
  if (!definition)
    throwError(ErrorCode::badProject, "training.schedule: unknown schedule '{}'{}", name,
               hintOn(scheduleTable(), name));
  requireSound(definition->entry, given, {"name"}, "training.schedule");
  auto made = definition->make(Values(definition->entry, given), span);
  if (warmup.is_null()) return made;

  if (!warmup.is_object())
    throwError(ErrorCode::badProject, "training.warmup: {} is no object such as {{\"epochs\": 1}}", warmup.dump());
  requireSound(warmupEntry(), warmup, {}, "training.warmup");
  const Values values(warmupEntry(), warmup);
  double steps = 0;
  if (values.has("epochs"))
    steps = values.real("epochs") * static_cast<double>(span.stepsPerEpoch);
  else if (values.has("steps"))
    steps = static_cast<double>(values.integer("steps"));
  if (steps <= 0) return made;
  const double from = values.boolean("from_unscaled") ? std::min(1.0, 1 / span.rateScale) : values.real("from");
  return std::make_unique<WarmUp>(std::move(made), steps, from);
}

}  // namespace loom
