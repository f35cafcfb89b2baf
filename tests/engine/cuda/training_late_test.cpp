// The trainer and a device that works by itself: nobody waits between two steps, and what is not finite is found where
// it is, before the host knows of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "engine/cuda/cuda_backend.h"
#include "engine/optimizers/optimizer.h"
#include "engine/run/control.h"
#include "engine/training/parameter_update.h"
#include "tests/engine/cuda/fake/fake_device.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

std::shared_ptr<cuda::fake::FakeDevice> device() {
  return std::make_shared<cuda::fake::FakeDevice>(cuda::fake::FakeOptions{.checkedCalls = 0});
}

class LateTraining : public testing::TestWithParam<const char*> {};

int idleWaits(const char* precision, int rows, int accumulate) {
  const Workshop workshop("cuda-idle", rows);
  const auto fake = device();
  const auto backend = makeCudaBackend(fake);
  Json project = perceptron(false);
  project["training"].update({{"epochs", 1}, {"precision", precision}, {"accumulate", accumulate}});
  workshop.train(project, "run", {.backend = backend.get()});
  return fake->idleWaits();
}

TEST_P(LateTraining, NobodyWaitsBetweenSteps) {
  for (const int accumulate : {1, 2})
    EXPECT_EQ(idleWaits(GetParam(), 16 * 12, accumulate), idleWaits(GetParam(), 16 * 4, accumulate))
        << "eight more steps, no more waits";
}

// Running statistics of several shards are averaged where they are.
TEST_P(LateTraining, NobodyWaitsForStatisticsOfSeveralShards) {
  const auto waits = [](int rows) {
    const Workshop workshop("cuda-idle-statistics", rows);
    const auto fake = device();
    const auto backend = makeCudaBackend(fake);
    Json project = perceptron(false);
    Json& network = project["networks"]["main"];
    network["nodes"].push_back({{"id", "bn"}, {"layer", "BatchNormalization"}});
    network["edges"][1] = {"fc1", "bn"};
    network["edges"].push_back({"bn", "relu"});
    project["training"].update({{"epochs", 1}, {"precision", GetParam()}, {"accumulate", 4}});
    workshop.train(project, "run", {.backend = backend.get()});
    return fake->idleWaits();
  };
  EXPECT_EQ(waits(16 * 12), waits(16 * 4)) << "eight more steps, no more waits";
}

TEST_P(LateTraining, AResumeEqualsNeverStopped) {
  const Workshop workshop("cuda-resume", 60);
  const auto backend = makeCudaBackend(device());
  Json project = perceptron();
  project["training"].update({{"precision", GetParam()}, {"optimizer", {{"name", "Adam"}, {"learning_rate", 0.02}}}});
  const auto whole = workshop.train(project, "whole", {.backend = backend.get()});
  const auto first = workshop.train(project, "run",
                                    {.watch =
                                         [](const Event& event, const RunFolder& folder) {
                                           if (event.kind == "step" && event.body["step"] == 5)
                                             appendControl(folder, {{"command", "stop"}});
                                         },
                                     .backend = backend.get()});
  EXPECT_EQ(first.result.step, 6) << "one step was under way";
  const auto second = workshop.train(project, "run", {.resume = true, .backend = backend.get()});
  for (const char* kind : {"step", "validation"})
    EXPECT_EQ(second.series(kind, "loss"), whole.series(kind, "loss")) << kind;
  EXPECT_EQ(second.tensors(), whole.tensors());
}

INSTANTIATE_TEST_SUITE_P(Precisions, LateTraining, testing::Values("f32", "bf16"),
                         [](const testing::TestParamInfo<const char*>& info) { return std::string(info.param); });

// In f16 the next step's scale follows from this one's gradients.
TEST(LateTrainings, InF16EachStepIsWaitedFor) {
  EXPECT_GE(idleWaits("f16", 16 * 12, 1), idleWaits("f16", 16 * 4, 1) + 8);
}

