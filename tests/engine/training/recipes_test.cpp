// What recipes for large batches are made of, in whole runs: every rule, a rate that falls on plateaus, a batch that
// grows by stages. Each resumed run is the one that never stopped, to the bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/optimizers/optimizer.h"
#include "engine/run/control.h"
#include "engine/training/trained_run.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Workshop::Ways endAt(std::int64_t step, bool resume = false) {
  return {.resume = resume, .watch = [step](const Event& event, const RunFolder& folder) {
            if (event.kind == "step" && event.body["step"] == step) appendControl(folder, {{"command", "stop"}});
          }};
}

void expectEqual(const Workshop::Run& whole, const Workshop::Run& parts, const std::string& what) {
  EXPECT_EQ(whole.result.step, parts.result.step) << what;
  for (const char* field : {"loss", "learning_rate", "samples", "epoch"})
    EXPECT_EQ(whole.series("step", field), parts.series("step", field)) << what << ", " << field;
  EXPECT_EQ(whole.tensors(), parts.tensors()) << what;
}

TEST(Recipes, EveryRuleGoesOnAsIfItHadNeverStopped) {
  const Workshop workshop("recipes-rules", 50);  // 4 steps an epoch
  for (const OptimizerDefinition* rule : optimizerTable()) {
    const std::string& name = rule->entry.id;
    Json project = perceptron();
    project["training"]["optimizer"] = {{"name", name}, {"weight_decay", 0.01}};
    if (rule->entry.field("transition")) project["training"]["optimizer"]["transition"] = 2.0;
    if (rule->entry.field("center")) project["training"]["optimizer"].update({{"center", 1.0}, {"period", 1.5}});
    if (rule->entry.field("precondition_every")) project["training"]["optimizer"]["precondition_every"] = 4;
    if (rule->entry.field("precondition_from")) project["training"]["optimizer"]["precondition_from"] = 2;
    project["training"]["warmup"] = {{"epochs", 1}};
    const auto whole = workshop.train(project, name + "-whole");
    workshop.train(project, name, endAt(5));
    workshop.train(project, name, endAt(9, true));
    expectEqual(whole, workshop.train(project, name, {.resume = true}), name);
  }
}

// LAMB's ratio is of the order of 1, LARS's of its coefficient.
bool isLars(double ratio) {
  return ratio < 0.05;
}

TEST(Recipes, StillIsLarsFromTheEndOfItsTransitionOnWhateverTheBatch) {
  const Workshop workshop("recipes-still", 48);  // 3 steps an epoch, 6 in batches of 8
  Json project = perceptron(false);
  project["training"]["optimizer"] = {
      {"name", "STiLL"}, {"learning_rate", 5.0}, {"transition", 2.0}, {"coefficient", 1e-5}};
  project["training"]["epochs"] = 4;
  const auto larsFrom = [](const Workshop::Run& run) {
    const auto ratios = run.series("step", "trust_ratio_median");
    std::size_t step = 0;
    while (step < ratios.size() && !isLars(ratios[step])) ++step;
    for (std::size_t later = step; later < ratios.size(); ++later) EXPECT_TRUE(isLars(ratios[later])) << later;
    return step;
  };
  EXPECT_EQ(larsFrom(workshop.train(project, "whole")), 6u);
  // Another batch from the second epoch on: its epochs count, not the updates.
  workshop.train(project, "run", endAt(3));
  project["training"]["batch"] = 8;
  EXPECT_EQ(larsFrom(workshop.train(project, "run", {.resume = true, .changed = true})), 3u + 6u);
  project["training"].update({{"batch", 16}, {"batch_at", {1}}, {"batch_then", {8}}});
  EXPECT_EQ(larsFrom(workshop.train(project, "stages")), 3u + 6u);
}

Json plateaus() {
  Json project = perceptron();
  project["training"].update(
      {{"epochs", 9},
       {"monitor", "accuracy"},
       {"schedule", {{"name", "Plateau"}, {"factor", 0.5}, {"patience", 1}, {"threshold", 0.01}, {"end", 0.1}}}});
  return project;
}

