#include "engine/optimizers/rules/still.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED UpdateSums gather(const StillRule::Constants<float>& c, const UpdateRange& range) {
  return gatherRange<StillRule>(c, range);
}
LOOM_VECTORISED void descend(const StillRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<StillRule>(c, range);
}

static std::vector<Field> stillFields() {
  return {learningRateField(26.1, {0.05, 100}),
          {.key = "lamb_learning_rate",
           .label = "LAMB's rate",
           .help = "LAMB's own learning rate while it takes part. Neither schedule nor warm-up changes it.",
           .type = FieldType::real,
           .defaultValue = 0.0012,
           .hard = Range{0, 1000},
           .comfortable = Range{1e-5, 0.1},
           .important = true},
          {.key = "transition",
           .label = "Transition",
           .help = "How long LAMB's share falls from 1 to 0 in a straight line: as long as the warm-up.",
           .type = FieldType::real,
           .defaultValue = 25.0,
           .hard = Range{0, 1e6},
           .comfortable = Range{0.1, 100},
           .unit = "epochs",
           .important = true},
          shareField("momentum", "Momentum", "The share of LARS's buffer that is kept from step to step.", 0.955),
          {.key = "coefficient",
           .label = "Trust coefficient",
           .help = "The length of LARS's step as a share of the weights' length, at learning rate 1.",
           .type = FieldType::real,
           .defaultValue = 0.001,
           .hard = Range{0, 1000},
           .comfortable = Range{1e-4, 1}},
          shareField("beta1", "β₁", "The share of LAMB's mean gradient that is kept from step to step.", 0.9),
          shareField("beta2", "β₂", "The share of LAMB's mean squared gradient that is kept.", 0.999),
          epsilonField(1e-6),
          {.key = "gamma_high",
           .label = "Greatest length",
           .help = "For LAMB a tensor counts at most as if it were so long.",
           .type = FieldType::real,
           .defaultValue = 10.0,
           .hard = Range{1e-6, 1e12}},
          weightDecayField(8e-5, "Added to the gradient for LARS and to the direction for LAMB, as weight_decay · w."),
          unscaledField()};
}

const OptimizerDefinition& defineSTiLLOptimizer() {
  static const OptimizerDefinition definition{
      .entry = {.id = "STiLL",
                .label = "STiLL (LAMB into LARS)",
                .summary = "LAMB while training is young, LARS from then on: for batches of 64 thousand and more.",
                .help = "a = min(1, epoch / transition)\n"
                        "w ← w − (1 − a) · ΔLAMB − a · ΔLARS, both fed with every gradient and with a state of their "
                        "own; LAMB at lamb_learning_rate, LARS at the learning rate with schedule and warm-up\n"
                        "It pays where LARS alone fails in its first epochs and LAMB generalises less in the end. It "
                        "keeps three numbers a weight for the whole run. The trust ratios that the run tells are "
                        "LAMB's until the transition ends, then LARS's.\n"
                        "Sony's slides on training ImageNet at 64K to 96K: a warm-up of 25 epochs from 1.36 to 26.1, "
                        "polynomial decay, label smoothing 0.1, zero γ. They do not say what is mixed: that it is the "
                        "two steps, in proportion, is a definition of ours.",
                .fields = stillFields()},
      .make =
          [](const Values& values) {
            const double epsilon = values.real("epsilon");
            return makeOptimizer(StillRule{.lamb = {.beta1 = values.real("beta1"),
                                                    .beta2 = values.real("beta2"),
                                                    .epsilon = epsilon,
                                                    .low = 0,
                                                    .high = values.real("gamma_high"),
                                                    .leastRatio = 0,
                                                    .mostRatio = 1e12,
                                                    .correction = LambCorrection::none,
                                                    .onlyDecayed = false},
                                           .lars = {.momentum = values.real("momentum"),
                                                    .coefficient = values.real("coefficient"),
                                                    .epsilon = epsilon,
                                                    .clips = false,
                                                    .place = RatePlace::inside},
                                           .lambRate = values.real("lamb_learning_rate"),
                                           .epochs = values.real("transition")},
                                 {"m", "v", "momentum"}, unscaledOf(values));
          },
      .traits = {.stepsPerTensor = true}};
  return definition;
}

}  // namespace loom
