// Worked numbers: that a layer computes what its help says, with every constant in a place where it shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/program/evaluator.h"
#include "engine/program/parameter_store.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

struct Answer {
  std::vector<double> output;
  std::map<std::string, std::vector<double>> states;
};

// The example on these inputs (by port); parameters by name.
Answer run(const LayerExample& example, std::int64_t batch, const std::vector<std::vector<double>>& inputs,
           const std::map<std::string, std::vector<double>>& parameters = {}, bool training = true) {
  const LoweredExample lowered = lowerExample(example, batch, training);
  Evaluator evaluator(lowered.program);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    evaluator.value(std::to_string(i), TensorRole::input).values = inputs[i];
  for (const auto& [name, values] : parameters) {
    const bool isState = evaluator.program().findTensor("it/" + name, TensorRole::state) != kNoTensor;
    evaluator.value("it/" + name, isState ? TensorRole::state : TensorRole::parameter).values = values;
  }
  evaluator.run();
  Answer result{evaluator.value(lowered.outputs[0]).values, {}};
  for (const Parameter& parameter : lowered.program.parameters)
    if (parameter.isState) result.states[parameter.name] = evaluator.value(parameter.name, TensorRole::state).values;
  return result;
}

void expectNear(const std::vector<double>& values, const std::vector<double>& wanted, double tolerance = 1e-9) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], wanted[i], tolerance) << "element " << i;
}

TEST(LinearLayer, MultipliesWithRowsOfOutputs) {
  const Answer result = run({"Linear", R"({"outputs": 2})", {{3}}}, 1, {{1, 2, 3}},
                            {{"weight", {1, 0, -1, 0.5, 0.5, 0.5}}, {"bias", {10, 20}}});
  expectNear(result.output, {8, 23});
}

TEST(ConvolutionLayer, SamePaddingPutsTheOddPixelAfter) {
  // Kernel 2 on 3 pixels: one pixel of padding, at the end.
  const Answer result = run({"Convolution", R"({"channels": 1, "kernel": 2, "bias": false})", {{1, 3}}}, 1, {{1, 2, 4}},
                            {{"weight", {1, 10}}});
  expectNear(result.output, {21, 42, 4});
}

TEST(DeconvolutionLayer, PaintsItsKernel) {
  const Answer result =
      run({"Deconvolution", R"({"channels": 1, "kernel": 3, "stride": 2, "padding": "valid"})", {{1, 2}}}, 1, {{1, 2}},
          {{"weight", {1, 10, 100}}, {"bias", {0.5}}});
  expectNear(result.output, {1.5, 10.5, 102.5, 20.5, 200.5});
}

TEST(BatchNormalizationLayer, KeepsTheOldShareOfTheRunningAverages) {
  // Two samples of one channel, 1 and 3: mean 2, variance 1, unbiased 2.
  const LayerExample example{"BatchNormalization", R"({"momentum": 0.75, "epsilon": 0.44})", {{1}}};
  const std::map<std::string, std::vector<double>> parameters{
      {"gamma", {3}}, {"beta", {1}}, {"mean", {4}}, {"variance", {8}}};
  const Answer trained = run(example, 2, {{1, 3}}, parameters);
  expectNear(trained.output, {1 - 3 / 1.2, 1 + 3 / 1.2});
  expectNear(trained.states.at("it/mean"), {0.75 * 4 + 0.25 * 2});
  expectNear(trained.states.at("it/variance"), {0.75 * 8 + 0.25 * 2});
  const Answer evaluated =
      run(example, 2, {{1, 3}}, {{"gamma", {3}}, {"beta", {1}}, {"mean", {4}}, {"variance", {1}}}, false);
  expectNear(evaluated.output, {1 - 3 * 3 / 1.2, 1 - 3 * 1 / 1.2});
  expectNear(evaluated.states.at("it/mean"), {4});
}

TEST(BatchNormalizationLayer, ZeroGammaBeginsAtZero) {
  const auto gammaOf = [](const char* values) {
    const LoweredExample lowered = lowerExample({"BatchNormalization", values, {{2}}}, 4, true);
    return lowered.program.findParameter("it/gamma")->initializer.kind;
  };
  EXPECT_EQ(gammaOf("{}"), InitializerKind::ones);
  EXPECT_EQ(gammaOf(R"({"zero_gamma": true})"), InitializerKind::zeros);
}

