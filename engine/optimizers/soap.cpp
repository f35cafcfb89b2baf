// SOAP (Vyas 2024): Adam in the eigenbasis of Shampoo's L and R, which turns slowly.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/product_ops.h"
#include "engine/optimizers/product_rule.h"
#include "engine/optimizers/symmetric.h"

namespace loom {
namespace {

using namespace products;

class Soap final : public ProductRule {
 public:
  explicit Soap(const Values& values)
      : m_beta1(values.real("beta1")),
        m_beta2(values.real("beta2")),
        m_epsilon(values.real("epsilon")),
        m_every(values.integer("precondition_every")),
        m_largest(values.integer("largest_side")),
        m_left(values.texts("left_to_adam")),
        m_oneRankEach(values.boolean("one_rank_each")) {}

  std::span<const std::string> slots() const override { return m_slots; }
  std::span<const std::string> leaves() const override { return m_left; }
  bool oneRankEach() const override { return m_oneRankEach; }
  bool fits(const Shape& shape) const override {
    return shape.rank() >= 2 && shape[0] > 1 && shape.elements() / shape[0] > 1 && !sidesOf(shape).empty();
  }
  std::vector<ProductMatrix> matrices(const Shape& shape) const override {
    std::vector<ProductMatrix> all{{"steps", Shape{1}}};  // that the tensor has made
    for (const Side& side : sidesOf(shape)) {
      all.push_back({side.name, Shape{side.extent, side.extent}});
      all.push_back({side.basis(), Shape{side.extent, side.extent}});
    }
    return all;
  }
  // A refreshed basis takes some five products of its side, beside the six of each step.
  double work(const Shape& shape) const override {
    double all = 0;
    for (const Side& side : sidesOf(shape)) {
      const auto extent = static_cast<double>(side.extent);
      all += 4 * extent * static_cast<double>(shape.elements()) +
             5 * extent * extent * extent / static_cast<double>(m_every);
    }
    return all;
  }

  // Behind the first gradient, which only fills L and R, and every so many steps from then on.
  bool worksBehind() const override { return true; }
  bool dueOnHost(std::int64_t number) const override { return (number - 1) % m_every == 0; }
  std::string shownOnHost(const Shape& shape) const override { return sidesOf(shape).front().basis(); }
  bool workOnHost(const Shape& shape, std::int64_t, bool first, ProductStore& store) const override {
    for (const Side& side : sidesOf(shape)) {
      const std::vector<float> matrix = store.read(side.name);
      if (std::all_of(matrix.begin(), matrix.end(), [](float value) { return value == 0; })) return false;
      std::vector<std::int64_t> order;
      const std::vector<float> basis =
          first ? eigenvectors(matrix, side.extent) : refreshed(matrix, store.read(side.basis()), side.extent, order);
      if (basis.empty())
        throwError(ErrorCode::diverged,
                   "the second moments that SOAP keeps ('{}') are not finite: a lower learning rate, a warm-up or "
                   "clip_norm may help",
                   side.name);
      store.write(side.basis(), basis);
      if (!order.empty()) store.write("v", sorted(store.read("v"), shape, side, order));
    }
    return true;
  }

  std::vector<TensorId> emit(ProgramBuilder& builder, const ProductInputs& in) const override {
    const Shape shape = builder.shape(in.weight), flat{shape[0], shape.elements() / shape[0]};
    const std::vector<Side> sides = sidesOf(shape);
    const TensorId gradient = reshaped(builder, in.gradient, flat);
    // 0 before the basis is known, then 1.
    const TensorId known = share(builder, sumOfSquares(builder, in.matrices[2]));
    const TensorId before = number(builder, in.matrices[0]), steps = scaled(builder, before, 1, 1);
    const TensorId momentum =
        scaledBy(builder, mean(builder, m_beta1, reshaped(builder, in.slots[0], flat), gradient), known);
    const TensorId squares = mean(builder, m_beta2, reshaped(builder, in.slots[1], flat),
                                  unary(builder, "square", turned(builder, gradient, in, sides, true)));
    const TensorId root = unary(builder, "sqrt", scaledBy(builder, squares, correction(builder, m_beta2, steps)));
    const TensorId adam =
        binary(builder, "divide",
               scaledBy(builder, turned(builder, momentum, in, sides, true), correction(builder, m_beta1, steps)),
               scaled(builder, root, 1, m_epsilon));
    TensorId way = reshaped(builder, turned(builder, adam, in, sides, false), shape);
    if (in.weightDecay != 0)
      way = sum(builder, way, scaledBy(builder, scaled(builder, in.weight, in.weightDecay), known));
    std::vector<TensorId> becomes{binary(builder, "subtract", in.weight, scaledBy(builder, way, in.learningRate)),
                                  reshaped(builder, momentum, shape), reshaped(builder, squares, shape)};
    becomes.push_back(reshaped(builder, sum(builder, before, known), Shape{1}));
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const bool rows = sides[i].rows;
      becomes.push_back(
          mean(builder, m_beta2, in.matrices[1 + 2 * i], product(builder, gradient, gradient, !rows, rows)));
      becomes.push_back(kNoTensor);
    }
    return becomes;
  }

