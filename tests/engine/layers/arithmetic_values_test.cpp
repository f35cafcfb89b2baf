// Worked numbers of the layers that other tools' drawings are made of: from the ONNX operators' published examples, or
// worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/program/evaluator.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

using Values64 = std::vector<double>;

// All outputs for one sample; parameters by name.
std::vector<Values64> outputsOf(const LayerExample& example, const std::vector<Values64>& inputs,
                                const std::map<std::string, Values64>& parameters = {}) {
  const LoweredExample lowered = lowerExample(example, 1, true);
  Evaluator evaluator(lowered.program);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    evaluator.value(std::to_string(i), TensorRole::input).values = inputs[i];
  for (const auto& [name, values] : parameters) evaluator.value("it/" + name, TensorRole::parameter).values = values;
  evaluator.run();
  std::vector<Values64> outputs;
  for (TensorId output : lowered.outputs) outputs.push_back(evaluator.value(output).values);
  return outputs;
}

void expectValues(const LayerExample& example, const std::vector<Values64>& inputs, const Values64& wanted,
                  const std::map<std::string, Values64>& parameters = {}, double tolerance = 1e-7) {
  SCOPED_TRACE(example.layer + " " + example.values);
  const Values64 found = outputsOf(example, inputs, parameters)[0];
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) || std::isinf(wanted[i]))
      EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(found[i]) : found[i] == wanted[i]) << "element " << i;
    else
      EXPECT_NEAR(found[i], wanted[i], tolerance) << "element " << i;
  }
}