TEST(Recipes, TheRateFallsOnPlateausOfTheValidation) {
  const Workshop workshop("recipes-plateau", 48);
  const auto run = workshop.train(plateaus(), "run");
  // The rule by hand over what was measured.
  std::vector<double> expected;
  double rate = 0.05, best = -1;
  int without = 0;
  for (const Event& event : run.of("validation")) {
    expected.insert(expected.end(), 3, rate);
    const double value = event.body["metrics"]["accuracy"].get<double>();
    const bool gains = best < 0 || value > best * 1.01;
    if (gains) best = value;
    without = gains ? 0 : without + 1;
    if (without > 1) rate = std::max(rate * 0.5, 0.005), without = 0;
  }
  const auto rates = run.series("step", "learning_rate");
  ASSERT_EQ(rates.size(), expected.size());
  for (std::size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-12) << i;
  EXPECT_LT(rates.back(), 0.05) << "it fell";
  for (const std::int64_t step : {2, 9, 12, 16, 26}) {
    const std::string name = "parts" + std::to_string(step);
    workshop.train(plateaus(), name, endAt(step));
    expectEqual(run, workshop.train(plateaus(), name, {.resume = true}), name);
  }
}

// A rate of a person's own counts anew, and so does another schedule, which says so.
TEST(Recipes, ARateOnAPlateauGivesWay) {
  const Workshop workshop("recipes-plateau-hand", 48);
  const auto run = workshop.train(plateaus(), "hand", {.watch = [](const Event& event, const RunFolder& folder) {
                                    if (event.kind == "step" && event.body["step"] == 24)
                                      appendControl(folder, {{"command", "learning_rate"}, {"value", 0.2}});
                                  }});
  EXPECT_LT(run.series("step", "learning_rate")[23], 0.05);
  EXPECT_EQ(run.series("step", "learning_rate")[24], 0.2);
  workshop.train(plateaus(), "other", endAt(24));
  Json other = plateaus();
  other["training"]["schedule"] = {{"name", "Constant"}};
  const auto changed = workshop.train(other, "other", {.resume = true, .changed = true});
  EXPECT_EQ(changed.series("step", "learning_rate")[24], 0.05);
  ASSERT_EQ(changed.of("warning").size(), 1u);
  EXPECT_THAT(changed.of("warning")[0].body["message"].get<std::string>(), HasSubstr("another schedule"));
}

Json stages() {
  Json project = perceptron();
  project["training"].update({{"epochs", 4},
                              {"schedule", {{"name", "Cosine"}}},
                              {"batch_at", {1, 3}},
                              {"batch_then", {24, 48}},
                              {"optimizer", {{"name", "Adam"}, {"learning_rate", 0.02}}}});
  return project;
}

TEST(Recipes, TheBatchGrowsByStagesAndTheScheduleGoesOn) {
  const Workshop workshop("recipes-stages", 48);
  const auto run = workshop.train(stages(), "run");
  EXPECT_THAT(run.series("step", "samples"), ElementsAre(16, 32, 48, 72, 96, 120, 144, 192));
  EXPECT_THAT(run.series("epoch", "step"), ElementsAre(3, 5, 7, 8));
  EXPECT_EQ(run.of("started")[0].body["steps_total"], 8);
  ASSERT_EQ(run.of("control").size(), 2u);
  EXPECT_EQ(run.of("control")[0].body["value"], 24);
  EXPECT_EQ(run.of("control")[1].body["step"], 7);
  // The rate follows the epochs: of 12 steps of the first batch, where the run has 8.
  Json even = stages();
  even["training"].erase("batch_at");
  even["training"].erase("batch_then");
  const auto rates = run.series("step", "learning_rate"),
             steady = workshop.train(even, "even").series("step", "learning_rate");
  EXPECT_EQ(rates[3], steady[3]);
  EXPECT_EQ(rates[5], steady[6]);
  EXPECT_EQ(rates[7], steady[9]);
  for (std::int64_t step = 1; step < 8; ++step) {
    const std::string name = "parts" + std::to_string(step);
    workshop.train(stages(), name, endAt(step));
    expectEqual(run, workshop.train(stages(), name, {.resume = true}), name);
  }
}

