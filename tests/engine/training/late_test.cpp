// Steps that are begun before the figures of the one before are read: nothing else changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/run/control.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/figures.h"
#include "tests/engine/training/late_backend.h"

namespace loom {
namespace {

using testing::HasSubstr;

// The events as they stand in the file, but for times; the first run alone packs the data.
std::vector<Json> untimed(const std::vector<Event>& events) {
  std::vector<Json> all;
  for (const Event& event : events) {
    // Times by layer are told of a machine that is done when a step returns, and of no other.
    if (event.kind == "preparing" || event.kind == "layers") continue;
    Json body = event.body;
    for (const char* own : {"seq", "time", "ms", "data_ms"}) body.erase(own);
    all.push_back(std::move(body));
  }
  return all;
}

Json accumulating() {
  Json project = perceptron();
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "drop"}, {"layer", "Dropout"}});
  network["edges"][1] = {"fc1", "drop"};
  network["edges"].push_back({"drop", "relu"});
  project["training"].update({{"accumulate", 3}, {"optimizer", {{"name", "Adam"}, {"learning_rate", 0.02}}}});
  return project;
}

Json twoUpdates() {
  Json project = perceptron();
  Json first = project["training"], second = project["training"];
  first["parameters"] = {"fc1/*"};
  second["parameters"] = {"fc2/*"};
  second["every"] = 2;
  for (const char* shared : {"validation", "epochs", "batch", "seed"}) second.erase(shared);
  project["training"] = Json::array({first, second});
  return project;
}

TEST(LateFigures, ChangeNeitherEventsNorWeights) {
  const Workshop workshop("late-same", 50);
  for (const auto& [name, project] :
       std::map<std::string, Json>{{"plain", perceptron()}, {"accumulate", accumulating()}, {"two", twoUpdates()}}) {
    const auto prompt = workshop.train(project, name + "-prompt");
    LateBackend backend;
    const auto late = workshop.train(project, name + "-late", {.backend = &backend});
    EXPECT_EQ(untimed(late.events), untimed(prompt.events)) << name;
    EXPECT_EQ(late.tensors(), prompt.tensors()) << name;
  }
}

// What is asked for of the newest run leaves a machine idle: at the end of an epoch and of a validation alone.
TEST(LateFigures, LeaveTheMachineNothingToWaitForButAtTheEndOfAnEpoch) {
  for (const Json& project : {perceptron(false), accumulating()}) {
    std::vector<int> idle, runs;
    for (const int rows : {48, 48 * 4}) {
      const Workshop workshop("late-idle", rows);
      LateBackend backend;
      workshop.train(project, "run", {.backend = &backend});
      idle.push_back(backend.idle);
      runs.push_back(backend.runs);
    }
    EXPECT_GT(runs[1], 2 * runs[0]);
    EXPECT_EQ(idle[1], idle[0]) << "more steps, no more waits";
    EXPECT_GT(idle[0], 0) << "an epoch's means are of all of its steps";
  }
}

TEST(LateFigures, AStopEndsWhatIsUnderWayAndAResumeGoesOnFromThere) {
  const Workshop workshop("late-resume", 50);
  const auto whole = workshop.train(accumulating(), "whole");
  for (const std::int64_t step : {1, 2, 4, 6, 10}) {
    const std::string name = "run" + std::to_string(step);
    LateBackend backend;
    const auto first = workshop.train(accumulating(), name,
                                      {.watch =
                                           [&](const Event& event, const RunFolder& folder) {
                                             if (event.kind == "step" && event.body["step"] == step)
                                               appendControl(folder, {{"command", "stop"}});
                                           },
                                       .backend = &backend});
    EXPECT_TRUE(first.result.stopped);
    EXPECT_GE(first.result.step, step);
    EXPECT_LE(first.result.step, step + 1) << "one step may have been under way";
    EXPECT_EQ(first.of("step").size(), static_cast<std::size_t>(first.result.step)) << "and is told";
    const auto second = workshop.train(accumulating(), name, {.resume = true, .backend = &backend});
    EXPECT_EQ(second.series("step", "loss"), whole.series("step", "loss"));
    EXPECT_EQ(second.series("validation", "loss"), whole.series("validation", "loss"));
    EXPECT_EQ(second.tensors(), whole.tensors());
  }
}

