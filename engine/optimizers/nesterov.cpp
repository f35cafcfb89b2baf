#include "engine/optimizers/rules/nesterov.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED void descend(const NesterovRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<NesterovRule>(c, range);
}

const OptimizerDefinition& defineNesterovOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "Nesterov",
                .label = "Nesterov",
                .aliases = {"NAG", "NesterovMomentum"},
                .summary =
                    "Momentum that looks ahead: the gradient counts as if the buffer's next move were already made.",
                .help = "g ← g + weight_decay · w\nb ← momentum · b + g\nw ← w − learning_rate · (g + momentum · b)\n"
                        "Nesterov, 1983, in the form of Sutskever et al., ICML 2013, as PyTorch writes it: the "
                        "learning rate stands outside "
                        "of the buffer. nnabla agrees while the learning rate is constant.",
                .fields = {learningRateField(0.01),
                           shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.",
                                      0.9),
                           weightDecayField(0, kCoupledDecay)}},
      .make = [](const Values& values) {
        return makeOptimizer(NesterovRule{.momentum = values.real("momentum")}, {"momentum"});
      }};
  return definition;
}

}  // namespace loom
