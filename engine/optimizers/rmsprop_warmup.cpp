#include "engine/optimizers/rules/rmsprop_warmup.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const RmsPropWarmupRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<RmsPropWarmupRule>(c, range);
}

static std::vector<Field> warmupFields() {
  return {learningRateField(0.1),
          shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.", 0.9),
          {.key = "rmsprop_rate",
           .label = "RMSprop's rate",
           .help = "The learning rate of the divided gradients at the beginning. Neither schedule nor warm-up changes "
                   "it.",
           .type = FieldType::real,
           .defaultValue = 3e-4,
           .hard = Range{0, 1000},
           .comfortable = Range{1e-6, 0.1},
           .important = true},
          {.key = "center",
           .label = "Center",
           .help = "When plain momentum has half of the step.",
           .type = FieldType::real,
           .defaultValue = 10.0,
           .hard = Range{0, 1e6},
           .comfortable = Range{0, 100},
           .unit = "epochs",
           .important = true},
          {.key = "period",
           .label = "Period",
           .help = "How long the change takes: half of it behind the center the step is momentum's alone.",
           .type = FieldType::real,
           .defaultValue = 5.0,
           .hard = Range{1e-3, 1e6},
           .comfortable = Range{0.1, 100},
           .unit = "epochs"},
          shareField("decay", "Decay", "Memory of the mean of the squared gradients.", 0.99),
          epsilonField(1e-8),
          {.key = "literal",
           .label = "As printed",
           .help = "Behind the center the share rises twice as steeply, as the paper prints it, cut off at 1; its "
                   "slope jumps there.",
           .type = FieldType::boolean,
           .defaultValue = false},
          weightDecayField(0, kCoupledDecay)};
}

const OptimizerDefinition& defineRMSpropWarmupOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "RMSpropWarmup",
                .label = "RMSprop warm-up",
                .summary = "RMSprop at first, momentum from some epochs on: ImageNet at 32 thousand without LARS.",
                .help = "g ← g + weight_decay · w\nv ← decay · v + (1 − decay) g²\n"
                        "b ← momentum · b + (α + (1 − α) · rmsprop_rate / learning_rate / (√v + ε)) · g\n"
                        "w ← w − learning_rate · b\n"
                        "α = ½ exp(2 (epoch − center) / period) before the center, ½ + (epoch − center) / period "
                        "behind it, at most 1\n"
                        "It pays at large batches where the first epochs of momentum diverge even with a warm-up. "
                        "Akiba, Suzuki and Fukuda, arXiv 1711.04325 (ResNet-50 in 15 minutes), with the schedule "
                        "SlowStart.",
                .fields = warmupFields()},
      .make = [](const Values& values) {
        return makeOptimizer(RmsPropWarmupRule{.momentum = values.real("momentum"),
                                               .keep = values.real("decay"),
                                               .epsilon = values.real("epsilon"),
                                               .rmsRate = values.real("rmsprop_rate"),
                                               .center = values.real("center"),
                                               .period = values.real("period"),
                                               .literal = values.boolean("literal")},
                             {"v", "momentum"});
      }};
  return definition;
}

}  // namespace loom
