#include "engine/optimizers/rules/adagrad.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const AdagradRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<AdagradRule>(c, range);
}

const OptimizerDefinition& defineAdagradOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Adagrad",
                .label = "Adagrad",
                .aliases = {"AdaGrad"},
                .summary = "Steps that shrink with all the gradients a weight has seen: rare features keep learning.",
                .help = "g ← g + weight_decay · w\ns ← s + g²\nw ← w − learning_rate · g / (√s + ε)\n"
                        "Duchi, Hazan and Singer, JMLR 2011, as PyTorch writes it: ε stands outside of the root.",
                .fields = {learningRateField(0.01), epsilonField(1e-10),
                           Field{.key = "initial_sum",
                                 .label = "Initial sum",
                                 .help = "What s begins with; more than 0 keeps the first steps small.",
                                 .type = FieldType::real,
                                 .defaultValue = 0.0,
                                 .hard = Range{0, 1e6},
                                 .comfortable = Range{0, 10}},
                           weightDecayField(0, kCoupledDecay)}},
      .make =
          [](const Values& values) {
            return makeOptimizer(
                AdagradRule{.epsilon = values.real("epsilon"), .initialSum = values.real("initial_sum")}, {"sum"});
          },
      .traits = {.rateScaling = RateScaling::squareRoot}};
  return definition;
}

}  // namespace loom
