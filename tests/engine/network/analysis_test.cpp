#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Analysis, OfLeNetHasTheKnownShapesAndCosts) {
  const Analysis analysis = analyse(leNet());
  EXPECT_THAT(messages(analysis.problems), IsEmpty());
  EXPECT_EQ(analysis.nodes.at("conv1").outputs[0], (Shape{6, 28, 28}));
  EXPECT_EQ(analysis.nodes.at("pool2").outputs[0], (Shape{16, 5, 5}));
  EXPECT_EQ(analysis.nodes.at("conv2").inputs[0], (Shape{6, 14, 14}));
  EXPECT_EQ(analysis.nodes.at("conv1").parameters, 6 * 25 + 6);
  EXPECT_EQ(analysis.nodes.at("conv2").outputValues, 16 * 10 * 10);
  EXPECT_EQ(analysis.parameters, 61706);  // LeNet-5 with full connections, as many texts count it
  EXPECT_EQ(analysis.nodes.at("conv2").multiplyAdds, 16 * 10 * 10 * 6 * 25);
  EXPECT_EQ(analysis.nodes.at("fc1").multiplyAdds, 400 * 120);
  EXPECT_EQ(analysis.order.size(), 15u);
  EXPECT_EQ(analysis.order.front(), "x");
}

TEST(Analysis, OfResNet20HasThePublishedCounts) {
  const Analysis analysis = analyse(resNet20());
  EXPECT_THAT(messages(analysis.problems), IsEmpty());
  EXPECT_EQ(analysis.parameters, 272474);  // with projection shortcuts
  EXPECT_NEAR(analysis.multiplyAdds, 40.8e6, 0.4e6);
  EXPECT_EQ(analysis.nodes.at("pool").outputs[0], (Shape{64}));
}

TEST(Analysis, OfSequencesFollowsThem) {
  const Analysis text = analyse(textClassifier());
  EXPECT_THAT(messages(text.problems), IsEmpty());
  EXPECT_EQ(text.nodes.at("lstm").outputs[0], (Shape{12}));
  EXPECT_EQ(text.nodes.at("lstm").parameters, 2 * (4 * 6 * 8 + 4 * 6 * 6 + 4 * 6));
  const Analysis transformer = analyse(characterTransformer());
  EXPECT_THAT(messages(transformer.problems), IsEmpty());
  EXPECT_EQ(transformer.nodes.at("head").outputs[0], (Shape{16, 30}));
  EXPECT_EQ(transformer.nodes.at("att0").parameters, 4 * (12 * 12 + 12));
}

