// Schedule-Free SGD and AdamW.
#include "engine/optimizers/rules/schedule_free.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {
namespace {

constexpr const char* kHelp =
    "y ← (1 − β) z + β x is where gradients are taken, z ← z − learning_rate · d, x ← (1 − c) x + c z is what is "
    "evaluated and left, with c this step's share of all steps so far, by the square of the highest rate.\n";
constexpr const char* kUse =
    "Defazio et al. 2024. It wants a constant rate with a warm-up and no schedule: the average takes the place of a "
    "falling rate, and the run may end at any step. Batch statistics are taken anew for x.";

Field shareOfAverage() {
  Field field = shareField("momentum", "Momentum", "β: how near to the average gradients are taken.", 0.9);
  field.hard = Range{0.01, 1};  // x is found from y and z by a division
  return field;
}

}  // namespace

LOOM_VECTORISED void descend(const ScheduleFreeSgdRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<ScheduleFreeSgdRule>(c, range);
}
LOOM_VECTORISED void descend(const ScheduleFreeAdamWRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<ScheduleFreeAdamWRule>(c, range);
}

const OptimizerDefinition& defineScheduleFreeSGDOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "ScheduleFreeSGD",
                .label = "Schedule-Free SGD",
                .aliases = {"SGDScheduleFree"},
                .summary = "SGD with an average of its own in place of a schedule: pays where the length of a run is "
                           "not known before.",
                .help = std::string(kHelp) + "d = g + weight_decay · y.\n" + kUse,
                .fields = {learningRateField(1.0), shareOfAverage(), weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) { return makeOptimizer(ScheduleFreeSgdRule{values.real("momentum")}, {"z"}); },
      .evaluates = true};
  return definition;
}

const OptimizerDefinition& defineScheduleFreeAdamWOptimizer() {
  static const OptimizerDefinition definition = [] {
    Field beta2 = shareField("beta2", "Beta 2", "Memory of the mean of the squared gradients.", 0.999);
    beta2.hard = Range{0, 0.9999999};
    return OptimizerDefinition{
        .entry = {.id = "ScheduleFreeAdamW",
                  .label = "Schedule-Free AdamW",
                  .aliases = {"AdamWScheduleFree"},
                  .summary = "AdamW with an average of its own in place of a schedule: pays where the length of a run "
                             "is not known before (first of AlgoPerf's self-tuning track).",
                  .help = std::string(kHelp) + "v ← β₂ v + (1 − β₂) g²;  d = g / (√v̂ + ε) + weight_decay · y.\n" + kUse,
                  .fields = {learningRateField(0.0025), shareOfAverage(), beta2, epsilonField(1e-8),
                             weightDecayField(0, "Added to the direction as weight_decay · y, outside of the root.")}},
        .make =
            [](const Values& values) {
              return makeOptimizer(
                  ScheduleFreeAdamWRule{values.real("momentum"), values.real("beta2"), values.real("epsilon")},
                  {"z", "v"});
            },
        .traits = {.rateScaling = RateScaling::squareRoot},
        .evaluates = true};
  }();
  return definition;
}

}  // namespace loom
