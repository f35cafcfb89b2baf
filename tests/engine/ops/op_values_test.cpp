// Worked numbers: conventions that finite differences cannot see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/ops/noise.h"
#include "engine/passes/differentiate.h"
#include "engine/program/builder.h"
#include "engine/program/evaluator.h"

namespace loom {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

ReferenceTensor tensor(Shape shape, std::vector<double> values) {
  return {std::move(shape), std::move(values)};
}

// The op on these inputs: its outputs, then the new values of what it updates. An empty ReferenceTensor with no values
// = left out.
std::vector<ReferenceTensor> run(const char* name, const std::vector<ReferenceTensor>& inputs,
                                 const Attributes& attributes = {}, const std::vector<std::size_t>& indices = {}) {
  const OpDefinition& op = findOp(name);
  std::vector<TensorSpec> specs;
  std::vector<const ReferenceTensor*> pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool isIndex = std::find(indices.begin(), indices.end(), i) != indices.end();
    specs.push_back({inputs[i].shape, isIndex ? DataType::i32 : DataType::f32, !inputs[i].values.empty()});
    pointers.push_back(inputs[i].values.empty() ? nullptr : &inputs[i]);
  }
  specs = completeInputs(op, specs);
  pointers.resize(specs.size(), nullptr);
  std::vector<ReferenceTensor> outputs;
  for (const TensorSpec& spec : op.infer(specs, attributes))
    outputs.push_back({spec.shape, std::vector<double>(static_cast<std::size_t>(spec.shape.elements()))});
  for (int updated : updatedInputs(op, specs.size(), attributes))
    outputs.push_back(inputs[static_cast<std::size_t>(updated)]);
  op.reference(pointers, outputs, attributes);
  return outputs;
}

std::vector<double> one(const char* name, const std::vector<ReferenceTensor>& inputs, const Attributes& attributes = {},
                        const std::vector<std::size_t>& indices = {}) {
  return run(name, inputs, attributes, indices)[0].values;
}

std::vector<double> unary(const char* function, std::vector<double> x, Attributes attributes = {}) {
  const auto count = static_cast<std::int64_t>(x.size());
  return one("unary", {tensor({count}, std::move(x))}, attributes.set("function", std::string(function)));
}

auto near(std::vector<double> wanted, double tolerance = 1e-9) {
  return Pointwise(DoubleNear(tolerance), std::move(wanted));
}

// Worked by hand: logits [2, 1, 0], target 0, epsilon 0.1.
TEST(OpValues, LabelSmoothingInBothDefinitions) {
  const std::vector<ReferenceTensor> inputs{tensor({1, 3}, {2, 1, 0}), tensor({1}, {0})};
  const auto loss = [&](double smoothing, const char* definition) {
    return one("softmax_cross_entropy", inputs, {{"smoothing", smoothing}, {"definition", std::string(definition)}},
               {1});
  };
  EXPECT_THAT(loss(0, "pytorch"), near({0.4076059644}, 1e-10));
  EXPECT_THAT(loss(0, "sony"), near({0.4076059644}, 1e-10));
  EXPECT_THAT(loss(0.1, "pytorch"), near({0.5076059644}, 1e-10));
  EXPECT_THAT(loss(0.1, "sony"), near({0.5576059644}, 1e-10));
  EXPECT_THAT(loss(0.15, "pytorch"), near(loss(0.1, "sony"), 1e-12)) << "Sony(e) = PyTorch(e K / (K - 1))";
}

TEST(OpValues, CrossEntropyOfHugeLogitsIsFinite) {
  EXPECT_THAT(one("softmax_cross_entropy", {tensor({2, 2}, {1000, 0, 0, 1000}), tensor({2}, {0, 0})}, {}, {1}),
              near({500}));
}