// Regression on one number, with a square of the input in front: 1e30 is infinite behind it, and so are the gradients;
// a target of 1e25 makes the loss infinite, but no gradient.
Json regression() {
  return parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "same", "layer": "Flatten"},
                {"id": "square", "layer": "Multiply"}, {"id": "fc", "layer": "Linear", "outputs": 1},
                {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
      "edges": [["x", "same"], ["x", "square"], ["same", "square"], ["square", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 1, "batch": 8, "shuffle": false, "seed": 3,
                 "schedule": {"name": "Constant"}, "optimizer": {"name": "Momentum", "learning_rate": 0.01}}})",
                   "regression");
}

struct Fault {
  const char* name;
  const char* row;  // of the third batch
  const char* place;
};
void PrintTo(const Fault& fault, std::ostream* to) {
  *to << fault.name;
}
const Fault kFaults[] = {{"gradient", "1e30,1,1,1\n", "output of layer 'square' (Multiply)"},
                         {"loss", "1,1,1,1e25\n", "output of layer 'loss' (MeanSquaredError)"}};

class LateDivergence : public testing::TestWithParam<Fault> {};

TEST_P(LateDivergence, IsNamedAsOnTheCpuAndLeavesWeightsWhole) {
  const Workshop workshop(std::string("cuda-diverge-") + GetParam().name);
  std::string text = "x__0,x__1,x__2,y\n";
  for (int row = 0; row < 48; ++row)
    text += row == 19 ? GetParam().row : fmt::format("{},{},1,{}\n", row % 3, row % 5, row % 2);
  workshop.write("train.csv", text);
  Json project = regression();
  const Error expected = workshop.failure(project, "cpu");

  const auto inner = makeCudaBackend(device());
  WatchedBackend backend(*inner);
  bool training = false;
  std::map<std::string, std::vector<float>> found;
  backend.compiled = [&](ParameterStore& store) {  // while the place is looked for
    if (!training || !found.empty()) return;
    for (const char* name : {"fc/weight", "fc/bias"}) found[name] = store.at(name).value.values();
  };
  std::vector<Event> events;
  const Error error = workshop.failure(
      project, "fake", &events,
      {.watch = [&](const Event& event, const RunFolder&) { training |= event.kind == "step"; }, .backend = &backend});
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_STREQ(error.what(), expected.what());
  EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("at step 3 "), HasSubstr(GetParam().place)));
  EXPECT_EQ(std::ranges::count_if(events, [](const Event& event) { return event.kind == "step"; }), 3);
  EXPECT_EQ(events.back().body["step"], 3);

  // What the sound steps made, although a sound one was begun behind the one that was not.
  project["training"]["max_steps"] = 2;
  const auto sound = workshop.train(project, "sound", {.backend = inner.get()}).tensors();
  for (const auto& [name, values] : found) EXPECT_EQ(values, sound.at(name)) << name;
  EXPECT_EQ(found.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Faults, LateDivergence, testing::ValuesIn(kFaults),
                         [](const testing::TestParamInfo<Fault>& info) { return std::string(info.param.name); });

// Each with rules of one pass and of three.
TEST(LateUpdates, BehindOneThatWasRefusedChangeNothingUntilItsNumberComesAgain) {
  for (const char* rule : {"Adam", "LARS", "STiLL"}) {
    const auto backend = makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>());
    const Parameter weight{.name = "w", .shape = Shape{5000}, .initializer = {InitializerKind::normal, 1}};
    Program program;
    program.parameters = {weight};
    program.tensors = {{.name = "w", .shape = weight.shape, .role = TensorRole::parameterGradient}};
    ParameterStore store(1, backend->makeMemory());
    store.ensure(program.parameters);
    UpdateSpec spec;
    spec.optimizer = {{"name", rule}, {"learning_rate", 0.1}};
    ParameterUpdate update(spec, 0, program, store, *backend);
    StoredTensor& gradient = store.at("w").gradient;
    std::vector<float> sound(5000, 0.5f), broken = sound;
    broken[4100] = NAN;
    gradient.write(sound);
    update.apply({.learningRate = 0.1});
    const auto before = store.at("w").value.values();
    gradient.write(broken);
    update.begin({.learningRate = 0.1});
    gradient.write(sound);
    update.begin({.learningRate = 0.1});
    EXPECT_EQ(update.finish().notFinite, "w");
    EXPECT_EQ(update.finish().notFinite, "");
    EXPECT_EQ(store.at("w").value.values(), before) << rule;
    EXPECT_EQ(update.count(), 1) << rule;
    update.apply({.learningRate = 0.1});
    EXPECT_NE(store.at("w").value.values(), before) << rule << ": the second update, at last";
  }
}

