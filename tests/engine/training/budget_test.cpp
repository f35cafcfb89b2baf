// memory_budget: less memory, the same training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

// Eight products with a ReLU behind each and a normalisation in the middle.
Json deep() {
  Json project = perceptron();
  Json nodes = Json::array(), edges = Json::array();
  nodes.push_back({{"id", "x"}, {"layer", "Input"}, {"shape", {3}}});
  std::string last = "x";
  const auto follow = [&](const std::string& id, Json node) {
    node["id"] = id;
    nodes.push_back(std::move(node));
    edges.push_back({last, id});
    last = id;
  };
  for (int i = 0; i < 8; ++i) {
    follow(fmt::format("fc{}", i), {{"layer", "Linear"}, {"outputs", 32}});
    if (i % 3 == 1) follow(fmt::format("bn{}", i), {{"layer", "BatchNormalization"}});
    follow(fmt::format("relu{}", i), {{"layer", "ReLU"}});
  }
  follow("head", {{"layer", "Linear"}, {"outputs", 3}});
  nodes.push_back({{"id", "y"}, {"layer", "Input"}, {"shape", {1}}, {"type", "label"}});
  nodes.push_back({{"id", "loss"}, {"layer", "SoftmaxCrossEntropy"}});
  edges.push_back({last, "loss"});
  edges.push_back({"y", "loss.target"});
  project["networks"] = {{"main", {{"nodes", nodes}, {"edges", edges}}}};
  return project;
}

TEST(MemoryBudget, ChangesNoBitOfATraining) {
  const Workshop workshop("budget");
  Json project = deep();
  const auto kept = workshop.train(project, "kept");
  ASSERT_EQ(kept.of("plan").size(), 1u);
  EXPECT_EQ(kept.of("plan")[0].body["updates"][0]["recomputed"], 0);

  project["training"]["memory_budget"] = 0.001;
  const std::string refused = workshop.failure(project, "refused").what();
  EXPECT_THAT(refused, testing::AllOf(testing::HasSubstr("in network 'main'"),
                                      testing::HasSubstr("memory_budget is 0.001 MiB: set it to ")));
  project["training"]["memory_budget"] = std::stod(refused.substr(refused.find("set it to ") + 10));
  const auto again = workshop.train(project, "again");
  const Json plan = again.of("plan")[0].body["updates"][0];
  EXPECT_GT(plan["recomputed"], 0);
  EXPECT_LT(plan["arena_bytes"], kept.of("plan")[0].body["updates"][0]["arena_bytes"]);
  EXPECT_EQ(again.series("step", "loss"), kept.series("step", "loss"));
  EXPECT_EQ(again.series("validation", "loss"), kept.series("validation", "loss"));
  EXPECT_EQ(again.tensors(), kept.tensors());
}

}  // namespace
}  // namespace loom
