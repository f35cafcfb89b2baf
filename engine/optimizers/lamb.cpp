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

static constexpr const char* kNvLamb =
    "is LAMB with bias correction, lengths without bounds and gradients that are scaled to a norm of at most 1 first: "
    "write \"LAMB\" with \"bias_correction\": true and \"gamma_high\": 1e12, and \"clip_norm\": 1 in training";
static constexpr const char* kFusedLamb =
    "is LAMB with bias correction, lengths without bounds, no ratio without weight decay and gradients that are scaled "
    "to a norm of at most 1 first: write \"LAMB\" with \"bias_correction\": true, \"gamma_high\": 1e12 and "
    "\"adapt_undecayed\": false, and \"clip_norm\": 1 in training";
static constexpr const char* kDeepSpeedLamb =
    "is LAMB whose bias correction changes the step's length alone, with a ratio between bounds: write \"LAMB\" with "
    "\"bias_correction\": true, \"correction_of\": \"length\", \"gamma_high\": 1e12, \"ratio_low\": 0.01, "
    "\"ratio_high\": 10 and \"epsilon\": 1e-8";

static std::vector<Field> lambFields() {
  return {learningRateField(0.001),
          shareField("beta1", "β₁", "The share of the mean gradient that is kept from step to step.", 0.9),
          shareField("beta2", "β₂", "The share of the mean squared gradient that is kept.", 0.999),
          epsilonField(1e-6),
          weightDecayField(0.01, "Added to the direction as weight_decay · w, beside the gradient's part."),
          {.key = "bias_correction",
           .label = "Bias correction",
           .help = "Makes up for the zeros with which the means begin, as Adam does.",
           .type = FieldType::boolean,
           .defaultValue = false},
          {.key = "correction_of",
           .label = "Corrects",
           .help = "What the bias correction changes.",
           .type = FieldType::choice,
           .defaultValue = "direction",
           .choices = {{"direction", "The direction", "As the paper, apex and timm."},
                       {"length", "The step's length", "As DeepSpeed: the ratio is taken without it."}}},
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
          {.key = "ratio_low",
           .label = "Least ratio",
           .help = "Of a tensor's length to its direction's; DeepSpeed has 0.01.",
           .type = FieldType::real,
           .defaultValue = 0.0,
           .hard = Range{0, 1e12}},
          {.key = "ratio_high",
           .label = "Greatest ratio",
           .help = "DeepSpeed has 10; timm's trust_clip is 1.",
           .type = FieldType::real,
           .defaultValue = 1e12,
           .hard = Range{0, 1e12}},
          {.key = "adapt_undecayed",
           .label = "Ratio without decay",
           .help = "Tensors without weight decay have a ratio, too, as NVLAMB; apex's FusedLAMB leaves them at 1.",
           .type = FieldType::boolean,
           .defaultValue = true},
          unscaledField()};
}

static void requireBounds(const char* what, double low, double high) {
  if (low > high) throwError(ErrorCode::badProject, "LAMB: the least {} {} is above the greatest, {}", what, low, high);
}

const OptimizerDefinition& defineLAMBOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "LAMB",
           .label = "LAMB",
           .relatives = {{"NVLAMB", kNvLamb}, {"FusedLAMB", kFusedLamb}, {"DeepSpeedLAMB", kDeepSpeedLamb}},
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
               "TensorFlow correct the bias and bound nothing; DeepSpeed corrects the step's length only. It pays for "
               "transformers at batches of thousands, where LARS fails.",
           .fields = lambFields()},
      .make = [](const Values& values) -> std::unique_ptr<Optimizer> {
        requireBounds("length", values.real("gamma_low"), values.real("gamma_high"));
        requireBounds("ratio", values.real("ratio_low"), values.real("ratio_high"));
        if (values.boolean("bias_correction"))
          for (const char* key : {"beta1", "beta2"})
            if (values.real(key) == 1)
              throwError(ErrorCode::badProject,
                         "LAMB: {} is 1, and the bias correction divides by 1 - {} to the power of the step, which is "
                         "0 then: take a smaller one, or \"bias_correction\": false",
                         key, key);
        return makeOptimizer(
            LambRule{.beta1 = values.real("beta1"),
                     .beta2 = values.real("beta2"),
                     .epsilon = values.real("epsilon"),
                     .low = values.real("gamma_low"),
                     .high = values.real("gamma_high"),
                     .leastRatio = values.real("ratio_low"),
                     .mostRatio = values.real("ratio_high"),
                     .correction = !values.boolean("bias_correction")         ? LambCorrection::none
                                   : values.text("correction_of") == "length" ? LambCorrection::length
                                                                              : LambCorrection::direction,
                     .onlyDecayed = !values.boolean("adapt_undecayed")},
            {"m", "v"}, unscaledOf(values));
      },
      .traits = {.rateScaling = RateScaling::squareRoot, .stepsPerTensor = true}};
  return definition;
}

}  // namespace loom
