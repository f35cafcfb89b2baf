#include "engine/optimizers/rules/lamb.h"

#include "engine/base/error.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/host_loops.h"

namespace loom {

LOOM_VECTORISED UpdateSums gather(const LambRule::Constants<float>& c, const UpdateRange& range) {
  return gatherRange<LambRule>(c, range);
}
LOOM_VECTORISED void descend(const LambRule::Constants<float>& c, const UpdateRange& range) {
  updateRange<LambRule>(c, range);
}

static constexpr const char* kLambCorrected =
    "is LAMB with bias correction, lengths without bounds and gradients that are scaled to a norm of at most 1 first: "
    "write \"LAMB\" with \"bias_correction\": true and \"gamma_high\": 1e12, and \"clip_norm\": 1 in training";

const OptimizerDefinition& defineLAMBOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "LAMB",
           .label = "LAMB",
           .relatives = {{"NVLAMB", kLambCorrected}, {"FusedLAMB", kLambCorrected}},
           .summary =
               "Adam whose step in each tensor is in proportion to the tensor's own size: for batches of thousands.",
           .help =
               "m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²\n"
               "u = m / (√v + ε) + weight_decay · w, with m / (1 − β₁ᵗ) and v / (1 − β₂ᵗ) in their places under bias "
               "correction\n"
               "w ← w − learning_rate · φ(‖w‖) / ‖u‖ · u, for each tensor, φ = ‖w‖ between the two bounds; the ratio "
               "is 1 "
               "where ‖w‖ = 0 or ‖u‖ ≤ ε\n"
               "You et al., arXiv 1904.00962, third version (no bias correction) and defaults of nnabla. apex, timm "
               "and "
               "TensorFlow correct the bias and bound nothing; DeepSpeed corrects the step's length only.",
           .fields = {learningRateField(0.001),
                      shareField("beta1", "β₁", "The share of the mean gradient that is kept from step to step.", 0.9),
                      shareField("beta2", "β₂", "The share of the mean squared gradient that is kept.", 0.999),
                      epsilonField(1e-6),
                      weightDecayField(0.01, "Added to the direction as weight_decay · w, beside the gradient's part."),
                      {.key = "bias_correction",
                       .label = "Bias correction",
                       .help = "Makes up for the zeros with which the means begin, as Adam does.",
                       .type = FieldType::boolean,
                       .defaultValue = false},
                      {.key = "gamma_low",
                       .label = "Least length",
                       .help = "A tensor counts at least as if it were so long.",
                       .type = FieldType::real,
                       .defaultValue = 0.0,
                       .hard = Range{0, 1e6}},
                      {.key = "gamma_high",
                       .label = "Greatest length",
                       .help = "A tensor counts at most as if it were so long.",
                       .type = FieldType::real,
                       .defaultValue = 10.0,
                       .hard = Range{1e-6, 1e12}},
                      unscaledField()}},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> {
        if (values.real("gamma_low") > values.real("gamma_high"))
          throwError(ErrorCode::badProject, "LAMB: the least length {} is above the greatest, {}",
                     values.real("gamma_low"), values.real("gamma_high"));
        if (values.boolean("bias_correction"))
          for (const char* key : {"beta1", "beta2"})
            if (values.real(key) == 1)
              throwError(ErrorCode::badProject,
                         "LAMB: {} is 1, and the bias correction divides by 1 - {} to the power of the step, which is "
                         "0 then: take a smaller one, or \"bias_correction\": false",
                         key, key);
        return makeOptimizer(LambRule{.beta1 = values.real("beta1"),
                                      .beta2 = values.real("beta2"),
                                      .epsilon = values.real("epsilon"),
                                      .low = values.real("gamma_low"),
                                      .high = values.real("gamma_high"),
                                      .corrected = values.boolean("bias_correction")},
                             {"m", "v"}, unscaledOf(values));
      }};
  return definition;
}

}  // namespace loom