// What went wrong with the step behind it is no reason to say nothing of it.
TEST(LateFigures, AnErrorLeavesNoStepUntold) {
  const Workshop workshop("late-error");
  workshop.write("train.csv", clusters(100, 1) + "0,0,0,-1\n");  // no label at all, in the seventh batch
  Json project = perceptron(false);
  project["training"]["shuffle"] = false;
  std::vector<Event> prompt, late;
  const Error expected = workshop.failure(project, "prompt", &prompt);
  LateBackend backend;
  const Error error = workshop.failure(project, "late", &late, {.backend = &backend});
  EXPECT_STREQ(error.what(), expected.what());
  EXPECT_THAT(error.what(), HasSubstr("at step 7"));
  const auto steps = [](const std::vector<Event>& events) {
    return std::ranges::count_if(events, [](const Event& event) { return event.kind == "step"; });
  };
  EXPECT_EQ(steps(prompt), 6);
  EXPECT_EQ(untimed(late), untimed(prompt));
}

TEST(LateFigures, ALossThatIsNotFiniteStopsAndNamesItsStep) {
  const Workshop workshop("late-diverge");
  std::string text = clusters(100, 1);
  text.insert(text.find('\n', text.size() / 2) + 1, "1e30,1e30,1e30,1\n");
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["training"]["shuffle"] = false;
  project["networks"]["main"]["nodes"].push_back({{"id", "square"}, {"layer", "Multiply"}});
  project["networks"]["main"]["nodes"].push_back({{"id", "same"}, {"layer", "Flatten"}});
  Json& edges = project["networks"]["main"]["edges"];
  edges[0] = {"square", "fc1"};
  for (const Json& edge : {Json{"x", "same"}, Json{"x", "square"}, Json{"same", "square"}}) edges.push_back(edge);
  std::vector<Event> prompt, late;
  const Error expected = workshop.failure(project, "prompt", &prompt);
  LateBackend backend;
  const Error error = workshop.failure(project, "late", &late, {.backend = &backend});
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_STREQ(error.what(), expected.what()) << "the batch that it was in is looked into, not the next one";
  EXPECT_THAT(error.what(), HasSubstr("layer 'square' (Multiply)"));
  EXPECT_EQ(untimed(late), untimed(prompt));
}

// More batches than results are kept, of two shapes in turn.
TEST(Figures, AreReadBeforeTheirExecutableForgetsThem) {
  const Workshop workshop("late-figures", 50);
  LateBackend backend;
  ParameterStore store(1);
  const ReadProject read = readProject(perceptron().dump(), "test.loom");
  CompiledNetworks networks(backend, store, {}, 1);
  Figures figures;
  std::vector<double> expected;
  for (int k = 0; k < 9; ++k) {
    const std::int64_t batch = k % 3 == 2 ? 2 : 4;
    Executable& executable =
        networks.get({.network = &read.project.networks[0], .phase = Phase::evaluation, .batch = batch});
    auto* const x = reinterpret_cast<float*>(executable.input("x").data());
    for (std::int64_t i = 0; i < 3 * batch; ++i) x[i] = static_cast<float>(k + i % 3);
    std::fill_n(reinterpret_cast<std::int32_t*>(executable.input("y").data()), batch, k % 3);
    figures.run(executable, {}, static_cast<double>(batch));
    expected.push_back(executable.scalarResult("loss"));
  }
  for (int k = 0; k < 9; ++k) {
    const Measured measured = figures.take();
    EXPECT_EQ(measured.loss, expected[static_cast<std::size_t>(k)]) << k;
    EXPECT_EQ(measured.samples, k % 3 == 2 ? 2 : 4);
  }
  EXPECT_THROW(figures.take(), Error);
}

TEST(TrustRatioEvents, AreToldByRulesThatMeasure) {
  const Workshop workshop("late-trust", 48);
  Json project = perceptron(false);
  EXPECT_FALSE(workshop.train(project, "momentum").of("step")[0].body.contains("trust_ratio_least"));
  project["training"]["optimizer"] = {{"name", "LARS"}, {"learning_rate", 0.5}, {"coefficient", 0.02}};
  const auto run = workshop.train(project, "lars");
  const auto least = run.series("step", "trust_ratio_least"), median = run.series("step", "trust_ratio_median");
  ASSERT_EQ(least.size(), 9u);
  for (std::size_t k = 0; k < least.size(); ++k) {
    EXPECT_GT(least[k], 0);
    EXPECT_EQ(median[k], least[k]) << "the lower one of two weights; biases have no ratio";
    EXPECT_NE(least[k], 1) << "nor would theirs be counted";
  }
}

}  // namespace
}  // namespace loom
