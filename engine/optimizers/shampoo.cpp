// Shampoo (Gupta 2018) as Anil 2020 and Shi 2023 distribute it: a matrix's gradient is multiplied from both sides with
// inverse roots of its own second moments, block by block; its step may have another rule's length.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/optimizers/adam_family.h"
#include "engine/optimizers/fields.h"
#include "engine/optimizers/product_ops.h"
#include "engine/optimizers/product_rule.h"
#include "engine/optimizers/symmetric.h"

namespace loom {
namespace {

using namespace products;

// Blocks of at most so many rows and columns, as equal as can be; each has its matrices.
struct Blocks {
  std::int64_t rows, columns, down, across;
  Blocks(const Shape& shape, std::int64_t most)
      : rows(shape[0]),
        columns(shape.elements() / shape[0]),
        down((rows + most - 1) / most),
        across((columns + most - 1) / most) {}
  std::int64_t count() const { return down * across; }
  std::int64_t top(std::int64_t i) const { return rows * i / down; }
  std::int64_t left(std::int64_t j) const { return columns * j / across; }
  std::int64_t height(std::int64_t i) const { return top(i + 1) - top(i); }
  std::int64_t width(std::int64_t j) const { return left(j + 1) - left(j); }
};

constexpr const char* kSteps = "steps";  // that a tensor has made; the first of its matrices
enum Part { kLeft, kRight, kLeftRoot, kRightRoot, kParts };
constexpr const char* kPartNames[] = {"left", "right", "left_root", "right_root"};

class Shampoo final : public ProductRule {
 public:
  explicit Shampoo(const Values& values)
      : m_beta1(values.real("beta1")),
        m_beta2(values.real("beta2")),
        m_epsilon(values.real("epsilon")),
        m_statistics(values.real("statistics")),
        m_damping{.damping = values.real("damping"), .ridge = values.real("ridge")},
        m_every(values.integer("precondition_every")),
        m_start(values.integer("precondition_from")),
        m_block(values.integer("largest_block")),
        m_graft(values.text("graft")),
        m_left(values.texts("left_to_adam")),
        m_oneRankEach(values.boolean("one_rank_each")) {
    if (m_beta1 > 0) m_slots.push_back("m");
    if (m_graft == "adam") m_slots.push_back("v");
  }

  std::span<const std::string> slots() const override { return m_slots; }
  std::span<const std::string> leaves() const override { return m_left; }
  bool oneRankEach() const override { return m_oneRankEach; }
  bool fits(const Shape& shape) const override {
    return shape.rank() >= 2 && shape[0] > 1 && shape.elements() / shape[0] > 1;
  }
  std::vector<ProductMatrix> matrices(const Shape& shape) const override {
    const Blocks blocks(shape, m_block);
    std::vector<ProductMatrix> all{{kSteps, Shape{1}}};
    for (std::int64_t i = 0; i < blocks.down; ++i)
      for (std::int64_t j = 0; j < blocks.across; ++j)
        for (int part = kLeft; part < kParts; ++part) {
          const std::int64_t side = part % 2 == kLeft ? blocks.height(i) : blocks.width(j);
          all.push_back({nameOf(part, blocks, i, j), Shape{side, side}});
        }
    return all;
  }
  // A root takes some twenty products of its side, beside the two of each step.
  double work(const Shape& shape) const override {
    const Blocks blocks(shape, m_block);
    const auto height = static_cast<double>(blocks.height(0)), width = static_cast<double>(blocks.width(0));
    return static_cast<double>(blocks.count()) *
           (2 * height * width * (height + width) +
            20 * (height * height * height + width * width * width) / static_cast<double>(m_every));
  }

  std::vector<TensorId> emitStatistics(ProgramBuilder& builder, const ProductInputs& in) const override {
    const Blocks blocks(builder.shape(in.gradient), m_block);
    std::vector<TensorId> becomes(m_slots.size() + 2, kNoTensor);
    const TensorId gradient = reshaped(builder, in.gradient, Shape{blocks.rows, blocks.columns});
    forEach(blocks, [&](std::size_t first, std::int64_t i, std::int64_t j) {
      const TensorId block = cut(builder, gradient, blocks, i, j);
      const auto moved = [&](TensorId before, TensorId more) {
        return m_statistics == 1 ? sum(builder, before, more) : mean(builder, m_statistics, before, more);
      };
      becomes.push_back(moved(in.matrices[first + kLeft], product(builder, block, block, false, true)));
      becomes.push_back(moved(in.matrices[first + kRight], product(builder, block, block, true, false)));
      becomes.insert(becomes.end(), {kNoTensor, kNoTensor});
    });
    return becomes;
  }

