#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/philox.h"
#include "tests/engine/network/networks.h"
#include "tests/engine/program/gradient_check.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> results(const Program& program) {
  std::vector<std::string> names;
  for (const NamedResult& result : program.results)
    names.push_back(std::string(toString(result.kind)) + " " + result.name);
  return names;
}

bool hasInput(const Program& program, std::string_view name) {
  return program.findTensor(name, TensorRole::input) != kNoTensor;
}

const Network& branching() {
  static const Network network = drawn(R"(
    x Input shape=[4]
    fc Linear outputs=3 <- x
    aside Linear outputs=5 <- x
    y Input shape=[1] type="label"
    loss SoftmaxCrossEntropy <- fc; target: y
    accuracy Accuracy <- fc; target: y)");
  return network;
}

TEST(Lower, ForTrainingKeepsWhatLeadsToAResult) {
  const Program program = lower(branching(), {.batch = 6, .training = true});
  EXPECT_THAT(results(program), ElementsAre("loss loss", "metric accuracy"));
  EXPECT_EQ(program.parameters.size(), 2u);
  EXPECT_EQ(program.batch, 6);
  EXPECT_EQ(program.tensor(program.findTensor("x", TensorRole::input)).shape, (Shape{6, 4}));
  EXPECT_EQ(program.tensor(program.findTensor("y", TensorRole::input)).type, DataType::i32);
}

TEST(Lower, ForEvaluationAnswersLooseEndsToo) {
  const Program program = lower(branching(), {.batch = 2});
  EXPECT_THAT(results(program), ElementsAre("loss loss", "metric accuracy", "output aside"));
}

TEST(Lower, ForPredictionLeavesOutLossesAndTargets) {
  const Program program = lowerForPrediction(branching(), {.batch = 2});
  EXPECT_THAT(results(program), ElementsAre("output fc"));
  EXPECT_FALSE(hasInput(program, "y"));
  EXPECT_TRUE(hasInput(program, "x"));
  EXPECT_EQ(program.parameters.size(), 2u);
}

TEST(Lower, ForPredictionWithoutALossAnswersTheEnds) {
  const Program program = lowerForPrediction(drawn("x Input shape=[4]\na Tanh <- x\nb ReLU <- x\nc Add <- a, b\ny "
                                                   "Input shape=[1] type=\"label\"\nm Accuracy <- c; target: y"),
                                             {});
  EXPECT_THAT(results(program), ElementsAre("output c"));
}

TEST(Lower, NamesParametersByTheNodeOrWhatItShares) {
  const Program program = lower(
      drawn("x Input shape=[4]\na Linear outputs=3 <- x\nb Linear outputs=3 shares=\"a\" <- x\nc Add <- a, b"), {});
  std::vector<std::string> names;
  for (const Parameter& parameter : program.parameters) names.push_back(parameter.name);
  EXPECT_THAT(names, ElementsAre("a/weight", "a/bias"));
  for (const Operation& operation : program.operations) EXPECT_FALSE(operation.origin.empty());
}

TEST(Lower, RefusesWhatIsNotSound) {
  try {
    lower(drawn("x Input shape=[1,3,3]\nc Convolution kernel=5 padding=\"valid\" <- x"), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badProject);
    EXPECT_THAT(error.what(), HasSubstr("network 'main': c: the kernel is 5×5, but the input is only 3×3"));
  }
}

TEST(Lower, DropoutDropsInTrainingOnly) {
  const Network network = textClassifier();
  const auto drops = [](const Program& program) {
    return std::count_if(program.operations.begin(), program.operations.end(),
                         [](const Operation& operation) { return operation.op->name == "dropout"; });
  };
  EXPECT_EQ(drops(lower(network, {.training = true})), 1);
  EXPECT_EQ(drops(lower(network, {.training = false})), 0);
  EXPECT_EQ(drops(lowerForPrediction(network, {.training = true})), 0);
}

// Whole networks by finite differences: that gradients meet where paths part and join again.
void labels(Evaluator& evaluator, std::uint64_t below) {
  for (std::size_t id = 0; id < evaluator.program().tensors.size(); ++id) {
    const Tensor& tensor = evaluator.program().tensors[id];
    if (tensor.role != TensorRole::input || tensor.type != DataType::i32) continue;
    auto& values = evaluator.value(static_cast<TensorId>(id)).values;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(Philox(3, tensor.name).below(below, i));
  }
}

void expectGradient(const Network& network, std::uint64_t classes) {
  const GradientCheck check = checkGradients(lower(network, {.batch = 2, .training = true}),
                                             [&](Evaluator& evaluator) { labels(evaluator, classes); },
                                             {.tolerance = 1e-5, .elementsPerTensor = 4});
  EXPECT_TRUE(check.passed) << check.message;
  EXPECT_GT(check.checked, 0);
  EXPECT_GE(check.flowing, static_cast<std::int64_t>(lower(network, {.training = true}).parameters.size()) -
                               std::count_if(network.nodes.begin(), network.nodes.end(), [](const Node& node) {
                                 return node.layer == "BatchNormalization";
                               }) * 2);
}

TEST(WholeNetworks, HaveTheirGradientTextClassifier) {
  expectGradient(textClassifier(), 50);
}

TEST(WholeNetworks, HaveTheirGradientTransformer) {
  expectGradient(characterTransformer(), 30);
}

TEST(WholeNetworks, HaveTheirGradientResidual) {
  expectGradient(drawn(R"(
    x Input shape=[2,6,6]
    a Convolution channels=4 stride=2 bias=false <- x
    an BatchNormalization <- a
    ar SiLU <- an
    b Convolution channels=4 bias=false <- ar
    bn BatchNormalization <- b
    s Convolution channels=4 kernel=1 stride=2 bias=false <- x
    sn BatchNormalization <- s
    add Add <- bn, sn
    gap GlobalAveragePooling keep_axes=true <- add
    squeeze Linear outputs=4 <- gap
    gate Sigmoid <- squeeze
    wide Reshape shape=[4,1,1] <- gate
    weighed Multiply <- add, wide
    pool GlobalAveragePooling <- weighed
    fc Linear outputs=3 <- pool
    y Input shape=[1] type="label"
    loss SoftmaxCrossEntropy <- fc; target: y
    tiny Linear outputs=3 <- squeeze
    side SoftmaxCrossEntropy weight=0.3 <- tiny; target: y)"),
                 3);
}

TEST(WholeNetworks, HaveTheirGradientShared) {
  expectGradient(drawn(R"(
    a Input shape=[4]
    b Input shape=[4]
    left Linear outputs=3 initializer="xavier_uniform" <- a
    right Linear outputs=3 shares="left" initializer="xavier_uniform" <- b
    lt Tanh <- left
    both Add <- lt, right
    t Input shape=[3]
    loss HuberLoss <- both; target: t)"),
                 1);
}

}  // namespace
}  // namespace loom