TEST(OpValues, LabelOutOfRangeNamesRowAndClasses) {
  for (const double label : {-1.0, 3.0}) try {
      one("softmax_cross_entropy", {tensor({2, 3}, {1, 2, 3, 4, 5, 6}), tensor({2}, {0, label})}, {}, {1});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::badData);
      EXPECT_THAT(error.what(), HasSubstr("row 1"));
      EXPECT_THAT(error.what(), HasSubstr("3 classes"));
    }
  EXPECT_THROW(one("embedding", {tensor({1}, {4}), tensor({4, 1}, {1, 2, 3, 4})}, {}, {0}), Error);
}

// f9: the running variance takes the unbiased batch variance; momentum is the share of the old value.
TEST(OpValues, BatchNormalizationUpdatesRunningValues) {
  const auto outputs =
      run("batch_normalization",
          {tensor({4, 1}, {1, 2, 3, 6}), tensor({1}, {2}), tensor({1}, {0.5}), tensor({1}, {10}), tensor({1}, {20})},
          {{"epsilon", 0.5}, {"momentum", 0.9}});
  const double inverse = 1 / std::sqrt(3.5 + 0.5);  // mean 3, biased variance 14 / 4
  EXPECT_THAT(outputs[0].values, near({2 * -2 * inverse + 0.5, 2 * -1 * inverse + 0.5, 0.5, 2 * 3 * inverse + 0.5}));
  EXPECT_THAT(outputs[1].values, near({3}));
  EXPECT_THAT(outputs[2].values, near({inverse}));
  EXPECT_THAT(outputs[3].values, near({0.9 * 10 + 0.1 * 3}));
  EXPECT_THAT(outputs[4].values, near({0.9 * 20 + 0.1 * 14.0 / 3}));
}

TEST(OpValues, BatchNormalizationOfOneSampleStaysFinite) {
  const auto outputs =
      run("batch_normalization", {tensor({1, 1}, {5}), {}, tensor({1}, {0.25}), tensor({1}, {0}), tensor({1}, {1})},
          {{"momentum", 0.9}});
  EXPECT_THAT(outputs[0].values, near({0.25}));
  EXPECT_THAT(outputs[4].values, near({0.9}));
}

TEST(OpValues, Activations) {
  EXPECT_THAT(unary("gelu", {1, -1, 0}), near({0.8413447460685429, -0.15865525393145707, 0}));
  EXPECT_THAT(unary("gelu", {1, -1}, {{"approximate", true}}), near({0.8411919906082768, -0.15880800939172324}));
  EXPECT_THAT(unary("silu", {1, -2}), near({0.7310585786300049, -0.2384058440442351}));
  EXPECT_THAT(unary("selu", {1, -1}), near({1.0507009873554805, -1.1113307378125628}));
  EXPECT_THAT(unary("elu", {2, -1}, {{"alpha", 0.5}}), near({2, -0.31606027941427883}));
  EXPECT_THAT(unary("leaky_relu", {2, -1}), near({2, -0.01}));
  EXPECT_THAT(unary("sigmoid", {0, 1000, -1000}), near({0.5, 1, 0}));
  EXPECT_TRUE(std::isnan(unary("relu", {NAN})[0])) << "a NaN must not be hidden";
}

TEST(OpValues, ConvolutionCorrelatesAndPads) {
  const ReferenceTensor x = tensor({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}), w = tensor({1, 1, 2, 2}, {1, 10, 100, 1000});
  EXPECT_THAT(one("convolution", {x, w, tensor({1}, {0.5})}), near({5421.5, 6532.5}))
      << "the kernel is not turned round";
  // One row of zeros above, one column to the right.
  EXPECT_THAT(one("convolution", {x, w}, {{"padding", std::vector<std::int64_t>{1, 0, 0, 1}}}),
              near({2100, 3200, 300, 5421, 6532, 603}));
  EXPECT_THAT(one("convolution", {x, w}, {{"strides", std::vector<std::int64_t>{1, 2}}}), near({5421}));
  EXPECT_THAT(one("convolution", {x, tensor({1, 1, 1, 2}, {1, 10})}, {{"dilation", std::vector<std::int64_t>{1, 2}}}),
              near({31, 64}));
}

