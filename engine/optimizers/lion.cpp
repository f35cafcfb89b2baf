#include "engine/optimizers/rules/lion.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const LionRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<LionRule>(c, range);
}

const OptimizerDefinition& defineLionOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "Lion",
           .label = "Lion",
           .summary = "Steps of exactly the learning rate in every weight, up or down; half of Adam's memory.",
           .help = "u = sign(β₁ m + (1 − β₁) g)\nw ← w · (1 − learning_rate · weight_decay) − learning_rate · u\n"
                   "m ← β₂ m + (1 − β₂) g\n"
                   "It pays with large batches and large networks whose optimizer state is short of memory: one "
                   "number a weight. The rate is 3 to 10 times smaller than AdamW's, the decay as many times "
                   "larger. Chen et al., arXiv 2302.06675.",
           .fields = {learningRateField(1e-4, {1e-6, 0.1}),
                      shareField("beta1", "β₁", "The share of the memory in what the step's sign is taken of.", 0.9),
                      shareField("beta2", "β₂", "The share of the memory that is kept from step to step.", 0.99),
                      weightDecayField(0, "Each step multiplies the weights by 1 − learning_rate · weight_decay.")}},
      .make =
          [](const Values& values) {
            return makeOptimizer(LionRule{.beta1 = values.real("beta1"), .beta2 = values.real("beta2")}, {"momentum"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
