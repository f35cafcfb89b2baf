// A remedy is worth its button only when the fault is gone afterwards: each is carried out here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/network/networks.h"

namespace loom {
namespace {

// What the document does with a remedy.
void carryOut(Network& network, const Problem& problem) {
  const Remedy& remedy = problem.remedy;
  Node* node = network.find(remedy.node.empty() ? problem.node : remedy.node);
  switch (remedy.kind) {
    case Remedy::Kind::setField:
      node->values[remedy.field] = remedy.value;
      break;
    case Remedy::Kind::removeField:
      node->values.erase(remedy.field);
      break;
    case Remedy::Kind::renameLayer:
      node->layer = remedy.value.get<std::string>();
      break;
    case Remedy::Kind::addNodes:
      network.nodes.insert(network.nodes.end(), remedy.nodes.begin(), remedy.nodes.end());
      network.edges.insert(network.edges.end(), remedy.edges.begin(), remedy.edges.end());
      break;
    case Remedy::Kind::addEdge:
      network.edges.push_back(remedy.edge);
      break;
    case Remedy::Kind::removeEdge: {
      const auto last = std::find(network.edges.rbegin(), network.edges.rend(), remedy.edge);
      ASSERT_NE(last, network.edges.rend());
      network.edges.erase(std::next(last).base());
      break;
    }
    case Remedy::Kind::none:
      FAIL() << "no remedy for: " << problem.message;
  }
}

struct Mended {
  const char* name;
  const char* text;
  const char* label;
};

class Remedies : public testing::TestWithParam<Mended> {};

TEST_P(Remedies, MakeTheDrawingSound) {
  Network network = drawn(GetParam().text);
  const Analysis before = analyse(network);
  ASSERT_FALSE(before.sound());
  EXPECT_EQ(before.problems[0].remedy.label, GetParam().label);
  carryOut(network, before.problems[0]);
  const Analysis after = analyse(network);
  EXPECT_TRUE(after.sound()) << after.problems[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    All, Remedies,
    testing::Values(
        Mended{"StrideOfTheShortcut", R"(
          x Input shape=[16,32,32]
          conv_a Convolution channels=32 stride=2 bias=false <- x
          bn_a BatchNormalization <- conv_a
          conv_s Convolution channels=32 kernel=1 bias=false <- x
          bn_s BatchNormalization <- conv_s
          add Add <- bn_a, bn_s)",
               "Set stride of conv_s to 2"},
        Mended{"ChannelsOfTheShortcut", R"(
          x Input shape=[16,8,8]
          conv_a Convolution channels=32 <- x
          conv_s Convolution channels=16 kernel=1 <- x
          add Add <- conv_a, conv_s)",
               "Set channels of conv_s to 32"},
        Mended{"ChannelsWithoutAShortcut", R"(
          x Input shape=[16,8,8]
          conv_a Convolution channels=32 <- x
          relu ReLU <- conv_a
          add Add <- relu, x)",
               "Set channels of conv_a to 16"},
        Mended{"PaddingOfTheMainPath", R"(
          x Input shape=[16,8,8]
          conv_a Convolution padding="valid" <- x
          add Add <- conv_a, x)",
               "Set padding of conv_a to same"},
        Mended{"OutputsOfTheDecoder", R"(
          x Input shape=[20]
          code Linear outputs=4 <- x
          back Linear outputs=10 <- code
          loss MeanSquaredError <- back; target: x)",
               "Set outputs of back to 20"},
        Mended{"ConcatenateOfTwoScales", R"(
          x Input shape=[3,16,16]
          a Convolution channels=4 stride=2 <- x
          b Convolution channels=8 <- x
          cat Concatenate <- a, b)",
               "Set stride of b to 2"},
        Mended{"ShapeOfATarget",
               "x Input shape=[10]\ny Input shape=[10] type=\"label\"\nl SoftmaxCrossEntropy <- x; target: y",
               "Set shape of y to 1"},
        Mended{"ShapeOfAConstant",
               "x Input shape=[10]\none Input shape=[1] source=\"constant\"\nl BinaryCrossEntropy <- x; target: one",
               "Set shape of one to 10"},
        Mended{"TypeOfALabel", "x Input shape=[10]\ny Input shape=[1]\nl SoftmaxCrossEntropy <- x; target: y",
               "Set type of y to label"},
        Mended{"WireOfATarget", "x Input shape=[10]\ny Input shape=[1] type=\"label\"\nl SoftmaxCrossEntropy <- x",
               "Wire y to l.target"},
        Mended{"LabelsOfALoss", "x Input shape=[10]\nl SoftmaxCrossEntropy <- x", "Add label Input"},
        Mended{"LabelsOfASequence", "x Input shape=[5,10]\nl SoftmaxCrossEntropy <- x", "Add label Input"},
        Mended{"LabelsBesideOneCalledY", "y Input shape=[10]\nl SoftmaxCrossEntropy <- y", "Add label Input"},
        Mended{"TargetOfARegression", "x Input shape=[10]\nf Linear outputs=3 <- x\nl MeanSquaredError <- f",
               "Add target Input"},
        Mended{"SlipInALayer", "x Input shape=[10]\na Dens <- x", "Make it Linear"},
        Mended{"TextForANumber", "x Input shape=[10]\na Linear outputs=\"10\" <- x", "Set outputs to 10"},
        Mended{"Circle", "x Input shape=[3]\na Add <- x, x2, b\nx2 Input shape=[3]\nb ReLU <- a",
               "Remove the wire from b to a"}),
    [](const auto& info) { return info.param.name; });

TEST(Remedies, AreNotInventedWhereNoSingleChangeHelps) {
  const Analysis analysis = analyse(drawn("x Input shape=[3,7,7]\np GlobalAveragePooling <- x\na Add <- p, x"));
  ASSERT_EQ(analysis.problems.size(), 1u);
  EXPECT_EQ(analysis.problems[0].remedy.kind, Remedy::Kind::none);
}

}  // namespace
}  // namespace loom