TEST(OpValues, GroupsSeeTheirOwnChannels) {
  const ReferenceTensor x = tensor({1, 4, 1}, {1, 2, 3, 4});
  EXPECT_THAT(one("convolution", {x, tensor({2, 2, 1}, {1, 10, 1, 10})}, {{"groups", 2}}), near({21, 43}));
}

TEST(OpValues, DeconvolutionSpreadsEachValue) {
  EXPECT_THAT(one("convolution_input_gradient",
                  {tensor({1, 1, 2}, {1, 2}), tensor({1, 1, 3}, {1, 10, 100}), tensor({1}, {0.5})},
                  {{"strides", std::vector<std::int64_t>{2}}, {"input_shape", std::vector<std::int64_t>{5}}}),
              near({1.5, 10.5, 102.5, 20.5, 200.5}));
}

TEST(OpValues, PoolingPads) {
  const ReferenceTensor x = tensor({1, 1, 3}, {-1, -2, -3});
  const Attributes padded{{"kernel", std::vector<std::int64_t>{2}},
                          {"strides", std::vector<std::int64_t>{2}},
                          {"padding", std::vector<std::int64_t>{1, 0}}};
  EXPECT_THAT(one("max_pooling", {x}, padded), near({-1, -2})) << "padding never wins";
  EXPECT_THAT(one("average_pooling", {x}, padded), near({-1, -2.5}));
  EXPECT_THAT(one("average_pooling", {x}, Attributes(padded).set("include_padding", true)), near({-0.5, -2.5}));
}

TEST(OpValues, MaxPoolingGivesTiesToTheFirst) {
  const ReferenceTensor x = tensor({1, 1, 4}, {7, 7, 7, 7}), y = tensor({1, 1, 2}, {7, 7}),
                        dy = tensor({1, 1, 2}, {1, 10});
  EXPECT_THAT(one("max_pooling_gradient", {x, y, dy}, {{"kernel", std::vector<std::int64_t>{2}}}), near({1, 0, 10, 0}));
}

