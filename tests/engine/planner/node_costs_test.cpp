// What each node costs in training: sums that can be told by hand, and what units add up to.
#include "engine/planner/node_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/planner/plan.h"

namespace loom {
namespace {

Project projectOf(const char* nodes, const char* edges, const char* units = "{}", int batch = 16) {
  const std::string text = std::string(R"({"loom": 1, "networks": {"main": {"nodes": )") + nodes + R"(, "edges": )" +
                           edges + R"(}}, "units": )" + units + R"(, "datasets": {"training": {"csv": "t.csv"}},
                           "training": {"batch": )" +
                           std::to_string(batch) + R"(, "optimizer": {"name": "Momentum", "learning_rate": 0.1}}})";
  ReadProject read = readProject(text, "test");
  for (const Problem& problem : read.problems) ADD_FAILURE() << problem.message;
  return std::move(read.project);
}

Project chain(int batch = 16, int width = 8) {
  return projectOf(
      (R"([{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": )" +
       std::to_string(width) +
       R"(}, {"id": "relu", "layer": "ReLU"}, {"id": "fc2", "layer": "Linear", "outputs": 2}, {"id": "y", "layer": "Input", "shape": [2]},
                    {"id": "loss", "layer": "MeanSquaredError"}])")
          .c_str(),
      R"([["x", "fc1"], ["fc1", "relu"], ["relu", "fc2"], ["fc2", "loss"], ["y", "loss.target"]])", "{}", batch);
}

const ProcessorModel kProcessor{.threads = 2, .operations = 1e9, .bandwidth = 1e9, .stage = 1e-6};

TEST(NodeCosts, AddUpToTheNetwork) {
  const Project project = chain();
  const NetworkCosts costs = planNodes(project, project.networks[0], kProcessor);
  EXPECT_EQ(costs.network, "main");
  EXPECT_EQ(costs.batch, 16);
  // Weight and bias, their gradients, one slot each of Momentum.
  const auto weights = [](double in, double out) { return (in * out + out) * 4 * 3; };
  EXPECT_EQ(costs.nodes.at("fc1").memory - costs.nodes.at("fc1").activations, weights(3, 8));
  EXPECT_EQ(costs.nodes.at("fc2").memory - costs.nodes.at("fc2").activations, weights(8, 2));
  EXPECT_EQ(costs.nodes.at("x").memory, 16 * 3 * 4);
  // What the second product's backward part reads of the ReLU.
  EXPECT_EQ(costs.nodes.at("relu").activations, 16 * 8 * 4);
  NodeCost sum;
  for (const auto& [id, cost] : costs.nodes) {
    EXPECT_GE(cost.seconds, 0) << id;
    sum.add(cost);
  }
  EXPECT_NEAR(sum.memory, costs.total.memory, 1e-9);
  EXPECT_NEAR(sum.seconds, costs.total.seconds, 1e-12);
  EXPECT_EQ(sum.activations, costs.total.activations);
  // No more than the plan of the whole has: what comes and goes in a step is in nobody's share.
  EXPECT_LE(costs.total.memory, static_cast<double>(planTraining(project).total.totalBytes()) * 1.5);
}

TEST(NodeCosts, GrowWithBatchAndWidth) {
  const Project small = chain(), batch = chain(64), wide = chain(16, 4096);
  const auto of = [&](const Project& project) { return planNodes(project, project.networks[0], kProcessor); };
  EXPECT_EQ(of(batch).nodes.at("relu").activations, 4 * of(small).nodes.at("relu").activations);
  EXPECT_GT(of(wide).nodes.at("fc1").seconds, 10 * of(small).nodes.at("fc1").seconds);
  EXPECT_GT(of(wide).nodes.at("fc1").seconds, of(wide).nodes.at("relu").seconds);
}

