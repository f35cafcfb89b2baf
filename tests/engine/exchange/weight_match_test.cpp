// A file of weights laid over a network: by name, by path, by order, and never by guess.
#include "engine/exchange/weight_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace loom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::map<std::string, std::string> pairsOf(const WeightMatch& match, const std::vector<NamedShape>& parameters,
                                           const std::vector<NamedShape>& tensors) {
  std::map<std::string, std::string> pairs;
  for (const WeightPair& pair : match.pairs) pairs[parameters[pair.parameter].name] = tensors[pair.tensor].name;
  return pairs;
}

TEST(WeightMatch, EqualNamesBelongTogether) {
  const std::vector<NamedShape> parameters = {{"a/weight", {2, 3}}, {"a/bias", {2}}, {"b/weight", {2, 3}}};
  const std::vector<NamedShape> tensors = {
      {"b/weight", {2, 3}}, {"a/bias", {3}}, {"a/weight", {2, 3}}, {"c/weight", {1}}};
  const WeightMatch match = matchWeights(parameters, tensors);
  EXPECT_EQ(pairsOf(match, parameters, tensors),
            (std::map<std::string, std::string>{{"a/weight", "a/weight"}, {"b/weight", "b/weight"}}));
  ASSERT_EQ(match.shapeDiffers.size(), 1u);
  EXPECT_EQ(match.shapeDiffers[0].parameter, 1u);
  EXPECT_THAT(match.missing, IsEmpty());
  EXPECT_THAT(match.leftOver, testing::ElementsAre(3u));
  EXPECT_THAT(matchText(match, parameters, tensors),
              HasSubstr("2 weights matched, 1 of another shape, 0 missing, 1 left over"));
}

TEST(WeightMatch, ThePathOfPyTorchIsOurs) {
  const std::vector<NamedShape> parameters = {{"layer1/0/conv1/weight", {4, 3, 3, 3}},
                                              {"layer1/0/bn1/gamma", {4}},
                                              {"layer1/0/bn1/beta", {4}},
                                              {"layer1/0/bn1/mean", {4}},
                                              {"layer1/0/bn1/variance", {4}}};
  const std::vector<NamedShape> tensors = {{"layer1.0.bn1.bias", {4}},
                                           {"layer1.0.bn1.running_mean", {4}},
                                           {"layer1.0.bn1.running_var", {4}},
                                           {"layer1.0.bn1.weight", {4}},
                                           {"layer1.0.conv1.weight", {4, 3, 3, 3}}};
  const WeightMatch match = matchWeights(parameters, tensors);
  const auto pairs = pairsOf(match, parameters, tensors);
  EXPECT_EQ(pairs.size(), 5u);
  EXPECT_EQ(pairs.at("layer1/0/bn1/gamma"), "layer1.0.bn1.weight");
  EXPECT_EQ(pairs.at("layer1/0/bn1/beta"), "layer1.0.bn1.bias");
  EXPECT_EQ(pairs.at("layer1/0/bn1/variance"), "layer1.0.bn1.running_var");
}

// The names of torchvision's ResNets, in the order in which safetensors writes them, against a drawing's.
struct Resnet {
  std::vector<NamedShape> parameters, tensors;
  std::map<std::string, std::string> truth;
  void add(const std::string& ours, const std::string& theirs, const Shape& shape) {
    parameters.push_back({ours, shape});
    tensors.push_back({theirs, shape});
    truth[ours] = theirs;
  }
  void layer(const std::string& ours, const std::string& conv, const std::string& norm, const Shape& shape) {
    add(ours + "_conv/weight", conv + ".weight", shape);
    for (const auto& [own, other] :
         {std::pair{"gamma", "weight"}, {"beta", "bias"}, {"mean", "running_mean"}, {"variance", "running_var"}})
      add(ours + "_norm/" + own, norm + "." + other, {shape[0]});
  }
};