TEST(OpValues, LocalResponseDividesAlphaByTheWindow) {
  const auto y = one("local_response_normalization", {tensor({1, 3, 1, 1}, {1, 2, 3})},
                     {{"size", 3}, {"alpha", 0.6}, {"beta", 0.5}, {"k", 2.0}});
  EXPECT_THAT(y, near({1 / std::sqrt(2 + 0.2 * 5), 2 / std::sqrt(2 + 0.2 * 14), 3 / std::sqrt(2 + 0.2 * 13)}));
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

TEST(OpValues, LstmGateOrderIsIfgo) {
  // One unit, one channel: rows of the weights are i, f, g, o.
  const auto outputs = run("lstm", {tensor({1, 2, 1}, {1, 2}), tensor({4, 1}, {0.1, 0.2, 0.3, 0.4}),
                                    tensor({4, 1}, {0.5, 0.6, 0.7, 0.8}), tensor({4}, {0.01, 0.02, 0.03, 0.04})});
  double h = 0, c = 0;
  for (const double x : {1.0, 2.0}) {
    c = sigmoid(0.2 * x + 0.6 * h + 0.02) * c + sigmoid(0.1 * x + 0.5 * h + 0.01) * std::tanh(0.3 * x + 0.7 * h + 0.03);
    h = sigmoid(0.4 * x + 0.8 * h + 0.04) * std::tanh(c);
  }
  EXPECT_NEAR(outputs[0].values[1], h, 1e-12);
  EXPECT_NEAR(outputs[1].values[9], c, 1e-12) << "the cell is the fifth part of the state";
}

TEST(OpValues, GruAppliesTheResetGateToTheHiddenBiasToo) {
  const auto y =
      one("gru", {tensor({1, 2, 1}, {1, 2}), tensor({3, 1}, {0.1, 0.2, 0.3}), tensor({3, 1}, {0.5, 0.6, 0.7}),
                  tensor({3}, {0.01, 0.02, 0.03}), tensor({3}, {0.1, 0.2, 0.3})});
  double h = 0;
  for (const double x : {1.0, 2.0}) {
    const double r = sigmoid(0.1 * x + 0.01 + 0.5 * h + 0.1), z = sigmoid(0.2 * x + 0.02 + 0.6 * h + 0.2);
    const double n = std::tanh(0.3 * x + 0.03 + r * (0.7 * h + 0.3));
    h = (1 - z) * n + z * h;
  }
  EXPECT_NEAR(y[1], h, 1e-12);
}

TEST(OpValues, ReverseReadsFromTheEnd) {
  const std::vector<ReferenceTensor> weights{tensor({4, 1}, {0.1, 0.2, 0.3, 0.4}),
                                             tensor({4, 1}, {0.5, 0.6, 0.7, 0.8})};
  const auto forwards = one("lstm", {tensor({1, 3, 1}, {3, 2, 1}), weights[0], weights[1]});
  const auto reversed = one("lstm", {tensor({1, 3, 1}, {1, 2, 3}), weights[0], weights[1]}, {{"reverse", true}});
  EXPECT_THAT(reversed, near({forwards[2], forwards[1], forwards[0]}));
}

TEST(OpValues, CausalAttentionSeesThePastAlone) {
  const ReferenceTensor q = tensor({1, 2, 1}, {1, 1}), k = tensor({1, 2, 1}, {0, std::log(3)}),
                        v = tensor({1, 2, 1}, {1, 5});
  EXPECT_THAT(one("attention", {q, k, v}), near({4, 4}));  // weights 1/4 and 3/4
  const auto causal = run("attention", {q, k, v}, {{"causal", true}});
  EXPECT_THAT(causal[0].values, near({1, 4}));
  EXPECT_THAT(causal[1].values, near({0, std::log(4)})) << "log-sum-exp of each row";
}

TEST(OpValues, Losses) {
  EXPECT_THAT(one("mean_squared_error", {tensor({2, 1}, {1, 4}), tensor({2, 1}, {0, 1})}), near({5}));
  EXPECT_THAT(one("huber", {tensor({2}, {0.5, 3}), tensor({2}, {0, 0})}, {{"delta", 1.0}}), near({(0.125 + 2.5) / 2}));
  EXPECT_THAT(one("binary_cross_entropy", {tensor({2}, {0.25, 1}), tensor({2}, {1, 0})}),
              near({(-std::log(0.25) - std::log(1e-7)) / 2}, 1e-7));
  EXPECT_THAT(one("binary_cross_entropy", {tensor({2}, {0, 800}), tensor({2}, {1, 0})}, {{"from_logits", true}}),
              near({(std::log(2) + 800) / 2}));
}

TEST(OpValues, AccuracyPutsTheSmallerIndexFirst) {
  const auto right = [](std::vector<double> logits, double label, std::int64_t k) {
    return one("top_k_accuracy", {tensor({1, 3}, std::move(logits)), tensor({1}, {label})}, {{"k", k}}, {1})[0];
  };
  EXPECT_EQ(right({1, 1, 0}, 0, 1), 1);
  EXPECT_EQ(right({1, 1, 0}, 1, 1), 0);
  EXPECT_EQ(right({1, 1, 0}, 1, 2), 1);
  EXPECT_EQ(right({3, 2, 1}, 2, 2), 0);
  EXPECT_EQ(right({0, NAN, 1}, 1, 3), 0) << "NaN is never right";
  EXPECT_EQ(right({NAN, 1, 0}, 1, 1), 0) << "nor does one beside it make the label the largest";
  EXPECT_THAT(
      one("binary_accuracy", {tensor({4}, {0.5, 0.4, 0.6, NAN}), tensor({4}, {1, 1, 1, 0})}, {{"threshold", 0.5}}),
      near({0.5}));
}

TEST(OpValues, TopKPutsTheFirstOfEqualsFirstAndNotANumberBeforeAll) {
  const ReferenceTensor x = tensor({1, 4}, {1, 3, 3, NAN});
  const auto largest = run("top_k", {x}, {{"k", 3}}), smallest = run("top_k", {x}, {{"k", 3}, {"largest", false}});
  EXPECT_THAT(largest[1].values, near({3, 1, 2}));
  EXPECT_THAT(smallest[1].values, near({3, 0, 1}));
  EXPECT_TRUE(std::isnan(largest[0].values[0]));
  EXPECT_EQ(largest[0].values[2], 3);
}

// A quarter of a pixel to the right: nothing stands beyond the last.
TEST(OpValues, WarpReadsBetweenPixels) {
  EXPECT_THAT(one("warp", {tensor({1, 1, 1, 2}, {10, 20}), tensor({1, 6}, {1, 0, 0.25, 0, 1, 0})}), near({12.5, 15}));
  EXPECT_THAT(one("warp", {tensor({1, 1, 2, 1}, {10, 20}), tensor({1, 6}, {1, 0, 0, 0, 1, 0.25})}), near({12.5, 15}));
}

// The middles of the edges stay, the corners are pulled in or pushed out: with d = 1 a place at r is read at
// r (1 + r^2) / 2.
TEST(OpValues, WarpBendsAlongTheRadius) {
  const ReferenceTensor image = tensor({1, 1, 1, 5}, {0, 1, 2, 3, 4});
  // Middles at -2 ... 2 of half a width of 2.5: r = 0.8, 0.4, 0, 0.4, 0.8.
  EXPECT_THAT(one("warp", {image, tensor({1, 7}, {1, 0, 0, 0, 1, 0, 1})}),
              near({2 - 2 * 0.82, 2 - 0.58, 2, 2 + 0.58, 2 + 2 * 0.82}));
  EXPECT_THAT(one("warp", {image, tensor({1, 7}, {1, 0, 0, 0, 1, 0, 0})}), near({0, 1, 2, 3, 4}));
}

TEST(OpValues, InverseExchangesRowsAndKnowsNoneOfASingularMatrix) {
  EXPECT_THAT(one("inverse", {tensor({1, 2, 2}, {0, 2, 4, 0})}), near({0, 0.25, 0.5, 0}));
  EXPECT_THAT(one("inverse", {tensor({3, 3}, {0, 0, 2, 4, 0, 0, 0, 5, 0})}), near({0, 0.25, 0, 0, 0, 0.2, 0.5, 0, 0}));
  const auto two = one("inverse", {tensor({2, 2, 2}, {1, 2, 2, 4, 2, 0, 0, 1})});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(two[i])) << i;
  EXPECT_EQ(two[4], 0.5);
}