  bool dueOnHost(std::int64_t number) const override { return number >= m_start && (number - m_start) % m_every == 0; }
  std::string shownOnHost(const Shape&) const override { return kPartNames[kLeftRoot]; }
  bool workOnHost(const Shape& shape, std::int64_t, bool, ProductStore& store) const override {
    const double number =
        store.read(kSteps).front() + 1.0;  // the same as the update's, unless it began with another rule
    if (number < static_cast<double>(m_start)) return false;
    const Blocks blocks(shape, m_block);
    const double scale = m_statistics == 1 ? 1 : 1 / (1 - std::pow(m_statistics, number));
    for (std::int64_t i = 0; i < blocks.down; ++i)
      for (std::int64_t j = 0; j < blocks.across; ++j)
        for (const int part : {kLeft, kRight}) {
          const std::string name = nameOf(part, blocks, i, j);
          const std::vector<float> root =
              inverseFourthRoot(store.read(name), part == kLeft ? blocks.height(i) : blocks.width(j), scale, m_damping);
          if (root.empty())
            throwError(ErrorCode::diverged,
                       "the second moments that Shampoo keeps ('{}') are not finite: a lower learning rate, a warm-up "
                       "or clip_norm may help",
                       name);
          store.write(nameOf(part + kLeftRoot, blocks, i, j), root);
        }
    return true;
  }

  std::vector<TensorId> emit(ProgramBuilder& builder, const ProductInputs& in) const override {
    const Shape shape = builder.shape(in.weight);
    const Blocks blocks(shape, m_block);
    const TensorId steps = scaled(builder, in.matrices[0], 1, 1), count = number(builder, steps);
    std::vector<TensorId> becomes{kNoTensor};
    TensorId momentum = in.gradient;
    if (m_beta1 > 0) becomes.push_back(momentum = mean(builder, m_beta1, in.slots[0], in.gradient));
    const TensorId direction =
        m_beta1 > 0 ? scaledBy(builder, momentum, correction(builder, m_beta1, count)) : momentum;
    TensorId plain = direction;
    if (m_graft == "adam") {
      const TensorId squares = mean(builder, m_beta2, in.slots.back(), unary(builder, "square", in.gradient)),
                     corrected = scaledBy(builder, squares, correction(builder, m_beta2, count));
      becomes.push_back(squares);
      plain = binary(builder, "divide", direction, scaled(builder, unary(builder, "sqrt", corrected), 1, m_epsilon));
    }
    TensorId way = reshaped(
        builder, conditioned(builder, reshaped(builder, direction, Shape{blocks.rows, blocks.columns}), in, blocks),
        shape);
    if (m_graft != "none")
      way = scaledBy(builder, way,
                     binary(builder, "divide", norm(builder, plain), atLeast(builder, norm(builder, way), 1e-20)));
    if (m_start > 1) {  // until then the plain step
      const TensorId begun = share(builder, scaled(builder, count, 1, 1.0 - static_cast<double>(m_start)));
      way = sum(builder, scaledBy(builder, way, begun), scaledBy(builder, plain, scaled(builder, begun, -1, 1)));
    }
    if (in.weightDecay != 0) way = sum(builder, way, scaled(builder, in.weight, in.weightDecay));
    becomes.push_back(steps);
    becomes.front() = binary(builder, "subtract", in.weight, scaledBy(builder, way, in.learningRate));
    return becomes;
  }

 private:
  static std::string nameOf(int part, const Blocks& blocks, std::int64_t i, std::int64_t j) {
    const std::string name = kPartNames[part];
    return blocks.count() == 1 || (i == 0 && j == 0) ? name : name + "." + std::to_string(i) + "." + std::to_string(j);
  }
  // Calls work(place of the block's first matrix, i, j).
  template <class Work>
  static void forEach(const Blocks& blocks, const Work& work) {
    for (std::int64_t i = 0; i < blocks.down; ++i)
      for (std::int64_t j = 0; j < blocks.across; ++j)
        work(1 + static_cast<std::size_t>(i * blocks.across + j) * kParts, i, j);
  }
  static TensorId cut(ProgramBuilder& builder, TensorId x, const Blocks& blocks, std::int64_t i, std::int64_t j) {
    const auto slice = [&](TensorId from, std::int64_t axis, std::int64_t start, std::int64_t length) {
      return builder.shape(from)[axis] == length
                 ? from
                 : builder.add("slice", {from}, {{"axis", axis}, {"start", start}, {"length", length}});
    };
    return slice(slice(x, 0, blocks.top(i), blocks.height(i)), 1, blocks.left(j), blocks.width(j));
  }
  static TensorId joined(ProgramBuilder& builder, std::vector<TensorId> parts, std::int64_t axis) {
    return parts.size() == 1 ? parts.front() : builder.add("concatenate", std::move(parts), {{"axis", axis}});
  }
  // The roots around each block.
  static TensorId conditioned(ProgramBuilder& builder, TensorId x, const ProductInputs& in, const Blocks& blocks) {
    std::vector<TensorId> bands, band;
    forEach(blocks, [&](std::size_t first, std::int64_t i, std::int64_t j) {
      const TensorId left = product(builder, in.matrices[first + kLeftRoot], cut(builder, x, blocks, i, j));
      band.push_back(product(builder, left, in.matrices[first + kRightRoot]));
      if (j + 1 < blocks.across) return;
      bands.push_back(joined(builder, std::exchange(band, {}), 1));
    });
    return joined(builder, bands, 0);
  }