// Eight updates, so that rules that change on their way do: with the epochs of STiLL and the RMSprop warm-up, and where
// RAdam begins to divide.
TEST(Updates, OfEveryRuleAreTheProcessors) {
  for (const OptimizerDefinition* definition : optimizerTable()) {
    std::vector<std::vector<float>> found;
    for (const bool device : {false, true}) {
      const auto backend = device ? makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>()) : makeCpuBackend(1);
      const Parameter weight{.name = "w", .shape = Shape{5000}, .initializer = {InitializerKind::normal, 1}};
      Program program;
      program.parameters = {weight};
      program.tensors = {{.name = "w", .shape = weight.shape, .role = TensorRole::parameterGradient}};
      ParameterStore store(1, backend->makeMemory());
      store.ensure(program.parameters);
      UpdateSpec spec;
      spec.optimizer = {{"name", definition->entry.id}, {"weight_decay", 0.1}};
      if (definition->entry.field("transition")) spec.optimizer["transition"] = 3.0;
      if (definition->entry.field("center")) spec.optimizer.update({{"center", 2.0}, {"period", 2.0}});
      ParameterUpdate update(spec, 0, program, store, *backend, ParameterUpdate::Options{.stepsPerEpoch = 2});
      for (int step = 0; step < 8; ++step) {
        std::vector<float> gradient(5000);
        for (std::size_t i = 0; i < gradient.size(); ++i)
          gradient[i] = 0.1f * std::cos(static_cast<float>(i % 1013) + 0.7f * static_cast<float>(step));
        store.at("w").gradient.write(gradient);
        update.apply({.learningRate = 0.05, .epoch = step / 2.0});
      }
      found.push_back(store.at("w").value.values());
    }
    for (std::size_t i = 0; i < found[0].size(); ++i)
      ASSERT_NEAR(found[1][i], found[0][i], 2e-5 * (1 + std::abs(found[0][i]))) << definition->entry.id << " " << i;
  }
}

// Products, matrices of their own shape and the host's work on copies of them. Square, so that SOAP's bases are told by
// the first gradient.
TEST(Updates, WithProductsAreTheProcessors) {
  for (const char* rule : {"Muon", "Shampoo", "SOAP"}) {
    std::vector<std::vector<float>> found;
    for (const bool device : {false, true}) {
      const auto backend = device ? makeCudaBackend(std::make_shared<cuda::fake::FakeDevice>()) : makeCpuBackend(1);
      const Parameter weight{.name = "w", .shape = Shape{12, 12}, .initializer = {InitializerKind::normal, 1}};
      Program program;
      program.parameters = {weight};
      program.tensors = {{.name = "w", .shape = weight.shape, .role = TensorRole::parameterGradient}};
      ParameterStore store(1, backend->makeMemory());
      store.ensure(program.parameters);
      UpdateSpec spec;
      spec.optimizer = {{"name", rule}, {"weight_decay", 0.1}};
      if (rule == std::string("Muon")) spec.optimizer["left_to_adamw"] = Json::array();
      if (rule != std::string("Muon")) spec.optimizer["precondition_every"] = 2;
      if (rule == std::string("Shampoo")) spec.optimizer.update({{"precondition_from", 2}, {"largest_block", 8}});
      ParameterUpdate update(spec, 0, program, store, *backend);
      for (int step = 0; step < 6; ++step) {
        std::vector<float> gradient(144);
        for (std::size_t i = 0; i < gradient.size(); ++i)
          gradient[i] = std::sin(0.37f * static_cast<float>(i * i % 997) + 0.7f * static_cast<float>(step));
        store.at("w").gradient.write(gradient);
        update.apply({.learningRate = 0.05});
      }
      found.push_back(store.at("w").value.values());
    }
    for (std::size_t i = 0; i < found[0].size(); ++i) ASSERT_NEAR(found[1][i], found[0][i], 1e-4) << rule << " " << i;
  }
}

}  // namespace
}  // namespace loom
