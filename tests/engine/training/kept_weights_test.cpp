// Runs that trained well and were of no use afterwards, or learned nothing without a word.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/importer.h"
#include "engine/network/project.h"
#include "engine/training/trained_network.h"
#include "engine/training/trained_run.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

// A head of which no loss says anything: its features are looked at, or exported.
Json twoHeads(bool drawn = true) {
  Json project = perceptron(false);
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "features"}, {"layer", "Linear"}, {"outputs", 2}});
  network["edges"].push_back({"x", "features"});
  if (drawn) {
    network["nodes"].push_back({{"id", "seen"}, {"layer", "Output"}});
    network["edges"].push_back({"features", "seen"});
  }
  project["training"]["epochs"] = 1;
  return project;
}

TEST(KeptWeights, OfAHeadWithoutALossAreThoseThatItBeganWith) {
  for (const bool drawn : {true, false}) {
    SCOPED_TRACE(drawn);
    const Workshop workshop("two-heads", 48);
    const auto run = workshop.train(twoHeads(drawn), "run");
    auto tensors = run.tensors();
    ASSERT_EQ(tensors.count("features/weight"), 1u);
    EXPECT_EQ(tensors.count("features/weight#momentum"), 0u) << "it is not updated";
    TrainedNetwork trained(cpuBackend(), {.run = run.folder});
    EXPECT_TRUE(std::isfinite(trained.evaluate("training").loss));
    if (drawn) {
      const auto result =
          trained.predict({.files = {workshop.path() / "train.csv"}, .out = workshop.path() / "out.csv"});
      EXPECT_THAT(result.columns, testing::Contains(HasSubstr("seen")));
    }
    // Begun from that run, with its head, and resumed.
    Json again = twoHeads(drawn);
    again["training"].update({{"start_from", run.folder.path.string()}, {"seed", 99}});
    EXPECT_EQ(workshop.train(again, "again").tensors()["features/weight"], tensors["features/weight"]);
    Json longer = twoHeads(drawn);
    longer["training"]["epochs"] = 2;
    EXPECT_EQ(workshop.train(longer, "run", {.resume = true, .changed = true}).tensors()["features/weight"],
              tensors["features/weight"]);
  }
}

// What other tools get of it: its output beside the others, with the weights of the checkpoint; nothing of one that
// ends in the air.
TEST(KeptWeights, OfAHeadWithoutALossAreExported) {
  for (const bool drawn : {true, false}) {
    SCOPED_TRACE(drawn);
    const Workshop workshop("exported-heads", 48);
    const auto run = workshop.train(twoHeads(drawn), "run");
    const TrainedRun trained(run.folder);
    const ExportSource source{
        .project = trained.description().project, .network = trained.networkName(), .weights = trained.weights()};
    exportOnnx(source, workshop.path() / "m.onnx", 0, Carried::nothing);
    const Imported back = importFile({.file = workshop.path() / "m.onnx"});
    EXPECT_TRUE(back.report.complete());
    const auto& nodes = back.project.networks.at(0).nodes;
    EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.layer == "Linear"; }),
              drawn ? 3 : 2);
    const auto kept = run.tensors().at("features/weight");
    EXPECT_EQ(std::any_of(back.weights.begin(), back.weights.end(),
                          [&](const ImportedWeight& weight) { return weight.values == kept; }),
              drawn);
    const auto script = exportPyTorch(source, workshop.path() / "m.py").at(0);
    EXPECT_EQ(readFile(script).find("features") != std::string::npos, drawn);
  }
}

Json normalised(std::int64_t accumulate) {
  Json project = perceptron(false);
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "bn"}, {"layer", "BatchNormalization"}});
  network["edges"] =
      Json::parse(R"([["x","fc1"],["fc1","bn"],["bn","relu"],["relu","fc2"],["fc2","loss"],["y","loss.target"]])");
  std::erase_if(network["nodes"].get_ref<Json::array_t&>(), [](const Json& node) { return node["id"] == "accuracy"; });
  project["training"].update({{"batch", 4}, {"accumulate", accumulate}, {"epochs", 1}});
  return project;
}