TEST(Recipes, ABatchSetByHandHoldsUntilTheNextStage) {
  const Workshop workshop("recipes-stages-hand", 48);
  const auto by = [](std::int64_t stop) {
    return [stop](const Event& event, const RunFolder& folder) {
      if (event.kind != "step") return;
      if (event.body["step"] == 3) appendControl(folder, {{"command", "batch"}, {"value", 12}});
      if (event.body["step"] == stop) appendControl(folder, {{"command", "stop"}});
    };
  };
  const std::vector<double> samples{16, 32, 48, 60, 72, 84, 96, 108, 120, 132, 144, 192};
  EXPECT_EQ(workshop.train(stages(), "run", {.watch = by(0)}).series("step", "samples"), samples);
  workshop.train(stages(), "parts", {.watch = by(5)});
  EXPECT_EQ(workshop.train(stages(), "parts", {.resume = true}).series("step", "samples"), samples);
}

// A resumed run follows the stages that its settings have now.
TEST(Recipes, OtherStagesHoldFromAResumeOn) {
  const Workshop workshop("recipes-stages-other", 48);
  workshop.train(stages(), "run", endAt(5));
  Json other = stages();
  other["training"]["batch_then"] = {12, 16};
  const auto run = workshop.train(other, "run", {.resume = true, .changed = true});
  EXPECT_THAT(run.series("step", "samples"), ElementsAre(16, 32, 48, 72, 96, 108, 120, 132, 144, 160, 176, 192));
  EXPECT_TRUE(run.of("warning").empty());
}

TEST(Recipes, StagesThatCannotBeAreRefusedBeforeTheFirstStep) {
  const Workshop workshop("recipes-stages-refused", 48);
  int runs = 0;
  const auto messageOf = [&](const Json& changes) {
    Json project = stages();
    project["training"].update(changes);
    std::vector<Event> events;
    const std::string message = workshop.failure(project, "run" + std::to_string(runs++), &events).message();
    for (const Event& event : events) EXPECT_NE(event.kind, "step");
    return message;
  };
  EXPECT_THAT(messageOf({{"batch_then", {24}}}), HasSubstr("changes at 2 epochs (batch_at), but to 1 values"));
  EXPECT_THAT(messageOf({{"batch_at", {3, 1}}}), HasSubstr("batch_at has 1"));
  EXPECT_THAT(messageOf({{"batch_at", {1.5, 3}}}), HasSubstr("whole epochs"));
  EXPECT_THAT(messageOf({{"batch_then", {24, 3}}, {"accumulate", 4}}), HasSubstr("at least 4"));
  EXPECT_THAT(messageOf({{"batch_then", {24, 49}}, {"drop_last", true}}), HasSubstr("nothing would be left"));
}

Json averaged(double decay = 0.8) {
  Json project = perceptron();
  project["training"].update({{"evaluated_weights", "average"}, {"average_decay", decay}});
  return project;
}

std::vector<float> weightsAfter(const Workshop& workshop, std::int64_t steps) {
  Json project = perceptron();
  if (steps > 0)
    project["training"]["max_steps"] = steps;
  else
    project["training"]["epochs"] = 0;
  return workshop.train(project, "plain" + std::to_string(steps)).tensors().at("fc1/weight");
}