TEST(ConvolutionLayer, BeginsWithTheWeightsThatAreGiven) {
  const LayerExample example{
      "Convolution",
      R"({"channels": 2, "kernel": [1, 2], "padding": "valid", "initializer": "given", "weights": [1, -2, 0.5, 3]})",
      {{1, 1, 3}}};
  const LoweredExample lowered = lowerExample(example, 1, true);
  const Initializer& initializer = lowered.program.findParameter("it/weight")->initializer;
  ASSERT_EQ(initializer.kind, InitializerKind::given);
  EXPECT_EQ(*initializer.values, (std::vector<double>{1, -2, 0.5, 3}));
  ParameterStore store(1);
  store.ensure(lowered.program.parameters);
  std::vector<float> weight(4);
  store.at("it/weight").value.read(weight);
  EXPECT_THAT(weight, testing::ElementsAre(1, -2, 0.5f, 3));
}

TEST(SoftmaxCrossEntropyLayer, MultipliesTheScores) {
  const auto lossOf = [](const char* values, std::vector<double> scores) {
    return run({"SoftmaxCrossEntropy", values, {{3}, {1}}, {{}}, 3}, 1, {std::move(scores), {1}}).output[0];
  };
  EXPECT_NEAR(lossOf(R"({"scale": 0.25})", {4, -8, 2}), lossOf("{}", {1, -2, 0.5}), 1e-12);
}

TEST(DropoutLayer, DropsItsShareAndKeepsTheExpectedValue) {
  const LayerExample example{"Dropout", R"({"probability": 0.25})", {{20000}}};
  const std::vector<double> ones(20000, 1.0);
  const Answer trained = run(example, 1, {ones});
  const auto dropped = std::count(trained.output.begin(), trained.output.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(dropped) / 20000, 0.25, 0.015);
  for (double value : trained.output) EXPECT_TRUE(value == 0 || std::abs(value - 4.0 / 3) < 1e-12);
  expectNear(run(example, 1, {ones}, {}, false).output, ones);
}

TEST(NoiseInput, HasTheMeanAndTheSpreadOfItsFields) {
  const Answer normal = run({"Input", R"({"shape": [40000], "source": "normal", "deviation": 3})"}, 1, {});
  double sum = 0, squares = 0;
  for (double value : normal.output) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 40000, 0, 0.06);
  EXPECT_NEAR(std::sqrt(squares / 40000), 3, 0.06);
  const Answer uniform = run({"Input", R"({"shape": [40000], "source": "uniform", "low": 2, "high": 6})"}, 1, {});
  EXPECT_NEAR(*std::min_element(uniform.output.begin(), uniform.output.end()), 2, 0.01);
  EXPECT_NEAR(*std::max_element(uniform.output.begin(), uniform.output.end()), 6, 0.01);
}

TEST(RecurrentLayers, TheLastStateOfABackwardPassIsThatOfTheFirstStep) {
  // A GRU whose gates stand half open and whose candidate is tanh(x): h = (n + h) / 2.
  const std::map<std::string, std::vector<double>> parameters{
      {"weight_input", {0, 0, 1}}, {"weight_hidden", {0, 0, 0}}, {"bias", {0, 0, 0}}, {"bias_hidden", {0, 0, 0}}};
  const double a = std::tanh(0.3), b = std::tanh(-1.0);
  expectNear(run({"GRU", R"({"units": 1, "returns": "last"})", {{2, 1}}}, 1, {{0.3, -1.0}}, parameters).output,
             {(a / 2 + b) / 2});
  expectNear(run({"GRU", R"({"units": 1, "returns": "last", "direction": "backward"})", {{2, 1}}}, 1, {{0.3, -1.0}},
                 parameters)
                 .output,
             {(b / 2 + a) / 2});
}