TEST(OpValues, RunningMeanIsThatOfAllBatches) {
  const auto found = run("running_mean", {tensor({2}, {4, 8}), tensor({2}, {1, 2}), tensor({1}, {2})});
  EXPECT_THAT(found[0].values, near({2, 4}));  // two batches before, of which 1 and 2 are the means
  EXPECT_THAT(found[1].values, near({1.0 / 3}));
}

TEST(OpValues, RemaindersHaveTheSignOfOneOrTheOther) {
  const ReferenceTensor a = tensor({5}, {5.5, -5.5, 5.5, -5.5, 6}), b = tensor({5}, {2, 2, -2, -2, 2});
  EXPECT_THAT(one("binary", {a, b}, {{"function", "modulo"}}), near({1.5, 0.5, -0.5, -1.5, 0}));
  EXPECT_THAT(one("binary", {a, b}, {{"function", "fmod"}}), near({1.5, -1.5, 1.5, -1.5, 0}));
}

TEST(OpValues, ScaleAllScalesEach) {
  const auto scaled = run("scale_all", {tensor({}, {2}), tensor({2}, {1, 3}), tensor({1}, {5})});
  EXPECT_THAT(scaled[0].values, near({2, 6}));
  EXPECT_THAT(scaled[1].values, near({10}));
}

std::vector<double> gradientOfReduce(const char* function, const std::vector<double>& x) {
  ProgramBuilder builder(1, 1, true);
  const TensorId id = builder.parameter({.name = "x", .shape = {static_cast<std::int64_t>(x.size())}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {id}, {{"function", std::string(function)}}));
  differentiate(builder);
  Evaluator evaluator(builder.take());
  evaluator.value("x", TensorRole::parameter).values = x;
  evaluator.run();
  return evaluator.value("x", TensorRole::parameterGradient).values;
}

