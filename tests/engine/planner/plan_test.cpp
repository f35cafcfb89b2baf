#include "engine/planner/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/engine/network/networks.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Project projectOf(Network network, const char* optimizer, Json settings) {
  Project project;
  project.networks = {std::move(network)};
  project.datasets.push_back({.name = "training", .csv = "train.csv"});
  UpdateSpec update = defaultUpdate();
  update.optimizer = Json::object();
  update.optimizer["name"] = optimizer;
  project.training.updates = {update};
  project.training.settings = std::move(settings);
  return project;
}

TEST(Plan, CountsWeightsSlotsAndArithmeticOfAStep) {
  const ProjectPlan plan = planTraining(projectOf(leNet(), "Adam", {{"batch", 32}}));
  ASSERT_EQ(plan.updates.size(), 1u);
  const CostPlan& cost = plan.updates[0].cost;
  EXPECT_EQ(cost.parameters, 61706);
  EXPECT_EQ(cost.weightBytes, 61706 * 4);
  EXPECT_EQ(cost.gradientBytes, 61706 * 4);
  EXPECT_EQ(cost.optimizerBytes, 61706 * 8);  // two moments
  EXPECT_EQ(cost.stateBytes, 0);
  EXPECT_EQ(cost.inputBytes, 32 * (784 + 1) * 4);
  EXPECT_NEAR(cost.forwardMultiplyAdds, 32 * analyse(leNet()).multiplyAdds, 1);
  EXPECT_GT(cost.backwardMultiplyAdds, 1.5 * cost.forwardMultiplyAdds);
  EXPECT_LT(cost.backwardMultiplyAdds, 2.1 * cost.forwardMultiplyAdds);
  // At least what must be kept for the backward part: the first activation alone is 6×28×28.
  EXPECT_GT(cost.activationBytes, 32 * 6 * 784 * 4);
  EXPECT_EQ(plan.total.totalBytes(), cost.totalBytes());
}

TEST(Plan, PassesShareTheMemoryAndAddUpTheWork) {
  const CostPlan once = planTraining(projectOf(leNet(), "SGD", {{"batch", 64}})).total;
  const ProjectPlan inPasses = planTraining(projectOf(leNet(), "SGD", {{"batch", 64}, {"accumulate", 4}}));
  EXPECT_EQ(inPasses.updates[0].shard, 16);
  EXPECT_EQ(once.optimizerBytes, 0);
  EXPECT_NEAR(static_cast<double>(inPasses.total.activationBytes) / static_cast<double>(once.activationBytes), 0.25,
              0.02);
  EXPECT_DOUBLE_EQ(inPasses.total.forwardMultiplyAdds, once.forwardMultiplyAdds);
}

// Memory is that of the stage with the largest batch; a rule's slots are counted whatever their number.
TEST(Plan, IsOfTheLargestStageOfTheBatch) {
  const Json stages = {{"batch", 16}, {"batch_at", {2, 5}}, {"batch_then", {64, 32}}};
  const ProjectPlan plan = planTraining(projectOf(leNet(), "STiLL", stages)),
                    large = planTraining(projectOf(leNet(), "STiLL", {{"batch", 64}}));
  EXPECT_EQ(plan.updates[0].batch, 64);
  EXPECT_EQ(plan.total.totalBytes(), large.total.totalBytes());
  EXPECT_EQ(plan.total.optimizerBytes, 3 * 61706 * 4);
  EXPECT_EQ(planTraining(projectOf(leNet(), "Lion", stages)).total.optimizerBytes, 61706 * 4);
  Json averaged = stages;
  averaged["evaluated_weights"] = "average";
  EXPECT_EQ(planTraining(projectOf(leNet(), "Lion", averaged)).total.optimizerBytes, 2 * 61706 * 4);
  // Methods: slots, copies aside, and gradients computed twice.
  const CostPlan plain = planTraining(projectOf(leNet(), "Lion", {{"batch", 32}})).total;
  const ProjectPlan sam =
      planTraining(projectOf(leNet(), "Lion", {{"batch", 32}, {"perturbation", "sam"}, {"afterwards", "lookahead"}}));
  EXPECT_EQ(sam.total.optimizerBytes, 2 * 61706 * 4);
  EXPECT_EQ(sam.total.copyBytes, 61706 * 4);
  EXPECT_EQ(sam.total.totalBytes(), plain.totalBytes() + 2 * 61706 * 4);
  EXPECT_EQ(sam.total.backwardMultiplyAdds, 2 * plain.backwardMultiplyAdds);
  EXPECT_THAT(toText(sam), AllOf(HasSubstr("weights kept aside"), HasSubstr("gradients computed 2 times")));
  // Muon keeps one number for its matrices, AdamW two for the last one and for biases.
  const std::int64_t matrices = 150 + 2400 + 48000 + 10080, rest = 61706 - matrices;
  EXPECT_EQ(planTraining(projectOf(leNet(), "Muon", {{"batch", 32}})).total.optimizerBytes, (matrices + 2 * rest) * 4);
  // Shampoo and SOAP keep two numbers for each weight, and two matrices for each side of a matrix,
  // of which a count stands beside.
  const std::int64_t squares =
      6 * 6 + 25 * 25 + 16 * 16 + 150 * 150 + 120 * 120 + 400 * 400 + 84 * 84 + 120 * 120 + 10 * 10 + 84 * 84;
  for (const char* rule : {"Shampoo", "SOAP"})
    EXPECT_EQ(planTraining(projectOf(leNet(), rule, {{"batch", 32}})).total.optimizerBytes,
              (2 * 61706 + 2 * squares + 5) * 4);
}