Resnet resnet50(bool shortcutFirst) {
  Resnet net;
  net.layer("stem", "conv1", "bn1", {64, 3, 7, 7});
  std::int64_t in = 64;
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = 64LL << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string ours = "stage" + std::to_string(stage) + "/" + std::to_string(block),
                        theirs = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      const auto shortcut = [&] {
        if (block == 0)
          net.layer(ours + "/project", theirs + ".downsample.0", theirs + ".downsample.1", {4 * width, in, 1, 1});
      };
      if (shortcutFirst) shortcut();
      net.layer(ours + "/a", theirs + ".conv1", theirs + ".bn1", {width, in, 1, 1});
      net.layer(ours + "/b", theirs + ".conv2", theirs + ".bn2", {width, width, 3, 3});
      net.layer(ours + "/c", theirs + ".conv3", theirs + ".bn3", {4 * width, width, 1, 1});
      if (!shortcutFirst) shortcut();
      in = 4 * width;
    }
  }
  net.add("head/weight", "fc.weight", {1000, 2048});
  net.add("head/bias", "fc.bias", {1000});
  std::sort(net.tensors.begin(), net.tensors.end(),
            [](const NamedShape& a, const NamedShape& b) { return a.name < b.name; });
  return net;
}

TEST(WeightMatch, ResNet50OfTorchvisionIsFoundByItsOrder) {
  const Resnet net = resnet50(false);
  const WeightMatch match = matchWeights(net.parameters, net.tensors);
  EXPECT_EQ(match.doubt, "");
  EXPECT_EQ(pairsOf(match, net.parameters, net.tensors), net.truth);
}

// Whatever is matched is right; where two would fit alike, it stops and says so.
TEST(WeightMatch, NothingIsGuessed) {
  const Resnet net = resnet50(true);
  const WeightMatch match = matchWeights(net.parameters, net.tensors);
  for (const auto& [ours, theirs] : pairsOf(match, net.parameters, net.tensors)) EXPECT_EQ(net.truth.at(ours), theirs);
  const std::vector<NamedShape> parameters = {{"first/weight", {3, 3}}, {"second/weight", {3, 3}}},
                                tensors = {{"left.weight", {3, 3}}, {"right.weight", {3, 3}}};
  const WeightMatch twins = matchWeights(parameters, tensors);
  EXPECT_THAT(twins.pairs, IsEmpty());
  EXPECT_THAT(twins.doubt, HasSubstr("left or right"));
  EXPECT_EQ(twins.missing.size(), 2u);
}

TEST(WeightMatch, AnotherNetworkIsNoMatch) {
  const Resnet net = resnet50(false);
  const std::vector<NamedShape> tensors = {
      {"a.weight", {64, 3, 7, 7}}, {"b.weight", {7, 7}}, {"c.weight", {8, 8}}, {"d.weight", {9, 9}}};
  EXPECT_THAT(matchWeights(net.parameters, tensors).pairs, IsEmpty());
}

TEST(WeightMatch, NumbersAreReadAsNumbers) {
  std::vector<NamedShape> parameters, tensors;
  for (int i = 0; i < 12; ++i) {
    parameters.push_back({"block" + std::string(1, static_cast<char>('a' + i)) + "/weight", {5, 5}});
    tensors.push_back({"features." + std::to_string(i) + ".weight", {5, 5}});
  }
  std::shuffle(tensors.begin(), tensors.end(), std::mt19937(3));
  const auto pairs = pairsOf(matchWeights(parameters, tensors), parameters, tensors);
  ASSERT_EQ(pairs.size(), 12u);
  EXPECT_EQ(pairs.at("blockc/weight"), "features.2.weight");
  EXPECT_EQ(pairs.at("blockk/weight"), "features.10.weight");
}

TEST(WeightMatch, HostileFilesEndSoon) {
  std::vector<NamedShape> parameters, tensors;
  for (int i = 0; i < 1900; ++i) {
    parameters.push_back({"p" + std::to_string(i) + "x/weight", {1}});
    tensors.push_back({"t" + std::to_string(i) + ".weight", {1}});
  }
  tensors.push_back({"", {1}});
  tensors.push_back({"....", {1}});
  EXPECT_EQ(matchWeights(parameters, tensors).pairs.size(), 1900u);
}

TEST(WeightMatch, OptimizersAndCountersAreNoWeights) {
  EXPECT_TRUE(isWeightName("conv1/weight"));
  EXPECT_FALSE(isWeightName("conv1/weight#momentum"));
  EXPECT_FALSE(isWeightName("bn1.num_batches_tracked"));
}

}  // namespace
}  // namespace loom
