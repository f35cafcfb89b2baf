#include "engine/optimizers/rules/lars.h"

#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED UpdateSums gather(const LarsRule::Constants<float>& c, const UpdateRange& range) {
  return gatherRange<LarsRule>(c, range);
}
LOOM_VECTORISED void descend(const LarsRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<LarsRule>(c, range);
}

const OptimizerDefinition& defineLARSOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "LARS",
           .label = "LARS",
           .aliases = {"LayerwiseAdaptiveRateScaling"},
           .relatives = {{"LARC",
                          "is LARS whose ratio is clipped and whose rate stands outside of the buffer: write "
                          "\"LARS\" with \"trust_clip\": true and \"rate_placement\": \"outside\""}},
           .summary = "Momentum whose step in each tensor is in proportion to the tensor's own size: for batches "
                      "of thousands.",
           .help =
               "λ = coefficient · ‖w‖ / (‖g‖ + weight_decay · ‖w‖), for each tensor; 1 where ‖w‖ < ε or a length is 0\n"
               "v ← momentum · v + learning_rate · λ · (g + weight_decay · w)\nw ← w − v\n"
               "You, Gitman, Ginsburg, arXiv 1708.03888; arithmetic of nnabla (a denominator below ε "
               "gains ε). "
               "g is the averaged gradient of the whole batch before the decay is added. The coefficient makes steps "
               "small, so learning rates are large: 1 for usual batches, 2 to 30 for those of thousands, with a "
               "polynomial schedule of power 2 and a warm-up. It pays where a batch is so large that one rate for all "
               "tensors is too high for some and too low for others. timm keeps the learning rate outside of the "
               "buffer.",
           .fields =
               {learningRateField(1, {5e-3, 100}),
                shareField("momentum", "Momentum", "The share of the buffer that is kept from step to step.", 0.9),
                {.key = "variant",
                 .label = "Variant",
                 .help = "Whose ratio it is.",
                 .type = FieldType::choice,
                 .defaultValue = "nnc",
                 .choices = {{"nnc", "nnabla and Console", "A denominator below ε gains ε."},
                             {"you", "You et al.", "The paper's: no ε anywhere."},
                             {"jizhi", "Jizhi",
                              "No ε and no coefficient: the learning rate takes its place, 0.02 for 20."}}},
                {.key = "coefficient",
                 .label = "Trust coefficient",
                 .help = "The length of a step as a share of the weights' length, at learning rate 1. The variant of "
                         "Jizhi has none.",
                 .type = FieldType::real,
                 .defaultValue = 0.001,
                 .hard = Range{0, 1000},
                 .comfortable = Range{1e-4, 1}},
                epsilonField(1e-6),
                weightDecayField(0, "Added to the gradient as weight_decay · w, and to the denominator of λ."),
                {.key = "trust_clip",
                 .label = "Clip the ratio",
                 .help = "λ · learning_rate never exceeds the learning rate (LARC): min(λ / learning_rate, 1) "
                         "takes λ's place.",
                 .type = FieldType::boolean,
                 .defaultValue = false},
                {.key = "rate_placement",
                 .label = "Place of the rate",
                 .help = "Where the learning rate stands; it matters when it changes.",
                 .type = FieldType::choice,
                 .defaultValue = "inside",
                 .choices = {{"inside", "Inside the buffer", "As the paper and nnabla: a change is felt later."},
                             {"outside", "Outside", "As PyTorch's momentum and timm: a change is felt at once."}}},
                unscaledField()}},
      .make =
          [](const Values& values) {
            const std::string variant = values.text("variant");
            return makeOptimizer(
                LarsRule{.momentum = values.real("momentum"),
                         .coefficient = variant == "jizhi" ? 1 : values.real("coefficient"),
                         .epsilon = variant == "nnc" ? values.real("epsilon") : 0,
                         .clips = values.boolean("trust_clip"),
                         .place = values.text("rate_placement") == "inside" ? RatePlace::inside : RatePlace::outside},
                {"momentum"}, unscaledOf(values));
          },
      .traits = {.stepsPerTensor = true}};
  return definition;
}

}  // namespace loom