TEST(LoneStatistics, AreTold) {
  const Workshop workshop("lone", 48);
  const auto warned = [&](const Json& project, const char* name) {
    std::string all;
    for (const Event& event : workshop.train(project, name).of("warning"))
      all += event.body["message"].get<std::string>();
    return all;
  };
  EXPECT_THAT(warned(normalised(4), "passes"),
              testing::AllOf(HasSubstr("'bn' sees in a pass of the network one number a channel"),
                             HasSubstr("LayerNormalization")));
  EXPECT_EQ(warned(normalised(2), "fewer"), "");
  Json rest = normalised(1);
  rest["training"]["batch"] = 47;
  EXPECT_THAT(warned(rest, "rest"), HasSubstr("in the last batch, of 1"));
  rest["training"]["drop_last"] = true;
  EXPECT_EQ(warned(rest, "dropped"), "");
  // As many ranks as a batch has samples; or ranks times passes.
  Json ranks = normalised(1);
  ranks["training"]["virtual_ranks"] = 4;
  EXPECT_THAT(warned(ranks, "ranks"), HasSubstr("'bn' sees in a pass"));
  ranks = normalised(2);
  ranks["training"]["virtual_ranks"] = 2;
  EXPECT_THAT(warned(ranks, "both"), HasSubstr("'bn' sees in a pass"));
  ranks["training"]["batch"] = 8;
  EXPECT_EQ(warned(ranks, "two each"), "");
  const auto checked = [](const Json& project) {
    std::string all;
    for (const Problem& problem : checkProject(readProject(project.dump(), "p.loom").project)) all += problem.message;
    return all;
  };
  EXPECT_THAT(checked(normalised(4)), HasSubstr("'bn' sees in a pass"));
  EXPECT_THAT(checked(normalised(2)), testing::Not(HasSubstr("in a pass")));
}

// What computes a sample must not depend on how many there are beside it: else one rank and several drift apart.
TEST(Ranks, OfAnyNumberTakeTheSameWay) {
  const Workshop workshop("same-way");
  std::mt19937 random(3);
  std::string csv;
  for (int i = 0; i < 144; ++i) csv += fmt::format("x__{},", i);
  csv += "y:label\n";
  for (int row = 0; row < 120; ++row) {
    const int label = static_cast<int>(random() % 4);
    for (int i = 0; i < 144; ++i)
      csv += fmt::format("{:.3f},", static_cast<double>(random() % 1000) / 1000 + (i % 12 / 3 == label ? 1 : 0));
    csv += fmt::format("{}\n", label);
  }
  workshop.write("train.csv", csv);
  Json project = parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [1, 12, 12]},
                {"id": "c1", "layer": "Convolution", "channels": 16, "kernel": [3, 3]}, {"id": "r1", "layer": "ReLU"},
                {"id": "c2", "layer": "Convolution", "channels": 32, "kernel": [3, 3]}, {"id": "r2", "layer": "ReLU"},
                {"id": "p", "layer": "MaxPooling", "kernel": [2, 2]},
                {"id": "fc", "layer": "Linear", "outputs": 4}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
                {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
      "edges": [["x", "c1"], ["c1", "r1"], ["r1", "c2"], ["c2", "r2"], ["r2", "p"], ["p", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"epochs": 30, "batch": 60, "max_steps": 50, "optimizer": {"name": "Momentum", "learning_rate": 0.02}}})",
                           "drift");
  std::vector<double> one;
  for (const int ranks : {1, 2, 3, 4}) {
    project["training"]["virtual_ranks"] = ranks;
    const auto losses = workshop.train(project, fmt::format("run{}", ranks)).series("step", "loss");
    ASSERT_EQ(losses.size(), 50u);
    if (one.empty()) one = losses;
    for (std::size_t step = 0; step < 50; ++step)
      EXPECT_NEAR(losses[step] / one[step], 1, 1e-5) << ranks << " ranks, step " << step + 1;
  }
}

}  // namespace
}  // namespace loom