TEST(Losses, MatchTheWorkedNumbers) {
  // Logits 2, 1, 0 with target 0: -log softmax = 0.4076059644; smoothed by 0.1 in both definitions.
  const auto loss = [](const char* values) {
    return run({"SoftmaxCrossEntropy", values, {{3}, {1}}, {{}}, 3}, 1, {{2, 1, 0}, {0}}).output;
  };
  expectNear(loss("{}"), {0.4076059644}, 1e-9);
  expectNear(loss(R"({"smoothing": 0.1})"), {0.5076059644}, 1e-9);
  expectNear(loss(R"({"smoothing": 0.1, "definition": "sony"})"), {0.5576059644}, 1e-9);
  expectNear(loss(R"({"smoothing": 0.1, "definition": "sony", "weight": 0.5})"), {0.5576059644 / 2}, 1e-9);
  expectNear(run({"BinaryCrossEntropy", "{}", {{2}, {2}}}, 1, {{0, 3}, {1, 0}}).output,
             {(std::log(2) + std::log1p(std::exp(3))) / 2});
  expectNear(run({"BinaryCrossEntropy", R"({"from": "probabilities"})", {{2}, {2}}}, 1, {{0.5, 0.8}, {1, 0}}).output,
             {(std::log(2) - std::log(0.2)) / 2});
  expectNear(run({"MeanSquaredError", "{}", {{2}, {2}}}, 1, {{1, 5}, {3, 2}}).output, {(4.0 + 9) / 2});
  expectNear(run({"HuberLoss", R"({"delta": 2})", {{2}, {2}}}, 1, {{1, 9}, {0, 2}}).output, {(0.5 + 2 * (7 - 1)) / 2});
}

// Of Keras 3 (class_weight=) and scikit-learn's log_loss(sample_weight=) times the mean weight: the sum of weight times
// loss over the number of samples.
TEST(Losses, CountEachSampleByTheWeightOfItsClass) {
  const double a = 0.4076059644, b = 2.4076059644;  // −log softmax of 2, 1, 0 at classes 0 and 2
  const auto loss = [](const char* layer, const char* values, std::vector<double> scores) {
    return run({layer, values, {{3}, {1}}, {{}}, 3}, 2, {std::move(scores), {0, 2}}).output;
  };
  const std::vector<double> scores{2, 1, 0, 2, 1, 0};
  expectNear(loss("SoftmaxCrossEntropy", R"({"class_weights": [0.5, 7, 3]})", scores), {(0.5 * a + 3 * b) / 2}, 1e-9);
  expectNear(loss("SoftmaxCrossEntropy", R"({"class_weights": [1, 1, 1], "smoothing": 0.1})", scores),
             loss("SoftmaxCrossEntropy", R"({"smoothing": 0.1})", scores), 1e-12);
  expectNear(
      loss("SoftmaxCrossEntropy", R"({"class_weights": [2, 2, 2], "smoothing": 0.2, "definition": "sony"})", scores),
      loss("SoftmaxCrossEntropy", R"({"smoothing": 0.2, "definition": "sony", "weight": 2})", scores), 1e-12);
  expectNear(loss("CategoricalCrossEntropy", R"({"class_weights": [0.5, 7, 3]})", {0.5, 0.25, 0.25, 0.5, 0.25, 0.25}),
             {-(0.5 * std::log(0.5) + 3 * std::log(0.25)) / 2}, 1e-9);
  expectNear(run({"BinaryCrossEntropy", R"({"class_weights": [0.6, 3]})", {{2}, {2}}}, 1, {{0, 3}, {1, 0}}).output,
             {(3 * std::log(2) + 0.6 * std::log1p(std::exp(3))) / 2});
  expectNear(run({"BinaryCrossEntropy", R"({"from": "probabilities", "class_weights": [0.6, 3]})", {{2}, {2}}}, 1,
                 {{0.5, 0.8}, {1, 0}})
                 .output,
             {(3 * std::log(2) - 0.6 * std::log(0.2)) / 2});
}

TEST(Metrics, MatchTheWorkedNumbers) {
  const std::vector<std::vector<double>> data{{3, 1, 2, /**/ 1, 3, 2, /**/ 2, 2, 1},
                                              {0, 2, 1}};  // right; second; a tie that 0 wins
  expectNear(run({"Accuracy", "{}", {{3}, {1}}, {{}}, 3}, 3, data).output, {1.0 / 3});
  expectNear(run({"Error", "{}", {{3}, {1}}, {{}}, 3}, 3, data).output, {2.0 / 3});
  expectNear(run({"TopKAccuracy", R"({"k": 2})", {{3}, {1}}, {{}}, 3}, 3, data).output, {1.0});
  expectNear(run({"BinaryAccuracy", "{}", {{2}, {2}}}, 2, {{1, -1, 2, 0.5}, {1, 0, 0, 1}}).output, {0.75});
  expectNear(
      run({"BinaryAccuracy", R"({"from": "probabilities", "threshold": 0.7})", {{2}, {2}}}, 1, {{0.6, 0.8}, {1, 1}})
          .output,
      {0.5});
}

}  // namespace
}  // namespace loom
