#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/base/error.h"
#include "engine/run/control.h"
#include "tests/engine/training/fixture.h"
#include "tests/engine/training/late_backend.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The first layer by one rule and the second by another, at half its steps.
Json twoRules() {
  Json project = perceptron(false);
  project["training"] = Json::parse(R"([
    {"network": "main", "dataset": "training", "parameters": ["fc1/*"], "optimizer": {"name": "Adam"}, "epochs": 3, "batch": 16, "seed": 4},
    {"network": "main", "dataset": "training", "parameters": ["fc2/*"], "optimizer": {"name": "Momentum", "learning_rate": 0.1}, "every": 2}])");
  return project;
}

TEST(SeveralUpdates, EachRuleHasItsParametersItsSlotsAndItsSteps) {
  const Workshop workshop("two-rules", 48);
  const auto run = workshop.train(twoRules(), "run");
  std::vector<std::string> names;
  for (const auto& [name, values] : run.tensors()) names.push_back(name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("fc1/weight", "fc1/weight#m", "fc1/weight#v", "fc1/bias",
                                                   "fc1/bias#m", "fc1/bias#v", "fc2/weight", "fc2/weight#momentum@1",
                                                   "fc2/bias", "fc2/bias#momentum@1"));
  const auto steps = run.of("step");
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].body["metrics"].contains("main/loss"), i % 2 == 0);
  EXPECT_LT(run.series("epoch", "loss").back(), run.series("epoch", "loss").front());
}

TEST(SeveralUpdates, ResumeExactly) {
  const Workshop workshop("two-rules-resume", 48);
  const auto whole = workshop.train(twoRules(), "whole");
  workshop.train(twoRules(), "parts", {.watch = [](const Event& event, const RunFolder& folder) {
                   if (event.kind == "step" && event.body["step"] == 4) appendControl(folder, {{"command", "stop"}});
                 }});
  const auto parts = workshop.train(twoRules(), "parts", {.resume = true});
  EXPECT_EQ(parts.series("step", "loss"), whole.series("step", "loss"));
  EXPECT_EQ(parts.tensors(), whole.tensors());
}

// Figures of the epoch that was interrupted, where an update does not run any more before it ends: F1 is made of sums.
TEST(SeveralUpdates, AnEpochsFiguresSurviveAResumeBehindTheirLastStep) {
  const Workshop workshop("every-resume", 48);  // 12 steps an epoch: a rare update runs in steps 1, 9 and 17
  for (const int rare : {0, 1}) {
    Json project = perceptron(false);
    Json& main = project["networks"]["main"];
    main["nodes"].push_back({{"id", "f1"}, {"layer", "F1"}});
    main["edges"].push_back({"fc2", "f1"});
    main["edges"].push_back({"y", "f1.target"});
    project["training"] = Json::parse(R"([
      {"network": "main", "dataset": "training", "parameters": ["fc1/*"], "epochs": 2, "batch": 4, "seed": 4},
      {"network": "main", "dataset": "training", "parameters": ["fc2/*"]}])");
    project["training"][rare]["every"] = 8;
    const std::string name = std::to_string(rare);
    const auto whole = workshop.train(project, "whole" + name);
    workshop.train(project, name, {.watch = [](const Event& event, const RunFolder& folder) {
                     if (event.kind == "step" && event.body["step"] == 10) appendControl(folder, {{"command", "stop"}});
                   }});
    const auto parts = workshop.train(project, name, {.resume = true});
    ASSERT_EQ(parts.of("epoch").size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const Json expected = whole.of("epoch")[i].body, found = parts.of("epoch")[i].body;
      EXPECT_EQ(found["loss"], expected["loss"]) << rare;
      EXPECT_EQ(found["metrics"], expected["metrics"]) << rare;
      EXPECT_TRUE(found["metrics"]["f1"].is_number() && found["metrics"]["main/f1"].is_number()) << found;
    }
    EXPECT_EQ(parts.series("step", "loss"), whole.series("step", "loss")) << rare;
    EXPECT_EQ(parts.tensors(), whole.tensors()) << rare;
  }
}

