#include "engine/optimizers/adam_family.h"

#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const AdamRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<AdamRule>(c, range);
}

std::unique_ptr<Optimizer> makeAdam(const Values& values, DecayPlace place) {
  return makeOptimizer(AdamRule{.beta1 = values.real("beta1"),
                                .beta2 = values.real("beta2"),
                                .epsilon = values.real("epsilon"),
                                .place = place},
                       {"m", "v"});
}

std::vector<Field> adamFields(Field weightDecay, double learningRate) {
  // A beta of 1 would divide by zero in the bias correction.
  Field beta1 = shareField("beta1", "Beta 1", "Memory of the mean of the gradients.", 0.9);
  Field beta2 = shareField("beta2", "Beta 2", "Memory of the mean of their squares.", 0.999);
  beta1.hard = beta2.hard = Range{0, 0.9999999};
  return {learningRateField(learningRate), beta1, beta2, epsilonField(1e-8), std::move(weightDecay)};
}

Field decoupledField() {
  return {.key = "decoupled",
          .label = "Decoupled decay",
          .help = "Weight decay does not pass through the gradient, as in AdamW.",
          .type = FieldType::boolean,
          .defaultValue = false};
}

DecayPlace decayPlaceOf(const Values& values) {
  return values.boolean("decoupled") ? DecayPlace::weight : DecayPlace::gradient;
}

}  // namespace loom