TEST(NodeCosts, OfAUnitAreThoseOfWhatStandsInside) {
  const Project project = projectOf(
      R"([{"id": "x", "layer": "Input", "shape": [8]}, {"id": "deep", "unit": "Dense", "repeat": 3}, {"id": "fc", "layer": "Linear", "outputs": 2},
         {"id": "y", "layer": "Input", "shape": [2]}, {"id": "loss", "layer": "MeanSquaredError"}])",
      R"([["x", "deep"], ["deep", "fc"], ["fc", "loss"], ["y", "loss.target"]])",
      R"({"Dense": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": 8}, {"id": "relu", "layer": "ReLU"}, {"id": "out", "layer": "Output"}],
          "edges": [["in", "fc"], ["fc", "relu"], ["relu", "out"]]}})");
  const NetworkCosts outer = planNodes(project, project.networks[0], kProcessor,
                                       {{"deep/0/fc", 1.0}, {"deep/2/fc", 2.0}, {"fc", 4.0}, {"gone", 8.0}});
  const NetworkCosts inner = planNodes(project, project.units[0], kProcessor);
  EXPECT_EQ(outer.nodes.at("deep").memory - outer.nodes.at("deep").activations, 3 * (8 * 8 + 8) * 4 * 3);
  EXPECT_NEAR(outer.nodes.at("deep").memory, inner.nodes.at("fc").memory + inner.nodes.at("relu").memory, 1e-9);
  EXPECT_EQ(inner.network, "main");
  EXPECT_EQ(outer.nodes.at("deep").measured, 3);
  EXPECT_EQ(outer.nodes.at("fc").measured, 4);
  EXPECT_EQ(outer.total.measured, 7);
  EXPECT_EQ(outer.step.measured, 7);
  // A unit's total is its own, the step is the network's.
  EXPECT_NEAR(inner.total.memory, outer.nodes.at("deep").memory, 1e-9);
  EXPECT_NEAR(inner.step.memory, outer.total.memory, 1e-9);
}

// What stands inside of one use adds up to what that use has in the drawing around it, also two units deep and in a
// group that repeats; other uses of the same unit are left out.
TEST(NodeCosts, OfOneUseAreThoseOfItsCard) {
  const Project project = projectOf(
      R"([{"id": "x", "layer": "Input", "shape": [8]}, {"id": "one", "unit": "Pair", "width": 16}, {"id": "two", "unit": "Pair", "width": 32, "repeat": 2, "group": "g"},
         {"id": "lone", "unit": "Dense", "width": 8}, {"id": "fc", "layer": "Linear", "outputs": 2},
         {"id": "y", "layer": "Input", "shape": [2]}, {"id": "loss", "layer": "MeanSquaredError"}])",
      R"([["x", "one"], ["one", "two"], ["two", "lone"], ["lone", "fc"], ["fc", "loss"], ["y", "loss.target"]], "groups": [{"id": "g", "repeat": 2}])",
      R"({"Dense": {"arguments": {"width": 8}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": "=width"}, {"id": "out", "layer": "Output"}],
          "edges": [["in", "fc"], ["fc", "out"]]},
          "Pair": {"arguments": {"width": 8}, "nodes": [{"id": "in", "layer": "Input"}, {"id": "a", "unit": "Dense", "width": "=width"}, {"id": "b", "unit": "Dense", "width": "=width*2"}, {"id": "out", "layer": "Output"}],
          "edges": [["in", "a"], ["a", "b"], ["b", "out"]]}})");
  const StepPlan plan(project, project.networks[0], kProcessor,
                      {{"one/a/fc", 1.0}, {"g/0/two/0/b/fc", 2.0}, {"g/1/two/1/b/fc", 3.0}, {"lone/fc", 4.0}});
  const NetworkCosts main = plan.of(project.networks[0]);
  const Network &dense = project.units[0], &pair = project.units[1];
  for (const char* use : {"one", "two"}) {
    const NetworkCosts inside = plan.of(pair, {{"main", use}});
    EXPECT_NEAR(inside.total.memory, main.nodes.at(use).memory, 1e-9) << use;
    EXPECT_NEAR(inside.total.seconds, main.nodes.at(use).seconds, 1e-12) << use;
    EXPECT_EQ(inside.total.measured, main.nodes.at(use).measured) << use;
    for (const char* deeper : {"a", "b"}) {
      const NetworkCosts inner = plan.of(dense, {{"main", use}, {"Pair", deeper}});
      EXPECT_NEAR(inner.nodes.at("fc").memory, inside.nodes.at(deeper).memory, 1e-9) << use << '/' << deeper;
      EXPECT_NEAR(inner.step.memory, main.total.memory, 1e-9);
    }
  }
  EXPECT_EQ(plan.of(pair, {{"main", "two"}}).nodes.at("b").measured, 5);
  EXPECT_EQ(plan.of(dense, {{"main", "lone"}}).total.measured, 4);
  EXPECT_EQ(plan.of(dense).total.measured, 10);  // all its uses, wherever they stand
  EXPECT_EQ(plan.of(pair).total.measured, 6);
  EXPECT_EQ(plan.of(pair, {{"main", "lone"}}).nodes.size(), 0U);
}