// The average by hand from the weights behind each of nine steps; its ramp is 1/10, 2/11, ... up to 0.4.
TEST(Recipes, AverageOfTheWeightsIsWhatACheckpointShows) {
  const Workshop workshop("recipes-average", 48);
  const std::vector<float> first = weightsAfter(workshop, 0);
  std::vector<double> expected(first.begin(), first.end());
  std::vector<float> last;
  for (int step = 1; step <= 9; ++step) {
    last = weightsAfter(workshop, step);
    const double kept = std::min(0.4, step / (step + 9.0));
    for (std::size_t i = 0; i < last.size(); ++i) expected[i] = kept * expected[i] + (1 - kept) * last[i];
  }
  const auto run = workshop.train(averaged(0.4), "run");
  const auto tensors = run.tensors();
  EXPECT_EQ(tensors.at("fc1/weight#trained"), last) << "training goes on from the weights themselves";
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(tensors.at("fc1/weight")[i], expected[i], 1e-6);
  EXPECT_NE(tensors.at("fc1/weight"), last);
  EXPECT_FALSE(tensors.contains("fc1/weight#average"));
  // Of untrained weights the average is these.
  Json none = averaged();
  none["training"]["epochs"] = 0;
  EXPECT_EQ(workshop.train(none, "none").tensors().at("fc1/weight"), first);
}

TEST(Recipes, ARunIsJudgedByTheAverageAndLeavesIt) {
  const Workshop workshop("recipes-average-judged", 48);
  const auto plain = workshop.train(perceptron(), "plain"), run = workshop.train(averaged(), "run");
  EXPECT_EQ(run.series("step", "loss"), plain.series("step", "loss")) << "training takes no notice";
  const auto validated = run.series("validation", "loss");
  EXPECT_NE(validated, plain.series("validation", "loss"));
  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  EXPECT_NEAR(trained.evaluate("").loss, validated.back(), 1e-6);
  // Another run begins with it, too.
  Json next = perceptron();
  next["training"].update({{"start_from", "run"}, {"epochs", 0}});
  EXPECT_EQ(workshop.train(next, "next").tensors().at("fc1/weight"), [&] {
    const TrainedRun best(run.folder);
    return best.weights().at("fc1/weight").values;
  }());
}

TEST(Recipes, AveragesGoOnAsIfTheRunHadNeverStopped) {
  const Workshop workshop("recipes-average-resume", 48);
  const auto whole = workshop.train(averaged(), "whole");
  for (const std::int64_t step : {1, 4, 6}) {
    const std::string name = "parts" + std::to_string(step);
    workshop.train(averaged(), name, endAt(step));
    const auto parts = workshop.train(averaged(), name, {.resume = true});
    expectEqual(whole, parts, name);
    EXPECT_EQ(whole.series("validation", "loss"), parts.series("validation", "loss"));
    EXPECT_TRUE(parts.of("warning").empty());
  }
}

TEST(Recipes, AveragesThatBeginOrEndWithAResumeSaySo) {
  const Workshop workshop("recipes-average-changed", 48);
  const auto plain = workshop.train(perceptron(), "plain");
  workshop.train(averaged(), "ends", endAt(4));
  const auto ended = workshop.train(perceptron(), "ends", {.resume = true, .changed = true});
  EXPECT_EQ(ended.tensors(), plain.tensors());
  ASSERT_EQ(ended.of("warning").size(), 1u);
  EXPECT_THAT(ended.of("warning")[0].body["message"].get<std::string>(),
              HasSubstr("averages of the weights are given up"));
  workshop.train(perceptron(), "begins", endAt(4));
  const auto begun = workshop.train(averaged(), "begins", {.resume = true, .changed = true});
  EXPECT_EQ(begun.tensors().at("fc1/weight#trained"), plain.tensors().at("fc1/weight"));
  ASSERT_EQ(begun.of("warning").size(), 1u);
  EXPECT_THAT(begun.of("warning")[0].body["message"].get<std::string>(), HasSubstr("begin at the weights as they are"));
  // Five updates of an average that keeps four fifths of itself: it lies between the weights of then and of now.
  EXPECT_NE(begun.tensors().at("fc1/weight"), plain.tensors().at("fc1/weight"));
}

}  // namespace
}  // namespace loom