// A tiny GAN: noise to two numbers that lie on a circle. The discriminator's nodes stand in both networks and share
// parameters; each update has its own part of them.
Json gan() {
  return parseJson(R"({"loom": 1, "networks": {
    "discriminator": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [2]},
                {"id": "z", "layer": "Input", "shape": [4], "source": "normal"},
                {"id": "g1", "layer": "Linear", "outputs": 16}, {"id": "g_relu", "layer": "ReLU"}, {"id": "g2", "layer": "Linear", "outputs": 2},
                {"id": "d1", "layer": "Linear", "outputs": 16}, {"id": "d_relu", "layer": "LeakyReLU"}, {"id": "d2", "layer": "Linear", "outputs": 1},
                {"id": "d1_fake", "layer": "Linear", "outputs": 16, "shares": "d1"}, {"id": "d_relu_fake", "layer": "LeakyReLU"},
                {"id": "d2_fake", "layer": "Linear", "outputs": 1, "shares": "d2"},
                {"id": "one", "layer": "Input", "shape": [1], "source": "constant", "value": 1},
                {"id": "zero", "layer": "Input", "shape": [1], "source": "constant", "value": 0},
                {"id": "real_loss", "layer": "BinaryCrossEntropy", "from": "logits"}, {"id": "fake_loss", "layer": "BinaryCrossEntropy", "from": "logits"}],
      "edges": [["x", "d1"], ["d1", "d_relu"], ["d_relu", "d2"], ["d2", "real_loss"], ["one", "real_loss.target"],
                ["z", "g1"], ["g1", "g_relu"], ["g_relu", "g2"], ["g2", "d1_fake"], ["d1_fake", "d_relu_fake"], ["d_relu_fake", "d2_fake"],
                ["d2_fake", "fake_loss"], ["zero", "fake_loss.target"]]},
    "generator": {
      "nodes": [{"id": "z", "layer": "Input", "shape": [4], "source": "normal"},
                {"id": "h1", "layer": "Linear", "outputs": 16, "shares": "g1"}, {"id": "h_relu", "layer": "ReLU"},
                {"id": "h2", "layer": "Linear", "outputs": 2, "shares": "g2"},
                {"id": "e1", "layer": "Linear", "outputs": 16, "shares": "d1"}, {"id": "e_relu", "layer": "LeakyReLU"},
                {"id": "e2", "layer": "Linear", "outputs": 1, "shares": "d2"},
                {"id": "one", "layer": "Input", "shape": [1], "source": "constant", "value": 1},
                {"id": "fool", "layer": "BinaryCrossEntropy", "from": "logits"}],
      "edges": [["z", "h1"], ["h1", "h_relu"], ["h_relu", "h2"], ["h2", "e1"], ["e1", "e_relu"], ["e_relu", "e2"], ["e2", "fool"], ["one", "fool.target"]]}},
    "datasets": {"training": {"csv": "circle.csv"}},
    "training": [
      {"network": "discriminator", "dataset": "training", "parameters": ["d*"], "optimizer": {"name": "Adam", "learning_rate": 0.01, "beta1": 0.5}, "epochs": 30, "batch": 32},
      {"network": "generator", "dataset": "training", "parameters": ["g*"], "optimizer": {"name": "Adam", "learning_rate": 0.01, "beta1": 0.5}}]})",
                   "gan");
}

