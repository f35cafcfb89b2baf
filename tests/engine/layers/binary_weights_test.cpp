// Layers of two values: what they give, and the gradient that goes through as if they were not there.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/passes/differentiate.h"
#include "engine/program/evaluator.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

struct Passed {
  std::vector<double> output;
  std::vector<double>
      gradient;  // of the input, or of the weight, where each output counts as many times as its place says
};

// The layer between an input and a loss that is the sum of place · output.
Passed pass(const LayerExample& example, const std::vector<double>& x, const std::vector<double>& weight) {
  const LayerDefinition* layer = findLayer(example.layer);
  const Json given = parseJson(example.values, "example");
  ProgramBuilder builder(1, 1, true);
  const TensorId input = weight.empty() ? builder.parameter({.name = "x", .shape = example.inputs[0].prepended(1)})
                                        : builder.input("x", example.inputs[0].prepended(1), DataType::f32);
  const std::vector<TensorId> inputs{input};
  const TensorId y = layer->lower({"it", "it", Values(layer->entry, given), inputs, builder})[0];
  const std::int64_t count = builder.shape(y).elements();
  const TensorId flat = builder.add("reshape", {y}, {{"shape", Shape{1, count}.extents()}});
  const TensorId places = builder.input("places", Shape{1, count}, DataType::f32);
  const TensorId product = builder.add("binary", {flat, places}, {{"function", std::string("multiply")}});
  const TensorId loss =
      builder.add("reduce", {product},
                  {{"function", std::string("sum")}, {"axes", std::vector<std::int64_t>{0, 1}}, {"keep", false}});
  builder.result("loss", ResultKind::loss, loss);
  differentiate(builder);
  Evaluator evaluator(builder.take());
  evaluator.value("x", weight.empty() ? TensorRole::parameter : TensorRole::input).values = x;
  if (!weight.empty()) evaluator.value("it/weight", TensorRole::parameter).values = weight;
  std::vector<double>& numbers = evaluator.value("places", TensorRole::input).values;
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i + 1);
  evaluator.run();
  return {evaluator.value(y).values,
          evaluator.value(weight.empty() ? "x" : "it/weight", TensorRole::parameterGradient).values};
}

TEST(BinaryLayers, SignsForwardAStraightLineBackward) {
  const Passed tanh = pass({"BinaryTanh", "{}", {{4}}}, {0.3, -0.2, 1.7, -5}, {});
  EXPECT_EQ(tanh.output, (std::vector<double>{1, -1, 1, -1}));
  EXPECT_EQ(tanh.gradient, (std::vector<double>{1, 2, 0, 0}));
  const Passed sigmoid = pass({"BinarySigmoid", "{}", {{4}}}, {0.3, -0.2, 1.7, -5}, {});
  EXPECT_EQ(sigmoid.output, (std::vector<double>{1, 0, 1, 0}));
  EXPECT_EQ(sigmoid.gradient, (std::vector<double>{0.5, 1, 0, 0}));
}

TEST(BinaryLayers, WeightsCountByTheirSignAndLearnAsIfTheyDidNot) {
  const std::vector<double> weight{0.5, -0.25, 0.1, -2, 1, 3};
  const Passed sign = pass({"BinaryLinear", R"({"outputs": 2, "bias": false})", {{3}}}, {1, 10, 100}, weight);
  EXPECT_EQ(sign.output, (std::vector<double>{1 - 10 + 100, -1 + 10 + 100}));
  EXPECT_EQ(sign.gradient, (std::vector<double>{1, 10, 100, 2, 20, 200}));
  const Passed scaled =
      pass({"BinaryLinear", R"({"outputs": 2, "bias": false, "form": "scaled"})", {{3}}}, {1, 10, 100}, weight);
  EXPECT_NEAR(scaled.output[0], 91 * 0.85 / 3, 1e-9);
  EXPECT_NEAR(scaled.output[1], 109 * 2.0, 1e-9);
  EXPECT_EQ(scaled.gradient, sign.gradient);
  // A convolution of one place is a Linear over the channels.
  const Passed convolution =
      pass({"BinaryConvolution", R"({"channels": 2, "kernel": 1, "bias": false})", {{3, 1, 1}}}, {1, 10, 100}, weight);
  EXPECT_EQ(convolution.output, sign.output);
  EXPECT_EQ(convolution.gradient, sign.gradient);
}

}  // namespace
}  // namespace loom
