#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace r2_metric {

constexpr std::int64_t kMostNumbers = 65536;  // of a sample, of each of which sums are kept

Entry entry() {
  Entry entry;
  entry.id = entry.label = "R2";
  entry.aliases = {"R2Score", "RSquared", "CoefficientOfDetermination"};
  entry.category = entry.icon = "lossMetric";
  entry.summary = "The share of the target's variance that a regression explains.";
  entry.help =
      "R² = 1 − Σ (x − t)² / Σ (t − mean of t)² over all samples of the dataset; of a sample of several numbers each "
      "has its own, and the result is their mean. 1 is exact, 0 is as good as always saying the mean, and it has no "
      "least value. Of a number that never changes it is 1 where all answers are exact and else 0. Batches give their "
      "mean and the squares about it, which are put together in 64 bits, so a mean that is large beside the spread "
      "costs no digits. Nothing flows back from it.";
  entry.inputs = {parts::valuesIn("Predictions, any shape."),
                  targetPort(PortType::values, "What they should be, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "R²", .help = "One number, at most 1."}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  if (const std::int64_t numbers = arguments.inputs[0].elements(); numbers > kMostNumbers)
    throw LayerError(fmt::format("the input is {}, but of a sample at most {} numbers are compared: "
                                 "RootMeanSquaredError takes any",
                                 parts::shapeText(arguments.inputs[0]), kMostNumbers),
                     "");
  return {Shape{}};
}

// A run gives n, and of each number: mean m, Σ (t − m), Σ (t − m)², Σ (x − t)². The sums are n, and of each number Σ t,
// Σ t², Σ (x − t)²; the last D of a run have no place among the sums and stay 0.
void accumulate(std::span<const double> run, std::span<double> sums) {
  const std::size_t d = (run.size() - 1) / 4;
  const double n = run[0];
  sums[0] += n;
  for (std::size_t k = 0; k < d; ++k) {
    const double m = run[1 + k], rest = run[1 + d + k];
    sums[1 + k] += n * m + rest;
    sums[1 + d + k] += run[1 + 2 * d + k] + 2 * m * rest + n * m * m;
    sums[1 + 2 * d + k] += run[1 + 3 * d + k];
  }
}

double finish(std::span<const double> sums) {
  const std::size_t d = (sums.size() - 1) / 4;
  const double n = sums[0];
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  double total = 0;
  for (std::size_t k = 0; k < d; ++k) {
    const double sum = sums[1 + k], squares = sums[1 + d + k], apart = sums[1 + 2 * d + k];
    const double spread = squares - sum / n * sum;
    // What is left of equal numbers by rounding is no spread.
    if (spread > 1e-14 * squares)
      total += 1 - apart / spread;
    else
      total += apart == 0 ? 1 : 0;
  }
  return total / static_cast<double>(d);
}

constexpr ResultSums kSums{.accumulate = accumulate, .finish = finish};

std::vector<TensorId> lower(const LowerArguments& arguments) {
  ProgramBuilder& builder = arguments.builder;
  const Shape whole = builder.shape(arguments.inputs[0]);
  const std::int64_t samples = whole[0], numbers = whole.elements() / samples;
  const auto flat = [&](TensorId x) { return parts::reshaped(arguments, x, Shape{numbers}); };
  const auto over = [&](const char* function, TensorId x, bool keep) {
    return builder.add("reduce", {x},
                       {{"function", std::string(function)}, {"axes", std::vector<std::int64_t>{0}}, {"keep", keep}});
  };
  // A power keeps what it reads in 32 bits, whatever the precision; a product would not.
  const auto squared = [&](TensorId x) { return parts::binary(arguments, "power", x, builder.constant(2, {1, 1})); };
  const TensorId x = flat(arguments.inputs[0]), t = flat(arguments.inputs[1]);
  const TensorId mean = over("mean", t, true);
  const TensorId rest = parts::binary(arguments, "subtract", t, mean);
  const TensorId apart = parts::binary(arguments, "subtract", x, t);
  const TensorId ownMean = builder.add("reshape", {mean}, {{"shape", std::vector<std::int64_t>{numbers}}});
  const TensorId run =
      builder.add("concatenate",
                  {builder.constant(static_cast<double>(samples), {1}), ownMean, over("sum", rest, false),
                   over("sum", squared(rest), false), over("sum", squared(apart), false)},
                  {{"axis", std::int64_t{0}}});
  return finishSums(arguments, run, kSums);
}

}  // namespace r2_metric

const LayerDefinition& defineR2Layer() {
  using namespace r2_metric;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::metric, {.goal = Goal::higher}};
  return definition;
}

}  // namespace loom