TEST(SeveralUpdates, AGanTrains) {
  const Workshop workshop("gan");
  std::mt19937 random(3);
  std::string text = "x__0,x__1\n";
  for (int row = 0; row < 160; ++row) {
    const double angle = 6.28318 * static_cast<double>(random()) / 4294967296.0;
    text += fmt::format("{:.5f},{:.5f}\n", 3 + std::cos(angle), std::sin(angle));  // around (3, 0)
  }
  workshop.write("circle.csv", text);
  const auto run = workshop.train(gan(), "run");
  EXPECT_EQ(run.result.step, 150);
  const auto tensors = run.tensors();
  EXPECT_EQ(tensors.count("h1/weight"), 0u) << "shared, not copied";
  EXPECT_EQ(tensors.count("g1/weight#m@1"), 1u);
  EXPECT_EQ(tensors.count("g1/weight#m"), 0u) << "the discriminator's update leaves the generator alone";
  EXPECT_EQ(tensors.count("d1/weight#m"), 1u);
  EXPECT_EQ(tensors.count("d1/weight#m@1"), 0u);
  // The generator moved from around 0 to the data: the mean of its output over z is close to the bias path; judge by
  // its own data.
  const auto generator = run.series("step", "generator/loss");
  ASSERT_EQ(generator.size(), 150u);
  for (const double loss : generator) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_THAT(run.of("step")[0].body["metrics"], testing::Contains(testing::_));
  EXPECT_TRUE(run.of("step")[0].body["metrics"].contains("real_loss")) << "several losses are also told by name";
  TrainedNetwork trained(cpuBackend(), {.run = run.folder, .which = Which::last});
  // Real and fake are told apart far less surely than at the start by a discriminator that has seen both.
  const double real = run.series("step", "real_loss").back(), fake = run.series("step", "fake_loss").back();
  EXPECT_GT(real + fake, 0.3) << "the discriminator has not won";
  EXPECT_LT(real + fake, 3) << "nor has the generator";
}

// One step whose weights stay, beside a step on either half of its rows.
TEST(SeveralShards, LeaveTheMeanOfWhatEachMakesOfTheRunningStatistics) {
  const Workshop workshop("shards-statistics");
  const std::string all = clusters(24, 3);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at) + 1;
    lines.push_back(all.substr(at, end - at));
    at = end;
  }
  ASSERT_EQ(lines.size(), 25u);
  const auto rows = [&](std::size_t first, std::size_t count) {
    std::string text = lines[0];
    for (std::size_t i = 0; i < count; ++i) text += lines[1 + first + i];
    return text;
  };
  Json project = perceptron(false);
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "bn"}, {"layer", "BatchNormalization"}});
  network["edges"][1] = {"fc1", "bn"};
  network["edges"].push_back({"bn", "relu"});
  project["training"].update({{"shuffle", false}, {"max_steps", 1}});
  project["training"]["optimizer"] = {{"name", "SGD"}, {"learning_rate", 0.0}};
  const auto statistics = [&](const std::string& name, const std::string& text, int batch, const Json& more) {
    workshop.write("train.csv", text);
    project["training"]["batch"] = batch;
    Json own = project;
    own["training"].update(more);
    return workshop.train(own, name).tensors();
  };
  const auto first = statistics("first", rows(0, 12), 12, Json::object()),
             second = statistics("second", rows(12, 12), 12, Json::object());
  for (const auto& [name, more] :
       {std::pair("passes", Json{{"accumulate", 2}}), {"ranks", Json{{"virtual_ranks", 2}}}}) {
    const auto found = statistics(name, rows(0, 24), 24, more);
    for (const char* state : {"bn/mean", "bn/variance"}) {
      ASSERT_EQ(found.count(state), 1u);
      for (std::size_t i = 0; i < found.at(state).size(); ++i)
        EXPECT_NEAR(found.at(state)[i], (first.at(state)[i] + second.at(state)[i]) / 2, 1e-6) << name << " " << state;
      EXPECT_NE(first.at(state), second.at(state));
    }
  }
}