TEST(Analysis, CountsSharedParametersOnce) {
  const Analysis analysis = analyse(drawn(R"(
    a Input shape=[4]
    b Input shape=[4]
    left Linear outputs=3 <- a
    right Linear outputs=3 shares="left" <- b
    both Add <- left, right
    t Input shape=[3]
    loss MeanSquaredError <- both; target: t)"));
  EXPECT_THAT(messages(analysis.problems), IsEmpty());
  EXPECT_EQ(analysis.parameters, 15);
  EXPECT_EQ(analysis.nodes.at("right").parameters, 15);
}

TEST(Analysis, OrdersTopologicallyAndByTheFile) {
  const Analysis analysis = analyse(drawn(R"(
    add Add <- b, a
    b ReLU <- x
    a Tanh <- x
    x Input shape=[3])"));
  EXPECT_THAT(analysis.order, ElementsAre("x", "b", "a", "add"));
  EXPECT_THAT(analysis.problems, IsEmpty());
}

struct Faulty {
  const char* name;
  const char* text;
  const char* node;
  const char* message;
  Remedy::Kind remedy = Remedy::Kind::none;
  const char* label = "";
};

class FaultyDrawing : public testing::TestWithParam<Faulty> {};

TEST_P(FaultyDrawing, IsToldWithPlaceAndRemedy) {
  const Faulty& it = GetParam();
  const Analysis analysis = analyse(drawn(it.text));
  EXPECT_FALSE(analysis.sound());
  ASSERT_FALSE(analysis.problems.empty());
  const Problem& problem = analysis.problems[0];
  EXPECT_EQ(problem.node, it.node);
  EXPECT_THAT(problem.message, HasSubstr(it.message));
  EXPECT_EQ(problem.remedy.kind, it.remedy) << problem.remedy.label;
  EXPECT_EQ(problem.remedy.label, it.label);
  const auto errors = std::count_if(analysis.problems.begin(), analysis.problems.end(),
                                    [](const Problem& each) { return each.severity == Severity::error; });
  EXPECT_EQ(errors, 1) << "one fault, one error: " << analysis.problems[1].message;
}

constexpr auto kSet = Remedy::Kind::setField;
constexpr auto kCut = Remedy::Kind::removeEdge;
INSTANTIATE_TEST_SUITE_P(
    All, FaultyDrawing,
    testing::Values(
        Faulty{"UnknownLayer", "x Input shape=[1,8,8]\nc Convolutoin <- x\nr ReLU <- c", "c",
               "c: unknown layer 'Convolutoin': did you mean 'Convolution'?", Remedy::Kind::renameLayer,
               "Make it Convolution"},
        Faulty{"UnknownLayerByAlias", "x Input shape=[1,8,8]\nc Affin <- x", "c", "did you mean 'Linear'?",
               Remedy::Kind::renameLayer, "Make it Linear"},
        Faulty{"ARelativesName", "x Input shape=[8,8]\nr RNN <- x", "r",
               "r: RNN would be a plain recurrence without gates, which is not there: write \"LSTM\" or \"GRU\""},
        Faulty{"NoSuchLayer", "x Input shape=[1,8,8]\nc Frobnicate <- x", "c", "c: unknown layer 'Frobnicate'"},
        Faulty{"UnknownField", "x Input shape=[1,8,8]\nc Convolution chanels=3 <- x", "c",
               "c: unknown key 'chanels': did you mean 'channels'?", Remedy::Kind::removeField, "Remove chanels"},
        Faulty{"ValueOutOfRange", "x Input shape=[1,8,8]\nc Convolution channels=0 <- x\nr ReLU <- c", "c",
               "'channels' is 0, but 1 to 1048576", kSet, "Set channels to 1"},
        Faulty{"MissingShape", "x Input\nr ReLU <- x", "x", "x: 'shape' is missing"},
        Faulty{"KernelTooLarge", "x Input shape=[1,3,3]\nc Convolution kernel=5 padding=\"valid\" <- x\nr ReLU <- c",
               "c", "c: the kernel is 5×5, but the input is only 3×3", kSet, "Set kernel to [3, 3]"},
        Faulty{"DanglingFrom", "x Input shape=[3]\nr ReLU <- xx", "r",
               "the wire from 'xx' to 'r' begins at 'xx', but there is no such node", kCut, "Remove the wire"},
        Faulty{"UnknownPort", "x Input shape=[3]\ny Input shape=[3]\nl MeanSquaredError <- x; target: y; traget: y",
               "l", "l: MeanSquaredError has no input 'traget': did you mean 'target'?", kCut, "Remove the wire"},
        Faulty{"UnknownOutput", "x Input shape=[3]\nr ReLU <- x\ns ReLU <- x.values, r", "x",
               "x: Input has no output 'values'", kCut, "Remove the wire"},
        Faulty{"WireIntoInput", "x Input shape=[3]\ny Input shape=[3] <- x", "y", "y: Input takes no wire", kCut,
               "Remove the wire"},
        Faulty{"TwoWires", "x Input shape=[3]\ny Input shape=[3]\nr ReLU <- x, y", "r",
               "input takes one wire, but both x and y lead to it", kCut, "Remove the wire"},
        Faulty{"SameWireTwice", "x Input shape=[3]\na Add <- x, x\nb Add <- a, x", "a", "the wire from x stands twice",
               kCut, "Remove the wire"},
        Faulty{"Cycle", "x Input shape=[3]\na Add <- x, c\nb ReLU <- a\nc ReLU <- b", "c", "the wires go in a circle",
               kCut, "Remove the wire from b to c"},
        Faulty{"SelfLoop", "x Input shape=[3]\na Add <- x, a", "a", "a: the wires go in a circle: a → a", kCut,
               "Remove the wire from a to a"},
        Faulty{"MissingInput", "x Input shape=[3]\nz Input shape=[3]\nr ReLU", "r",
               "r: nothing is wired to input. It takes: values of any shape"},
        Faulty{"MissingInputOneCandidate", "x Input shape=[3]\nr ReLU", "r", "r: nothing is wired to input",
               Remedy::Kind::addEdge, "Wire x to r"},
        Faulty{"MissingTarget", "x Input shape=[10]\ny Input shape=[1] type=\"label\"\nl SoftmaxCrossEntropy <- x", "l",
               "l: nothing is wired to target", Remedy::Kind::addEdge, "Wire y to l.target"},
        Faulty{"OneInputOfAdd", "x Input shape=[3]\na Add <- x\nb ReLU <- a", "a",
               "a: input takes two and more wires, but only one leads to it"},
        Faulty{"LabelsIntoConvolution", "x Input shape=[1,8,8] type=\"label\"\nc Convolution <- x\nd ReLU <- c", "c",
               "c: input takes values, but x gives labels", kSet, "Set type of x to values"},
        Faulty{"ValuesIntoTarget", "x Input shape=[10]\ny Input shape=[1]\nl SoftmaxCrossEntropy <- x; target: y", "l",
               "target takes labels, but y gives values", kSet, "Set type of y to label"},
        Faulty{"ComputedTarget", "x Input shape=[10]\nt ReLU <- x\nl SoftmaxCrossEntropy <- x; target: t", "l",
               "labels come from an Input of that type", kCut, "Remove the wire"},
        Faulty{"ValuesIntoEmbedding", "x Input shape=[5]\ne Embedding <- x\nr ReLU <- e", "e",
               "input takes indices, but x gives values", kSet, "Set type of x to index"},
        Faulty{"BadName", "x Input shape=[5]\n2x ReLU <- x", "2x", "'2x' is no name for a node"},
        Faulty{"SharedShapes", "x Input shape=[4]\na Linear outputs=3 <- x\nb Linear outputs=2 shares=\"a\" <- x", "b",
               "b: its parameter 'a/weight' is 2×4, but a uses the same one as 3×4"},
        Faulty{"TooLarge", "x Input shape=[65536,65536]\nr ReLU <- x", "x",
               "has 4294967296 values for one sample, but at most 2147483647"},
        Faulty{"Uncountable", "x Input shape=[2147483647,2147483647,2147483647]", "x",
               "more elements than can be counted"}),
    [](const auto& info) { return info.param.name; });

TEST(Analysis, TellsAllProblemsErrorsFirst) {
  const Analysis analysis = analyse(drawn(R"(
    x Input shape=[1,28,28]
    loose ReLU <- x
    conv Convolution kernel=99 padding="valid" <- x
    fc Liner <- conv
    y Input shape=[1] type="label"
    loss SoftmaxCrossEntropy smoothing=2 <- fc; target: y)"));
  EXPECT_THAT(messages(analysis.problems),
              ElementsAre(HasSubstr("conv: the kernel is 99×99"), HasSubstr("fc: unknown layer 'Liner'"),
                          HasSubstr("loss: 'smoothing' is 2"), HasSubstr("loose: leads to no loss"),
                          HasSubstr("conv: 'kernel' is 99; usual is 1 to 31")));
}

TEST(Analysis, SaysWhichCycle) {
  const Analysis analysis =
      analyse(drawn("x Input shape=[3]\na Add <- x, c\nb ReLU <- a\nc ReLU <- b\nafter ReLU <- c"));
  EXPECT_THAT(messages(analysis.problems), ElementsAre(HasSubstr("a → b → c → a")));
  EXPECT_FALSE(analysis.nodes.at("after").known);
  EXPECT_THAT(analysis.order, ElementsAre("x"));
}

TEST(Analysis, KeepsWhatIsKnownAboveAFault) {
  const Analysis analysis =
      analyse(drawn("x Input shape=[1,8,8]\nc Convolution channels=4 <- x\nf Linear base_axis=5 <- c\nr ReLU <- f"));
  EXPECT_TRUE(analysis.nodes.at("c").known);
  EXPECT_FALSE(analysis.nodes.at("f").known);
  EXPECT_FALSE(analysis.nodes.at("r").known);
  EXPECT_EQ(analysis.nodes.at("f").inputs.size(), 1u);
  EXPECT_EQ(analysis.problems.size(), 1u);
}

TEST(Analysis, WarnsOfWhatIsHardlyMeant) {
  const Analysis twice = analyse(drawn(
      "x Input shape=[10]\ns Softmax <- x\ny Input shape=[1] type=\"label\"\nl SoftmaxCrossEntropy <- s; target: y"));
  EXPECT_TRUE(twice.sound());
  EXPECT_THAT(messages(twice.problems), ElementsAre(HasSubstr("contains a softmax already")));
  const Analysis sigmoid =
      analyse(drawn("x Input shape=[1]\ns Sigmoid <- x\ny Input shape=[1]\nl BinaryCrossEntropy <- s; target: y"));
  ASSERT_EQ(sigmoid.problems.size(), 1u);
  EXPECT_EQ(sigmoid.problems[0].remedy.label, "Set from to probabilities");
  const Analysis loose =
      analyse(drawn("x Input shape=[3]\nr ReLU <- x\ny Input shape=[3]\nl MeanSquaredError <- x; target: y"));
  EXPECT_THAT(messages(loose.problems), ElementsAre("r: leads to no loss or metric, so training leaves it out"));
}

TEST(Analysis, OfNothingIsSound) {
  const Analysis analysis = analyse(Network{.name = "main"});
  EXPECT_TRUE(analysis.sound());
  EXPECT_EQ(analysis.parameters, 0);
}

TEST(Analysis, GrowsLinearlyWithTheDrawing) {
  // Not a benchmark: a quadratic walk over 20,000 nodes would take minutes, and every kind of fault is repeated.
  std::string text = "x Input shape=[8]\n";
  for (int i = 0; i < 4000; ++i)
    text += fmt::format(
        "a{0} ReLU <- {1}\nb{0} Linaer <- a{0}\nc{0} ReLU <- nothing{0}\nd{0} Add <- d{0}, a{0}\ne{0} Tanh\n", i,
        i ? fmt::format("a{}", i - 1) : "x");
  const Network network = drawn(text);
  const auto begin = std::chrono::steady_clock::now();
  const Analysis analysis = analyse(network);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 20.0);
  EXPECT_EQ(analysis.problems.size(), 16000u);
}

TEST(DatasetInputs, AreThoseThatReadTheDataset) {
  const std::vector<DatasetInput> inputs = datasetInputs(drawn(R"(
    x Input shape=[1,8,8] variable="image"
    y Input shape=[1] type="label"
    z Input shape=[4] source="normal"
    broken Input shape="no")"));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].variable, "image");
  EXPECT_EQ(inputs[0].node, "x");
  EXPECT_EQ(inputs[1].variable, "y");
  EXPECT_EQ(inputs[1].type, DataType::i32);
}

}  // namespace
}  // namespace loom