// What a plan predicts stands at its nodes; the update's time at those whose weights change, by their bytes.
TEST(NodeCosts, OfAPredictionAddUpToItsStep) {
  const Project project = chain();
  const std::vector<NodeTimes> predicted = {
      {.nodes = {{"fc1", 3.0}, {"relu", 1.0}, {"fc2", 0.5}, {"gone", 0.25}}, .rest = 0.75}};
  const StepPlan plan(project, project.networks[0], kProcessor, {}, predicted);
  const NetworkCosts costs = plan.of(project.networks[0]);
  const double fc1 = 3 * 8 + 8, fc2 = 8 * 2 + 2;  // weights
  EXPECT_NEAR(costs.nodes.at("fc1").seconds, 3 + fc1 / (fc1 + fc2), 1e-12);
  EXPECT_NEAR(costs.nodes.at("fc2").seconds, 0.5 + fc2 / (fc1 + fc2), 1e-12);
  EXPECT_EQ(costs.nodes.at("relu").seconds, 1);
  EXPECT_EQ(costs.nodes.at("loss").seconds, 0) << "no roofline is left";
  EXPECT_NEAR(costs.step.seconds, 5.5, 1e-12);
  EXPECT_NEAR(costs.total.seconds, 5.5, 1e-12);
  // What is no time stays what it was.
  EXPECT_EQ(costs.total.memory, planNodes(project, project.networks[0], kProcessor).total.memory);
}

TEST(NodeCosts, OfAPredictionAreThoseOfTheUpdatesThatRunTheNetwork) {
  Project project = chain();
  UpdateSpec other = project.training.updates.front();
  other.network = "another";
  project.training.updates = {other, project.training.updates.front(), project.training.updates.front()};
  const std::vector<NodeTimes> predicted = {
      {.nodes = {{"fc1", 100.0}}}, {.nodes = {{"fc1", 3.0}}}, {.nodes = {{"fc1", 2.0}}, .rest = 1.0}};
  EXPECT_NEAR(StepPlan(project, project.networks[0], kProcessor, {}, predicted).of(project.networks[0]).step.seconds, 6,
              1e-12);
}

TEST(NodeCosts, NameTheirLargestMeasured) {
  const Project project = chain();
  EXPECT_EQ(planNodes(project, project.networks[0], kProcessor, {{"fc1", 2.0}, {"relu", 3.0}}).largestMeasured, 3);
  EXPECT_EQ(planNodes(project, project.networks[0], kProcessor).largestMeasured, 0);
}

TEST(NodeTimes, AreReadFromWhatAPlanWrote) {
  const Json step = {{"stages",
                      {{{"layer", "fc1"}, {"update", 0}, {"times", 2.0}, {"seconds", 0.5}},
                       {{"layer", ""}, {"update", 0}, {"times", 1.0}, {"seconds", 0.25}},
                       {{"layer", "fc1"}, {"update", 1}, {"times", 0.5}, {"seconds", 4.0}},
                       {{"layer", "fc1"}, {"update", 0}, {"times", 1.0}, {"seconds", 0.125}}}}};
  const std::vector<NodeTimes> times = nodeTimes(step);
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].nodes, (std::map<std::string, double>{{"fc1", 1.125}}));
  EXPECT_EQ(times[0].rest, 0.25);
  EXPECT_EQ(times[1].nodes.at("fc1"), 2);
  for (const char* wrong : {"{}", R"({"stages": 3})", R"({"stages": [{"layer": 1}]})",
                            R"({"stages": [{"layer": "a", "update": 0, "times": 1, "seconds": -1}]})",
                            R"({"stages": [{"layer": "a", "update": 100000000, "times": 1, "seconds": 1}]})"})
    EXPECT_THROW(nodeTimes(parseJson(wrong, "wrong")), Error) << wrong;
}

}  // namespace
}  // namespace loom