  double m_beta1, m_beta2, m_epsilon, m_statistics;
  Damping m_damping;
  std::int64_t m_every, m_start, m_block;
  std::string m_graft;
  std::vector<std::string> m_slots, m_left;
  bool m_oneRankEach;
};

std::vector<Field> shampooFields() {
  std::vector<Field> fields = adamFields(weightDecayField(
      0, "Each step multiplies the weights by 1 − rate · weight_decay, of matrices and others alike."));
  std::vector<Field> own{
      shareField("statistics", "Memory of moments",
                 "β: the share of L and R that is kept from step to step. 1: sums over all steps, as the first paper.",
                 0.95),
      {.key = "graft",
       .label = "Length of a step",
       .help = "Whose length a matrix's step has; the direction is Shampoo's.",
       .type = FieldType::choice,
       .defaultValue = "adam",
       .choices = {{"adam", "Adam's", "Adam's learning rate may be kept."},
                   {"sgd", "SGD's", "That of the mean gradient."},
                   {"none", "Its own", "As the first paper."}}},
      {.key = "precondition_every",
       .label = "Roots every",
       .help =
           "Updates from one taking of roots to the next. The host takes them, in double: a second for two sides of "
           "1,024.",
       .type = FieldType::integer,
       .defaultValue = 20,
       .hard = Range{1, 1000000},
       .comfortable = Range{1, 1000},
       .unit = "updates"},
      {.key = "precondition_from",
       .label = "Starts at",
       .help = "The update from which on roots are used; before it a matrix makes the step whose length it has.",
       .type = FieldType::integer,
       .defaultValue = 10,
       .hard = Range{1, 1000000000},
       .unit = "updates"},
      {.key = "largest_block",
       .label = "Largest block",
       .help =
           "Rows and columns of a block; a larger matrix is stepped in several, each with L and R of its own, so that "
           "no dimension is too large.",
       .type = FieldType::integer,
       .defaultValue = 1024,
       .hard = Range{2, 8192},
       .comfortable = Range{64, 2048}},
      {.key = "damping",
       .label = "Damping",
       .help = "Added to each eigenvalue before the root: the ε of the papers.",
       .type = FieldType::real,
       .defaultValue = 1e-12,
       .hard = Range{1e-30, 1}},
      {.key = "ridge",
       .label = "Ridge",
       .help = "This share of the largest eigenvalue is added, too: below it 32 bits tell nothing.",
       .type = FieldType::real,
       .defaultValue = 1e-6,
       .hard = Range{0, 1},
       .comfortable = Range{0, 1e-2}},
      leftToAdamField(),
      oneRankEachField()};
  fields.insert(fields.end(), own.begin(), own.end());
  return fields;
}

}  // namespace

const OptimizerDefinition& defineShampooOptimizer() {
  static const OptimizerDefinition definition{
      .entry =
          {.id = "Shampoo",
           .label = "Shampoo",
           .aliases = {"DistributedShampoo"},
           .summary = "Gradients of matrices are made even from both sides: fewer steps at large batches, where the "
                      "host's roots every few steps are small beside the computing.",
           .help =
               "L ← β L + (1 − β) G Gᵀ;  R ← β R + (1 − β) Gᵀ G;  M: Adam's mean of gradients\n"
               "D = L^(−1/4) M R^(−1/4), then w ← w − rate · ‖Adam's step‖ / ‖D‖ · D − rate · weight_decay · w, for "
               "matrices (a convolution's weight as outputs × the rest), block by block; AdamW for vectors, and for "
               "matrices before the update at which it starts.\n"
               "Gupta 2018; Anil 2020; Shi 2023, whose distributed form won AlgoPerf's tuned track. It pays at batches "
               "of "
               "thousands. L, R and their roots take 2 (rows² + columns²) numbers a block; roots are taken by the "
               "host, "
               "also beside a GPU, to which they are copied.",
           .fields = shampooFields()},
      .make = [](const Values& values) { return makeAdam(values, DecayPlace::weight); },
      .traits = {.rateScaling = RateScaling::squareRoot},
      .products = [](const Values& values) -> std::unique_ptr<ProductRule> {
        return std::make_unique<Shampoo>(values);
      }};
  return definition;
}

}  // namespace loom