// Two networks with data of their own, read in order: a row of the second's is beyond all bounds, in its eighth batch.
Json apart() {
  const auto network = [](const char* layer) {
    return Json{{"nodes",
                 {{{"id", "x"}, {"layer", "Input"}, {"shape", {2}}},
                  {{"id", layer}, {"layer", "Linear"}, {"outputs", 1}},
                  {{"id", "y"}, {"layer", "Input"}, {"shape", {1}}},
                  {{"id", "loss"}, {"layer", "MeanSquaredError"}}}},
                {"edges", Json::array({Json::array({"x", layer}), Json::array({layer, "loss"}),
                                       Json::array({"y", "loss.target"})})}};
  };
  const auto update = [](const char* name) {
    return Json{{"network", name}, {"dataset", name}, {"optimizer", {{"name", "Adam"}, {"learning_rate", 0.01}}}};
  };
  Json first = update("critic");
  first.update({{"epochs", 1}, {"batch", 4}, {"shuffle", false}, {"seed", 3}, {"checkpoint_every", 0.3}});
  return {{"loom", 1},
          {"networks", {{"critic", network("c")}, {"painter", network("p")}}},
          {"datasets", {{"critic", {{"csv", "critic.csv"}}}, {"painter", {{"csv", "painter.csv"}}}}},
          {"training", {first, update("painter")}}};
}

std::string numbers(int broken) {
  std::string text = "x__0,x__1,y\n";
  for (int row = 0; row < 40; ++row)
    text += row == broken ? "1e30,1,1\n" : fmt::format("{},{},{}\n", row % 3, row % 5, row % 2);
  return text;
}

// The first update had changed its weights by then; no checkpoint knows of it.
TEST(SeveralUpdates, ThatDivergeInOneOfThemLeaveAllAsACheckpointTells) {
  const Workshop workshop("two-diverge");
  workshop.write("critic.csv", numbers(-1));
  workshop.write("painter.csv", numbers(30));
  LateBackend late;
  for (Backend* backend : {&cpuBackend(), static_cast<Backend*>(&late)}) {
    const std::string name = backend == &late ? "late" : "prompt";
    std::vector<Event> events;
    const Error error = workshop.failure(apart(), name, &events, {.backend = backend});
    EXPECT_EQ(error.code(), ErrorCode::diverged);
    EXPECT_THAT(error.what(),
                testing::AllOf(HasSubstr("at step 8 "), HasSubstr("in update 2 (network 'painter') the loss is inf"),
                               HasSubstr("as they were behind step 6")));
    EXPECT_EQ(std::ranges::count_if(events, [](const Event& event) { return event.kind == "step"; }), 8);

    // Resumed with sound data it is what it would have been, which neither weights nor slots of a seventh or eighth
    // step in one of the networks would be.
    workshop.write("painter.csv", numbers(-1));
    const auto resumed = workshop.train(apart(), name, {.resume = true, .backend = backend});
    EXPECT_EQ(resumed.of("started").back().body["resumed_from"], 6);
    const auto whole = workshop.train(apart(), name + "-whole", {.backend = backend});
    EXPECT_EQ(resumed.tensors(), whole.tensors());
    EXPECT_EQ(resumed.tensors().count("c/weight"), 1u);
    workshop.write("painter.csv", numbers(30));
  }
}

TEST(SeveralUpdates, ThatDivergeBeforeAnyCheckpointSaySo) {
  const Workshop workshop("two-diverge-early");
  workshop.write("critic.csv", numbers(-1));
  workshop.write("painter.csv", numbers(1));
  EXPECT_THAT(workshop.failure(apart(), "run").what(),
              testing::AllOf(HasSubstr("at step 1 "), HasSubstr("no checkpoint from before it yet")));
}

TEST(SeveralUpdates, AnUpdateThatNamesNothingIsAnError) {
  const Workshop workshop("no-network");
  Json project = twoRules();
  project["training"][1]["network"] = "other";
  EXPECT_THAT(workshop.failure(project, "run").what(), HasSubstr("'other'"));
  project = twoRules();
  project["training"][1]["dataset"] = "trainin";
  EXPECT_THAT(workshop.failure(project, "run2").what(), HasSubstr("did you mean 'training'"));
}

}  // namespace
}  // namespace loom