Values64 counted(int count) {
  Values64 values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

TEST(FunctionLayers, ComputeWhatTheySay) {
  expectValues({"Clip", R"({"low": -1, "high": 2})", {{5}}}, {{-3, -1, 0.5, 2, 7}}, {-1, -1, 0.5, 2, 2});
  expectValues({"Clip", R"({"low": 0})", {{3}}}, {{-3, 5, kNan}}, {0, 5, kNan});
  expectValues({"ReLU6", "{}", {{3}}}, {{-1, 3, 9}}, {0, 3, 6});
  expectValues({"HardTanh", "{}", {{3}}}, {{-4, 0.25, 4}}, {-1, 0.25, 1});
  expectValues({"HardSigmoid", "{}", {{4}}}, {{-4, 0, 1.5, 4}}, {0, 0.5, 0.75, 1});
  expectValues({"HardSigmoid", R"({"alpha": 0.2})", {{2}}}, {{1, -1}}, {0.7, 0.3});
  expectValues({"HardSwish", "{}", {{4}}}, {{-4, -1, 1.5, 4}}, {0, -1.0 / 3, 1.125, 4});
  expectValues({"Softplus", "{}", {{3}}}, {{-1, 0, 1000}}, {0.313261687518, 0.693147180560, 1000});
  expectValues({"Softplus", R"({"alpha": 2})", {{1}}}, {{-1}}, {0.5 * 0.126928011043});
  expectValues({"Softsign", "{}", {{2}}}, {{-1, 3}}, {-0.5, 0.75});
  expectValues({"Erf", "{}", {{2}}}, {{0.5, -1}}, {0.520499877813, -0.842700792950});
  expectValues({"Round", "{}", {{5}}}, {{0.5, 1.5, 2.5, -2.5, 2.6}}, {0, 2, 2, -2, 3});
  expectValues({"Sign", "{}", {{4}}}, {{-3, 0, 4, kNan}}, {-1, 0, 1, kNan});
  expectValues({"Floor", "{}", {{2}}}, {{-1.5, 1.5}}, {-2, 1});
  expectValues({"Ceil", "{}", {{2}}}, {{-1.5, 1.5}}, {-1, 2});
  expectValues({"Mish", "{}", {{2}}}, {{1, -2}}, {0.865098388027, -0.252501489925});
  expectValues({"LogSigmoid", "{}", {{2}}}, {{-1000, 1}}, {-1000, -0.313261687518});
  expectValues({"CELU", R"({"alpha": 2})", {{2}}}, {{-1, 3}}, {2 * (std::exp(-0.5) - 1), 3});
  expectValues({"ThresholdedReLU", R"({"alpha": 2})", {{3}}}, {{1, 2, 2.5}}, {0, 0, 2.5});
  expectValues({"PReLU", "{}", {{2, 2}}}, {{-2, 3, -4, 5}}, {-0.2, 3, -2, 5}, {{"weight", {0.1, 0.5}}});
  expectValues({"CReLU", "{}", {{2}}}, {{-2, 3}}, {0, 3, 2, 0});
  expectValues({"LogSoftmax", "{}", {{2}}}, {{1000, 1000}}, {-0.693147180560, -0.693147180560});
}

TEST(ArithmeticLayers, StretchAsInNumPy) {
  expectValues({"Subtract", "{}", {{2}, {2, 2}}}, {{1, 2}, {10, 20, 30, 40}}, {-9, -18, -29, -38});
  expectValues({"Divide", "{}", {{2, 1}, {2}}}, {{1, 2}, {4, 8}}, {0.25, 0.125, 0.5, 0.25});
  expectValues({"Add", "{}", {{2, 1}, {2}, {1}}}, {{1, 2}, {10, 20}, {100}}, {111, 121, 112, 122});
  expectValues({"Power", "{}", {{3}, {3}}}, {{2, 3, 0}, {3, -1, 0}}, {8, 1.0 / 3, 1});
  expectValues({"Maximum", "{}", {{3}, {3}}}, {{1, kNan, 3}, {2, 2, kNan}}, {2, kNan, kNan});
  expectValues({"Minimum", "{}", {{3}, {3}}}, {{1, kNan, 3}, {2, 2, kNan}}, {1, kNan, kNan});
}

TEST(ArithmeticLayers, CompareAndChoose) {
  const std::vector<Values64> pair{{1, 2, 3, kNan}, {2, 2, 2, kNan}};
  const auto expect = [&](const char* layer, const Values64& wanted) {
    expectValues({layer, "{}", {{4}, {4}}}, pair, wanted);
  };
  expect("Equal", {0, 1, 0, 0});
  expect("NotEqual", {1, 0, 1, 1});
  expect("Greater", {0, 0, 1, 0});
  expect("GreaterEqual", {0, 1, 1, 0});
  expect("Less", {1, 0, 0, 0});
  expect("LessEqual", {1, 1, 0, 0});
  expectValues({"Greater", R"({"value": 1.5})", {{3}, {}}}, {{1, 1.5, 2}}, {0, 0, 1});
  const std::vector<Values64> truths{{0, 0, 2, -1}, {0, 3, 0, 0.5}};
  expectValues({"LogicalAnd", "{}", {{4}, {4}}}, truths, {0, 0, 0, 1});
  expectValues({"LogicalOr", "{}", {{4}, {4}}}, truths, {0, 1, 1, 1});
  expectValues({"LogicalXor", "{}", {{4}, {4}}}, truths, {0, 1, 1, 0});
  expectValues({"LogicalNot", "{}", {{4}}}, {truths[0]}, {1, 1, 0, 0});
  // What is not chosen may be infinite.
  expectValues({"Where", "{}", {{3}, {3}, {1}}}, {{1, 0, 2}, {5, kNan, kInf}, {-kInf}}, {5, -kInf, kInf});
}

TEST(ScalarLayers, KnowWhichSideTheNumberIsOn) {
  expectValues({"SubtractFromScalar", R"({"value": 5})", {{2}}}, {{1, 7}}, {4, -2});
  expectValues({"DivideScalarBy", R"({"value": 6})", {{2}}}, {{2, -3}}, {3, -2});
  expectValues({"ScalarToThePower", R"({"value": 2})", {{2}}}, {{3, -1}}, {8, 0.5});
  expectValues({"PowerScalar", R"({"value": 3})", {{2}}}, {{2, -2}}, {8, -8});
  expectValues({"PowerScalar", R"({"value": -1})", {{1}}}, {{4}}, {0.25});
  expectValues({"MaximumScalar", R"({"value": 1})", {{2}}}, {{0, 4}}, {1, 4});
  expectValues({"MinimumScalar", R"({"value": 1})", {{2}}}, {{0, 4}}, {0, 1});
}

TEST(ReductionLayers, TakeAxesTogether) {
  const std::vector<Values64> x{{1, 2, 3, 4, 5, 6}};
  expectValues({"ReduceSum", R"({"axes": [0]})", {{2, 3}}}, x, {5, 7, 9});
  expectValues({"ReduceMean", R"({"axes": [1]})", {{2, 3}}}, x, {2, 5});
  expectValues({"ReduceMax", "{}", {{2, 3}}}, x, {6});
  expectValues({"ReduceMin", R"({"axes": [-1]})", {{2, 3}}}, x, {1, 4});
  expectValues({"ReduceProduct", R"({"axes": [0]})", {{2, 3}}}, x, {4, 10, 18});
  expectValues({"ReduceL1", "{}", {{3}}}, {{-1, 2, -3}}, {6});
  expectValues({"ReduceL2", "{}", {{2}}}, {{3, -4}}, {5});
  expectValues({"ReduceSumSquare", "{}", {{2}}}, {{3, -4}}, {25});
  expectValues({"ReduceLogSumExp", "{}", {{2}}}, {{1000, 1000}}, {1000.693147180560});
  expectValues({"ReduceMax", "{}", {{3}}}, {{1, kNan, 3}}, {kNan});
}

TEST(ResizeLayer, GivesTheNumbersOfOnnx) {
  const std::vector<Values64> four{{1, 2, 3, 4}}, sixteen{counted(16)}, eight{counted(8)};
  expectValues({"Resize", R"({"mode": "linear"})", {{1, 2, 2}}}, four,
               {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  expectValues(
      {"Resize", R"({"mode": "linear", "coordinates": "align_corners"})", {{1, 2, 2}}}, four,
      {1, 4.0 / 3, 5.0 / 3, 2, 5.0 / 3, 2, 7.0 / 3, 8.0 / 3, 7.0 / 3, 8.0 / 3, 3, 10.0 / 3, 3, 10.0 / 3, 11.0 / 3, 4});
  expectValues({"Resize", R"({"mode": "linear", "scale": [0.6]})", {{1, 2, 4}}}, eight, {2.66666651, 4.33333349}, {},
               1e-6);
  expectValues({"Resize", R"({"scale": [0.6], "coordinates": "half_pixel"})", {{1, 2, 4}}}, eight, {1, 3});
  const Values64 cubic = outputsOf({"Resize", R"({"mode": "cubic"})", {{1, 4, 4}}}, sixteen)[0];
  const Values64 firstRow{0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375};
  for (std::size_t i = 0; i < firstRow.size(); ++i) EXPECT_NEAR(cubic[i], firstRow[i], 1e-9);
  expectValues(
      {"Resize", R"({"mode": "cubic", "scale": [0.8]})", {{1, 4, 4}}}, sixteen,
      {1.47119141, 2.78125, 4.08251953, 6.71142578, 8.02148438, 9.32275391, 11.91650391, 13.2265625, 14.52783203});
  // PyTorch's nearest: 5 out of 3 are 0 0 1 1 2.
  expectValues({"Resize", R"({"size": [5], "coordinates": "asymmetric", "rounding": "floor"})", {{1, 3}}}, {{7, 8, 9}},
               {7, 7, 8, 8, 9});
  expectValues({"Resize", R"({"scale": [2], "rounding": "prefer_ceil", "coordinates": "asymmetric"})", {{1, 2}}},
               {{7, 8}}, {7, 8, 8, 8});
  expectValues({"Unpooling", R"({"kernel": [2, 1]})", {{1, 2, 2}}}, four, {1, 2, 1, 2, 3, 4, 3, 4});
}

TEST(RearrangingLayers, PutValuesWhereTheySay) {
  const std::vector<Values64> three{{1, 2, 3}}, six{{1, 2, 3, 4, 5, 6}};
  expectValues({"Pad", R"({"pads": [1, 2], "value": 9})", {{3}}}, three, {9, 1, 2, 3, 9, 9});
  expectValues({"Pad", R"({"pads": [2, 1], "mode": "reflect"})", {{3}}}, three, {3, 2, 1, 2, 3, 2});
  expectValues({"Pad", R"({"pads": [2, 1], "mode": "replicate"})", {{3}}}, three, {1, 1, 1, 2, 3, 3});
  expectValues({"Pad", R"({"pads": [1, 2], "mode": "wrap"})", {{3}}}, three, {3, 1, 2, 3, 1, 2});
  expectValues({"Pad", R"({"pads": [-1, 1]})", {{3}}}, three, {2, 3, 0});
  // Top, left, bottom, right.
  expectValues({"Pad", R"({"pads": [1, 0, 0, 1]})", {{1, 1, 2}}}, {{5, 6}}, {0, 0, 0, 5, 6, 0});
  expectValues({"Tile", R"({"repeats": [2]})", {{3}}}, three, {1, 2, 3, 1, 2, 3});
  expectValues({"Flip", R"({"axes": [0]})", {{2, 3}}}, six, {4, 5, 6, 1, 2, 3});
  expectValues({"Roll", R"({"by": 1})", {{3}}}, three, {3, 1, 2});
  expectValues({"Gather", R"({"axis": 1, "indices": [2, 0, -1]})", {{2, 3}}}, six, {3, 1, 3, 6, 4, 6});
  expectValues({"ChannelShuffle", R"({"groups": 2})", {{6}}}, six, {1, 4, 2, 5, 3, 6});
  expectValues({"Expand", R"({"shape": [2, 1]})", {{3}}}, three, {1, 2, 3, 1, 2, 3});
  // One pixel of four channels of two images: DCR has the block's place first, CRD the channel.
  const std::vector<Values64> eight{counted(8)};
  expectValues({"DepthToSpace", "{}", {{8, 1, 1}}}, eight, {1, 2, 3, 4, 5, 6, 7, 8});
  expectValues({"DepthToSpace", R"({"order": "block_first"})", {{8, 1, 1}}}, eight, {1, 3, 5, 7, 2, 4, 6, 8});
  expectValues({"SpaceToDepth", "{}", {{2, 2, 2}}}, eight, {1, 5, 2, 6, 3, 7, 4, 8});
  expectValues({"SpaceToDepth", R"({"order": "channels_first"})", {{2, 2, 2}}}, eight, {1, 2, 3, 4, 5, 6, 7, 8});
}

TEST(OrderLayers, PutTheLargestFirst) {
  const auto top = outputsOf({"TopK", R"({"k": 3})", {{5}}}, {{2, 7, 7, 1, 9}});
  EXPECT_EQ(top[0], (Values64{9, 7, 7}));
  EXPECT_EQ(top[1], (Values64{4, 1, 2}));
  const auto least = outputsOf({"TopK", R"({"k": 2, "axis": 0, "largest": false})", {{3, 2}}}, {{3, 1, 2, 5, 1, 4}});
  EXPECT_EQ(least[0], (Values64{1, 1, 2, 4}));
  EXPECT_EQ(least[1], (Values64{2, 0, 1, 2}));
  expectValues({"ArgMax", R"({"axis": 0})", {{2, 3}}}, {{1, 5, 3, 4, 5, 6}}, {1, 0, 1});
  expectValues({"ArgMin", "{}", {{2, 3}}}, {{1, 5, 3, 4, 5, 0}}, {0, 2});
  expectValues({"OneHot", R"({"classes": 3})", {{2}}, {}, 3}, {{2, 0}}, {0, 0, 1, 1, 0, 0});
}

TEST(MatrixProductLayer, MultipliesMatrices) {
  expectValues({"MatrixProduct", "{}", {{2, 2}, {2, 1}}}, {{1, 2, 3, 4}, {5, 6}}, {17, 39});
  expectValues({"MatrixProduct", R"({"transpose_b": true})", {{1, 2}, {2, 2}}}, {{1, 2}, {1, 2, 3, 4}}, {5, 11});
}

TEST(SampleNormalizations, DivideByTheirRoots) {
  // 1 and 3: mean 2, variance 1; 10 and 30: mean 20, variance 100.
  expectValues({"InstanceNormalization", R"({"epsilon": 0.44})", {{2, 2}}}, {{1, 3, 10, 30}},
               {1 - 2 / 1.2, 1 + 2 / 1.2, -10 / std::sqrt(100.44), 10 / std::sqrt(100.44)},
               {{"gamma", {2, 1}}, {"beta", {1, 0}}});
  // One group over all: mean 11, variance 131.5.
  const double root = std::sqrt(132);
  expectValues({"GroupNormalization", R"({"groups": 1, "epsilon": 0.5})", {{4}}}, {{1, 3, 10, 30}},
               {-10 / root, -8 / root, -1 / root, 19 / root + 1}, {{"gamma", {1, 1, 1, 1}}, {"beta", {0, 0, 0, 1}}});
  expectValues({"RMSNormalization", R"({"epsilon": 0.5})", {{2}}}, {{1, 4}}, {3 / 3.0, 4 / 3.0}, {{"gamma", {3, 1}}});
  expectValues({"L2Normalization", "{}", {{2}}}, {{3, 4}}, {0.6, 0.8});
}

TEST(PoolingLayers, SumAndGlobalMaximum) {
  expectValues({"SumPooling", R"({"kernel": 2, "stride": 1})", {{1, 2, 2}}}, {{1, 2, 3, 4}}, {10});
  expectValues({"SumPooling", R"({"kernel": 2, "stride": 2, "padding": "same"})", {{1, 3}}}, {{1, 2, 3}}, {3, 3});
  expectValues({"GlobalMaxPooling", "{}", {{2, 2}}}, {{1, 2, 5, -4}}, {2, 5});
}

TEST(DepthwiseConvolutionLayer, KeepsChannelsApart) {
  expectValues({"DepthwiseConvolution", R"({"multiplier": 2, "kernel": [1], "bias": false})", {{2, 2}}}, {{1, 2, 3, 4}},
               {10, 20, 100, 200, 3000, 4000, 30000, 40000}, {{"weight", {10, 100, 1000, 10000}}});
}

TEST(ParameterLayer, GivesEverySampleTheSame) {
  const LoweredExample lowered = lowerExample({"Parameter", R"({"shape": [2]})", {}}, 3, true);
  Evaluator evaluator(lowered.program);
  evaluator.value("it/weight", TensorRole::parameter).values = {4, 5};
  evaluator.run();
  EXPECT_EQ(evaluator.value(lowered.outputs[0]).values, (Values64{4, 5, 4, 5, 4, 5}));
}

TEST(FurtherLosses, AreTheMeansTheyNote) {
  expectValues({"AbsoluteError", R"({"weight": 3})", {{2}, {2}}}, {{1, 5}, {2, 2}}, {6});
  expectValues({"EpsilonInsensitiveLoss", R"({"epsilon": 1.5})", {{2}, {2}}}, {{1, 5}, {2, 2}}, {0.75});
  expectValues({"HingeLoss", "{}", {{3}, {3}}}, {{2, 0.5, 0.5}, {1, 1, -1}}, {2.0 / 3});
  const Values64 p{0.5, 0.25, 0.25}, t{0.25, 0.25, 0.5};
  const double forward = 0.25 * std::log(0.5) + 0.5 * std::log(2.0),
               backward = 0.5 * std::log(2.0) + 0.25 * std::log(0.5);
  expectValues({"KLDivergence", R"({"from": "probabilities"})", {{3}, {3}}}, {p, t}, {forward});
  expectValues({"KLDivergence", R"({"from": "probabilities", "direction": "input"})", {{3}, {3}}}, {p, t}, {backward});
  const Values64 logs{std::log(0.5) + 7, std::log(0.25) + 7, std::log(0.25) + 7};
  expectValues({"KLDivergence", "{}", {{3}, {3}}}, {logs, t}, {forward});
  expectValues({"SoftTargetCrossEntropy", "{}", {{3}, {3}}}, {logs, t},
               {-(0.25 * std::log(0.5) + 0.75 * std::log(0.25))});
  expectValues({"CategoricalCrossEntropy", "{}", {{2, 3}, {2}}, {}, 3}, {{0.5, 0.25, 0.25, 0.25, 0.25, 0.5}, {0, 1}},
               {-0.5 * (std::log(0.5) + std::log(0.25))});
  expectValues({"TopNError", R"({"k": 1})", {{2, 3}, {2}}, {}, 3}, {{1, 2, 3, 1, 2, 3}, {2, 1}}, {0.5});
  expectValues({"BinaryError", "{}", {{4}, {4}}}, {{1, -1, 2, -3}, {1, 1, 1, 0}}, {0.25});
}

TEST(RandomLayers, HaveTheSpreadOfTheirFields) {
  const auto momentsOf = [](const LayerExample& example, const std::vector<Values64>& inputs = {}) {
    const Values64 values = outputsOf(example, inputs)[0];
    double sum = 0, squares = 0;
    for (double value : values) sum += value, squares += value * value;
    const double mean = sum / static_cast<double>(values.size());
    return std::pair{mean, std::sqrt(squares / static_cast<double>(values.size()) - mean * mean)};
  };
  const auto near = [](double mean, double deviation) {
    return testing::Pair(testing::DoubleNear(mean, 0.05), testing::DoubleNear(deviation, 0.05));
  };
  EXPECT_THAT(momentsOf({"RandomNormal", R"({"shape": [20000], "mean": 2, "deviation": 3})"}), near(2, 3));
  EXPECT_THAT(momentsOf({"RandomUniform", R"({"shape": [20000], "low": 2, "high": 5})"}), near(3.5, 3 / std::sqrt(12)));
  EXPECT_THAT(momentsOf({"RandomInteger", R"({"shape": [20000], "low": -1, "high": 2})"}), near(0, std::sqrt(2.0 / 3)));
  EXPECT_THAT(momentsOf({"RandomBernoulli", R"({"shape": [20000], "probability": 0.2})"}), near(0.2, 0.4));
  const std::vector<Values64> twos{Values64(20000, 2)};
  EXPECT_THAT(momentsOf({"GaussianNoise", R"({"deviation": 0.5})", {{20000}}}, twos), near(2, 0.5));
  EXPECT_THAT(momentsOf({"GaussianNoise", R"({"deviation": 0.5, "multiply": true})", {{20000}}}, twos), near(2, 1));
}

// Of many samples: what moves moves by whole pixels where it is told to, and every second one is mirrored.
TEST(ImageAugmentationLayer, MirrorsEverySecondImage) {
  const LayerExample example{"ImageAugmentation", R"({"flip_horizontal": true})", {{1, 1, 3}}};
  const LoweredExample lowered = lowerExample(example, 400, true);
  Evaluator evaluator(lowered.program);
  Values64 images;
  for (int i = 0; i < 400; ++i) images.insert(images.end(), {1, 2, 4});
  evaluator.value("0", TensorRole::input).values = images;
  evaluator.run();
  const Values64& found = evaluator.value(lowered.outputs[0]).values;
  int mirrored = 0;
  for (std::size_t i = 0; i < 400; ++i) {
    const bool turned = found[3 * i] > 3;
    mirrored += turned;
    EXPECT_NEAR(found[3 * i], turned ? 4 : 1, 1e-9);
    EXPECT_NEAR(found[3 * i + 1], 2, 1e-9);
  }
  EXPECT_NEAR(mirrored, 200, 40);
}

TEST(ImageAugmentationLayer, IsNothingInEvaluationAndScalesAboutTheMiddle) {
  const Values64 image{0, 0, 0, 0, 1, 0, 0, 0, 0};
  const LayerExample smaller{"ImageAugmentation", R"({"min_scale": 0.5, "max_scale": 0.5})", {{1, 3, 3}}};
  expectValues(smaller, {image},
               image);  // places two apart are read: the middle stays, all others lie outside or are 0
  const Values64 larger =
      outputsOf({"ImageAugmentation", R"({"min_scale": 2, "max_scale": 2})", {{1, 3, 3}}}, {image})[0];
  EXPECT_EQ(larger, (Values64{0.25, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 0.25}));
  const LoweredExample lowered = lowerExample(smaller, 2, false);
  EXPECT_TRUE(lowered.program.operations.empty());
}

}  // namespace
}  // namespace loom
