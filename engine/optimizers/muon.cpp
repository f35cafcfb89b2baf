// Muon: momentum whose matrices are made orthogonal by products, and AdamW for everything that is no hidden matrix.
#include <algorithm>
#include <cmath>

#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/product_ops.h"
#include "engine/optimizers/product_rule.h"

namespace loom {
namespace {

// Of the quintic that takes singular values near to 1 (K. Jordan 2024).
constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;

using namespace products;

class Muon final : public ProductRule {
 public:
  explicit Muon(const Values& values)
      : m_momentum(values.real("momentum")),
        m_nesterov(values.boolean("nesterov")),
        m_steps(values.integer("steps")),
        m_adjust(values.text("adjust")),
        m_left(values.texts("left_to_adamw")),
        m_oneRankEach(values.boolean("one_rank_each")) {
    const double rate = values.real("learning_rate");
    m_restRate = rate > 0 ? values.real("adamw_rate") / rate : 0;
  }

  std::span<const std::string> slots() const override { return m_slots; }
  std::span<const std::string> leaves() const override { return m_left; }
  double restRate() const override { return m_restRate; }
  bool oneRankEach() const override { return m_oneRankEach; }
  double work(const Shape& shape) const override {
    const double rows = static_cast<double>(shape[0]), columns = static_cast<double>(shape.elements()) / rows,
                 smaller = std::min(rows, columns);
    return static_cast<double>(m_steps) * smaller * smaller * (2 * std::max(rows, columns) + smaller);
  }
  bool fits(const Shape& shape) const override {
    return shape.rank() >= 2 && shape[0] > 1 && shape.elements() / shape[0] > 1;
  }

  std::vector<TensorId> emit(ProgramBuilder& builder, const ProductInputs& in) const override {
    const Shape shape = builder.shape(in.weight);
    const TensorId momentum = sum(builder, scaled(builder, in.slots[0], m_momentum), in.gradient);
    const TensorId direction = m_nesterov ? sum(builder, in.gradient, scaled(builder, momentum, m_momentum)) : momentum;
    const std::int64_t rows = shape[0], columns = shape.elements() / rows;
    const TensorId matrix = reshaped(builder, direction, Shape{rows, columns});
    const TensorId step = reshaped(builder, orthogonal(builder, matrix, rows > columns), shape);
    TensorId way = scaled(builder, step, lengthOf(static_cast<double>(rows), static_cast<double>(columns)));
    if (in.weightDecay != 0) way = sum(builder, way, scaled(builder, in.weight, in.weightDecay));
    const TensorId weight = binary(builder, "subtract", in.weight, scaledBy(builder, way, in.learningRate));
    return {weight, momentum};
  }

 private:
  // Newton-Schulz on the smaller side.
  TensorId orthogonal(ProgramBuilder& builder, TensorId x, bool tall) const {
    x = scaledBy(builder, x, reciprocal(builder, atLeast(builder, norm(builder, x), 1e-7)));
    if (tall) x = transposed(builder, x);
    for (std::int64_t i = 0; i < m_steps; ++i) {
      const TensorId a = product(builder, x, x, false, true),
                     b = sum(builder, scaled(builder, a, kB), scaled(builder, product(builder, a, a), kC));
      x = sum(builder, scaled(builder, x, kA), product(builder, b, x));
    }
    return tall ? transposed(builder, x) : x;
  }

  double lengthOf(double rows, double columns) const {
    if (m_adjust == "match_rms_adamw") return 0.2 * std::sqrt(std::max(rows, columns));
    if (m_adjust == "spectral") return std::sqrt(rows / columns);
    return std::sqrt(std::max(1.0, rows / columns));
  }

  double m_momentum;
  bool m_nesterov;
  std::int64_t m_steps;
  std::string m_adjust;
  std::vector<std::string> m_slots{"momentum"}, m_left;
  bool m_oneRankEach;
  double m_restRate = 1;
};

}  // namespace

const OptimizerDefinition& defineMuonOptimizer() {
  static const OptimizerDefinition definition = [] {
    std::vector<Field> adam = adamFields(weightDecayField(
        0.1, "Each step multiplies the weights by 1 − rate · weight_decay, of matrices and others alike."));
    std::vector<Field> fields = {
        learningRateField(1e-3),
        shareField("momentum", "Momentum", "μ: the share of the buffer that is kept from step to step.", 0.95),
        {.key = "nesterov",
         .label = "Nesterov",
         .help = "The gradient is added to the buffer once more.",
         .type = FieldType::boolean,
         .defaultValue = true},
        {.key = "steps",
         .label = "Steps",
         .help = "Of Newton-Schulz, each three products on the smaller side of a matrix.",
         .type = FieldType::integer,
         .defaultValue = 5,
         .hard = Range{1, 100},
         .comfortable = Range{3, 10}},
        {.key = "adjust",
         .label = "Length",
         .help = "What a matrix's step is multiplied with.",
         .type = FieldType::choice,
         .defaultValue = "original",
         .choices = {{"original", "Original", "√max(1, rows / columns)."},
                     {"match_rms_adamw", "As AdamW's",
                      "0.2 · √max(rows, columns): AdamW's rate and decay may be kept."},
                     {"spectral", "Spectral", "√(rows / columns)."}}},
        {.key = "left_to_adamw",
         .label = "Left to AdamW",
         .help = "What AdamW steps besides what is no matrix: the kinds bias and normalisation, embedding, the last "
                 "weight before the loss (last), or patterns of names.",
         .type = FieldType::texts,
         .defaultValue = Json::array({"last", "embedding"})},
        {.key = "adamw_rate",
         .label = "AdamW's rate",
         .help = "For what is left to AdamW. The schedule multiplies it alike.",
         .type = FieldType::real,
         .defaultValue = 1e-3,
         .hard = Range{0, 1000},
         .comfortable = Range{1e-6, 1}}};
    fields.insert(fields.end(), adam.begin() + 1, adam.end());
    fields.push_back(oneRankEachField());
    return OptimizerDefinition{
        .entry = {.id = "Muon",
                  .label = "Muon",
                  .summary = "Steps of matrices are made orthogonal: the most from a step at large batches, where "
                             "Adam's is spent, for some fifteen products a matrix and step.",
                  .help =
                      "B ← μ B + G;  O = NS(G + μ B);  w ← w − rate · weight_decay · w − rate · s · O, for matrices "
                      "(a convolution's weight as outputs × the rest); AdamW for everything else.\n"
                      "NS: X = B / ‖B‖, then X ← a X + (b A + c A²) X with A = X Xᵀ five times, (a, b, c) = "
                      "(3.4445, −4.7750, 2.0315). K. Jordan 2024, as torch.optim.Muon has it, in 32 bits. A rate of "
                      "0.02 is the author's. Products take time in proportion to the smaller side of each "
                      "matrix and not to the batch, so that it pays where batches are large.",
                  .fields = std::move(fields)},
        .make = [](const Values& values) { return makeAdam(values, DecayPlace::weight); },
        .products = [](const Values& values) -> std::unique_ptr<ProductRule> {
          return std::make_unique<Muon>(values);
        }};
  }();
  return definition;
}

}  // namespace loom