TEST(Plan, CountsRunningAveragesApart) {
  const CostPlan cost = planTraining(projectOf(resNet20(), "Momentum", {{"batch", 2}})).total;
  EXPECT_EQ(cost.parameters, 272474);
  EXPECT_EQ(cost.optimizerBytes, 272474 * 4);
  EXPECT_EQ(cost.stateBytes, 2 * 4 * (16 * 7 + 32 * 7 + 64 * 7));  // seven normalisations in each stage
}

TEST(Plan, CountsWeightsThatUpdatesShareOnce) {
  const Project project = readProject(ganProject(), "gan.loom").project;
  const ProjectPlan plan = planTraining(project);
  ASSERT_EQ(plan.updates.size(), 2u);
  const std::int64_t generator = (4 * 8 + 8) + (8 * 2 + 2), discriminator = (2 * 8 + 8) + (8 + 1);
  EXPECT_EQ(plan.total.parameters, generator + discriminator);
  EXPECT_EQ(plan.updates[0].cost.parameters, generator + discriminator);
  EXPECT_EQ(plan.updates[0].cost.optimizerBytes, discriminator * 8);  // its patterns name the discriminator only
  EXPECT_EQ(plan.updates[1].cost.optimizerBytes, generator * 8);
}

TEST(Plan, TellsWhatABudgetSavesAndCosts) {
  const Project project = projectOf(leNet(), "SGD", {{"batch", 64}, {"accumulate", 4}});
  const ProjectPlan plan = planTraining(project, [](const Program&) {
    return StepMemory{.activations = 3 << 20,
                      .inputs = 100,
                      .keptActivations = 5 << 20,
                      .operationsAgain = 7,
                      .againMultiplyAdds = 1e6};
  });
  EXPECT_EQ(plan.total.keptActivationBytes, 5 << 20);
  EXPECT_EQ(plan.total.operationsAgain, 7);
  EXPECT_EQ(plan.total.againMultiplyAdds, 4e6) << "of a step's four passes";
  EXPECT_THAT(toText(plan), testing::ContainsRegex("activations +3.00 MiB\n +if all were kept +5.00 MiB\n"));
  EXPECT_THAT(toText(plan), testing::ContainsRegex("computed again, operations +7\n"));
  EXPECT_EQ(toJson(plan)["total"]["again_multiply_adds"], 4e6);
  EXPECT_THAT(toText(planTraining(project)), testing::Not(HasSubstr("again"))) << "where nothing is";
}

TEST(Plan, PrintsTextAndJson) {
  const ProjectPlan plan = planTraining(projectOf(leNet(), "Momentum", {{"batch", 128}, {"accumulate", 2}}));
  const std::string text = toText(plan);
  EXPECT_THAT(text, HasSubstr("network main, Momentum: steps of 128 samples in 2 passes of 64\n"));
  EXPECT_THAT(text, HasSubstr("61,706"));
  EXPECT_THAT(text, HasSubstr("241 KiB"));
  EXPECT_EQ(toJson(plan)["total"]["weight_bytes"], 61706 * 4);
}

TEST(Plan, RefusesWhatCannotBeTrained) {
  EXPECT_THROW(planTraining(projectOf(leNet(), "Adma", Json::object())), Error);
  EXPECT_THROW(planTraining(projectOf(leNet(), "SGD", {{"batch", 2}, {"accumulate", 3}})), Error);
  EXPECT_THROW(
      planTraining(projectOf(
          drawn("x Input shape=[3]\nc Convolution <- x\ny Input shape=[3]\nl MeanSquaredError <- c; target: y"), "SGD",
          {})),
      Error);
}

}  // namespace
}  // namespace loom