 private:
  struct Side {
    std::string name;
    bool rows;
    std::int64_t extent;
    std::string basis() const { return name + "_basis"; }
  };
  // Those that are turned.
  std::vector<Side> sidesOf(const Shape& shape) const {
    std::vector<Side> sides{{"left", true, shape[0]}, {"right", false, shape.elements() / shape[0]}};
    std::erase_if(sides, [this](const Side& side) { return side.extent > m_largest; });
    return sides;
  }
  // Into the eigenbasis, or back.
  static TensorId turned(ProgramBuilder& builder, TensorId x, const ProductInputs& in, const std::vector<Side>& sides,
                         bool into) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const TensorId basis = in.matrices[2 * i + 2];
      x = sides[i].rows ? product(builder, basis, x, into, false) : product(builder, x, basis, false, !into);
    }
    return x;
  }
  // Rows or columns of the squares follow the columns of their basis.
  static std::vector<float> sorted(const std::vector<float>& values, const Shape& shape, const Side& side,
                                   const std::vector<std::int64_t>& order) {
    const std::int64_t columns = shape.elements() / shape[0];
    std::vector<float> all(values.size());
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t row = side.rows ? order[static_cast<std::size_t>(i)] : i,
                           column = side.rows ? j : order[static_cast<std::size_t>(j)];
        all[static_cast<std::size_t>(i * columns + j)] = values[static_cast<std::size_t>(row * columns + column)];
      }
    return all;
  }

  double m_beta1, m_beta2, m_epsilon;
  std::int64_t m_every, m_largest;
  std::vector<std::string> m_slots{"m", "v"}, m_left;
  bool m_oneRankEach;
};

std::vector<Field> soapFields() {
  std::vector<Field> fields = adamFields(
      weightDecayField(0.01,
                       "Each step multiplies the weights by 1 − rate · weight_decay, of matrices and others alike."),
      3e-3);
  for (Field& field : fields)
    if (field.key == "beta1" || field.key == "beta2") field.defaultValue = 0.95;
  std::vector<Field> own{
      {.key = "precondition_every",
       .label = "Basis every",
       .help =
           "Updates from one turning of the basis to the next. The host turns it, in double: a second for two sides "
           "of 1,024.",
       .type = FieldType::integer,
       .defaultValue = 10,
       .hard = Range{1, 1000000},
       .comfortable = Range{1, 1000},
       .unit = "updates"},
      {.key = "largest_side",
       .label = "Largest side",
       .help = "A side of a matrix with more rows or columns has no basis; a matrix of two such sides is Adam's. The "
               "authors' 10,000 would keep the host busy for minutes.",
       .type = FieldType::integer,
       .defaultValue = 1024,
       .hard = Range{2, 16384},
       .comfortable = Range{64, 2048}},
      leftToAdamField(),
      oneRankEachField()};
  fields.insert(fields.end(), own.begin(), own.end());
  return fields;
}

}  // namespace

const OptimizerDefinition& defineSOAPOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "SOAP",
           .label = "SOAP",
           .summary = "Adam in the basis in which a matrix's gradients are independent: fewer steps than Adam takes, "
                      "most so at large batches, for six products a matrix and step.",
           .help =
               "L ← β₂ L + (1 − β₂) G Gᵀ;  R ← β₂ R + (1 − β₂) Gᵀ G;  their eigenvectors Q_L, Q_R: one power "
               "iteration and QR every few updates\n"
               "v of Q_Lᵀ G Q_R and m of G are Adam's; w ← w − rate · Q_L (Q_Lᵀ m̂ Q_R / (√v̂ + ε)) Q_Rᵀ − rate · "
               "weight_decay · w, for matrices (a convolution's weight as outputs × the rest); AdamW for vectors.\n"
               "Vyas 2024. The first gradient only fills L and R. It pays at large batches. L, R and the bases take "
               "2 (rows² + columns²) numbers a matrix; the host turns the bases, also beside a GPU, to which they "
               "are copied.",
           .fields = soapFields()},
      .make = [](const Values& values) { return makeAdam(values, DecayPlace::weight); },
      .traits = {.rateScaling = RateScaling::squareRoot},
      .products = [](const Values& values) -> std::unique_ptr<ProductRule> { return std::make_unique<Soap>(values); }};
  return definition;
}

}  // namespace loom