TEST(OpValues, EqualExtremesShareTheGradientAndProductsWithZerosHaveOne) {
  EXPECT_THAT(gradientOfReduce("maximum", {2, 1, 2}), near({0.5, 0, 0.5}));
  EXPECT_THAT(gradientOfReduce("minimum", {3, 1, 1, 1}), near({0, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
  EXPECT_THAT(gradientOfReduce("product", {2, 3, 4}), near({12, 8, 6}));
  EXPECT_THAT(gradientOfReduce("product", {0, 3, 4}), near({12, 0, 0}));
  EXPECT_THAT(gradientOfReduce("product", {0, 3, 0}), near({0, 0, 0}));
}

TEST(Noise, DropoutIsThePhiloxFormula) {
  const std::int64_t stream = noiseStream(7, "drop"), step = 11, first = 1000;
  const std::vector<double> y =
      one("dropout", {tensor({3, 5}, std::vector<double>(15, 1.0)), tensor({}, {11}), tensor({}, {1000})},
          {{"probability", 0.3}, {"stream", stream}});
  const Philox philox(0, static_cast<std::uint64_t>(stream));
  for (std::int64_t s = 0; s < 3; ++s)
    for (std::int64_t i = 0; i < 5; ++i) {
      const auto block = philox(static_cast<std::uint64_t>(i / 4),
                                (static_cast<std::uint64_t>(step) << 32) + static_cast<std::uint64_t>(first + s));
      const bool kept = Philox::toUniform(block[static_cast<std::size_t>(i % 4)]) >= 0.3f;
      EXPECT_DOUBLE_EQ(y[static_cast<std::size_t>(s * 5 + i)], kept ? 1 / 0.7 : 0) << s << " " << i;
    }
}

TEST(Noise, DropoutDoesNotDependOnHowTheBatchIsSplit) {
  const Attributes attributes{{"probability", 0.5}, {"stream", noiseStream(1, "drop")}};
  const auto part = [&](std::int64_t first, std::int64_t count) {
    return one("dropout",
               {tensor({count, 9}, std::vector<double>(static_cast<std::size_t>(count * 9), 1.0)), tensor({}, {4}),
                tensor({}, {static_cast<double>(first)})},
               attributes);
  };
  std::vector<double> joined = part(0, 3);
  const std::vector<double> rest = part(3, 5);
  joined.insert(joined.end(), rest.begin(), rest.end());
  EXPECT_EQ(part(0, 8), joined);
}

TEST(Noise, DropoutKeepsItsShareAndItsMean) {
  const std::vector<double> y =
      one("dropout", {tensor({64, 1000}, std::vector<double>(64000, 1.0)), tensor({}, {0}), tensor({}, {0})},
          {{"probability", 0.3}, {"stream", noiseStream(1, "drop")}});
  double sum = 0;
  for (double value : y) sum += value;
  EXPECT_NEAR(sum / 64000, 1.0, 0.02);  // five deviations: sqrt(0.3 / 0.7 / 64000) = 0.0026
  EXPECT_NE(one("dropout", {tensor({1, 64}, std::vector<double>(64, 1.0)), tensor({}, {0}), tensor({}, {0})},
                {{"probability", 0.5}, {"stream", 1}}),
            one("dropout", {tensor({1, 64}, std::vector<double>(64, 1.0)), tensor({}, {1}), tensor({}, {0})},
                {{"probability", 0.5}, {"stream", 1}}))
      << "another step has another mask";
}

TEST(Noise, NormalHasMeanZeroAndVarianceOne) {
  const std::vector<double> y =
      one("random", {tensor({}, {2}), tensor({}, {0})},
          {{"distribution", "normal"}, {"shape", std::vector<std::int64_t>{50, 800}}, {"stream", 9}});
  double mean = 0, square = 0;
  for (double value : y) mean += value / 40000, square += value * value / 40000;
  EXPECT_NEAR(mean, 0, 0.025);
  EXPECT_NEAR(square, 1, 0.04);
}

}  // namespace
}  // namespace loom
