#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/control.h"
#include "engine/training/checkpoint.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/divergence.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A rate that makes squares of activations overflow after a few steps.
Json exploding() {
  return parseJson(R"({"loom": 1, "networks": {"main": {
      "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 4}, {"id": "fc2", "layer": "Linear", "outputs": 1},
                {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
      "edges": [["x", "fc1"], ["fc1", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "train.csv"}},
    "training": {"network": "main", "dataset": "training", "epochs": 50, "batch": 16, "optimizer": {"name": "SGD", "learning_rate": 20}}})",
                   "exploding");
}

TEST(Divergence, StopsAndNamesStepAndLayer) {
  const Workshop workshop("diverge");
  std::vector<Event> events;
  const Error error = workshop.failure(exploding(), "run", &events);
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  const Event last = events.back();
  EXPECT_EQ(last.kind, "finished");
  EXPECT_EQ(last.body["reason"], "failed");
  const std::int64_t step = last.body["step"].get<std::int64_t>();
  EXPECT_THAT(error.what(), AllOf(HasSubstr(fmt::format("at step {}", step)), HasSubstr("network 'main'"),
                                  HasSubstr("not finite"), HasSubstr("learning rate")));
  EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("layer 'fc1' (Linear)"), HasSubstr("layer 'fc2' (Linear)"),
                                           HasSubstr("layer 'loss'"), HasSubstr("'fc")));
  EXPECT_EQ(events[events.size() - 2].kind, "error");
  EXPECT_EQ(events[events.size() - 2].body["code"], "diverged");
  // The step itself is in the log, its loss as it was.
  const Event& step_ =
      *std::find_if(events.rbegin(), events.rend(), [](const Event& event) { return event.kind == "step"; });
  EXPECT_EQ(step_.body["step"], step);
  const bool lossShown = !std::isfinite(numberFromJson(step_.body["loss"])),
             gradientShown = !std::isfinite(numberFromJson(step_.body["gradient_norm"]));
  EXPECT_TRUE(lossShown || gradientShown) << step_.body;
}

TEST(Divergence, NothingIsSavedAfterItAndTheBestOfBeforeIs) {
  const Workshop workshop("diverge-saved");
  std::vector<Event> events;
  workshop.failure(exploding(), "run", &events);
  for (const char* which : {"best.json", "last.json"}) {
    const auto path = workshop.path() / "run" / "checkpoints" / which;
    if (!std::filesystem::exists(path)) continue;
    const Json pointer = parseJson(readFile(path), which);
    const TensorFile file(workshop.path() / "run" / "checkpoints" / pointer["file"].get<std::string>());
    for (const TensorFile::Tensor& tensor : file.tensors())
      for (const float value : tensor.values) ASSERT_TRUE(std::isfinite(value)) << which << " " << tensor.name;
  }
}

// nan in the data is no matter of the learning rate, and is said to be one of the data.
TEST(Divergence, NamesTheDataWhenItIsTheData) {
  const Workshop workshop("diverge-data");
  const auto dataset = [&](const char* value) {
    std::string text = "x__0,x__1,x__2,y\n";
    for (int row = 0; row < 20; ++row) text += fmt::format("1,2,{},1\n", row == 7 ? value : "3");
    workshop.write("train.csv", text);
  };
  dataset("nan");
  Json project = exploding();
  project["training"]["optimizer"]["learning_rate"] = 0.001;
  std::vector<Event> events;
  const Error error = workshop.failure(project, "run", &events);
  EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("the data: the input 'x'"), HasSubstr("line 9")))
      << "either the reader refuses it or the step does";
}

TEST(Divergence, NamesTheFirstLayer) {
  const Workshop workshop("diverge-layer");
  // The square of 1e30 is beyond float: the layer that squares is the first, though all behind it are infinite too.
  Json project = exploding();
  std::string text = "x__0,x__1,x__2,y\n";
  for (int row = 0; row < 20; ++row) text += "1e30,2e30,3e30,1\n";
  workshop.write("train.csv", text);
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "same"}, {"layer", "Flatten"}});
  network["nodes"].push_back({{"id", "square"}, {"layer", "Multiply"}});
  network["edges"] = Json::parse(
      R"([["x","same"],["x","square"],["same","square"],["square","fc1"],["fc1","fc2"],["fc2","loss"],["y","loss.target"]])");
  const Error error = workshop.failure(project, "run");
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("at step 1 "), HasSubstr("output of layer 'square' (Multiply)")));
}

TEST(Failures, ALabelOutOfRangeIsFoundBeforeTheFirstStepWithItsLine) {
  const Workshop workshop("label");
  workshop.write("train.csv", clusters(30, 1) + "0,0,0,9\n0,0,0,1\n");
  std::vector<Event> events;
  const Error error = workshop.failure(perceptron(), "run", &events);
  EXPECT_EQ(error.code(), ErrorCode::badData);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("fc2: gives 3 scores, but 'y' of dataset 'training' has labels up to 9"),
                                  HasSubstr("9 stands in train.csv line 32, column y")));
  EXPECT_TRUE(std::none_of(events.begin(), events.end(), [](const Event& event) { return event.kind == "step"; }));
}

TEST(Failures, AVariableThatTheDataLacks) {
  const Workshop workshop("variable");
  Json project = perceptron();
  project["networks"]["main"]["nodes"][0]["variable"] = "z";
  const Error error = workshop.failure(project, "run");
  EXPECT_THAT(error.what(), AllOf(HasSubstr("'z'"), HasSubstr("x, y"), HasSubstr("'x'")));
}

TEST(Failures, AVariableOfAnotherSize) {
  const Workshop workshop("size");
  Json project = perceptron();
  project["networks"]["main"]["nodes"][0]["shape"] = {4};
  const Error error = workshop.failure(project, "run");
  EXPECT_EQ(error.code(), ErrorCode::badData);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("4 values"), HasSubstr("3 values")));
}

// As many numbers, but of other rows and columns: a picture would be learnt or judged torn.
TEST(Failures, APictureOfAnotherFormWithAsManyPixels) {
  const Workshop workshop("form");
  std::string rows = "x,y:label\n";
  for (int i = 0; i < 12; ++i) {
    std::string picture;
    for (int row = 0; row < 2; ++row) picture += i % 2 ? "1,2,3,4,5,6\n" : "6,5,4,3,2,1\n";
    workshop.write(fmt::format("{}.csv", i), picture);
    rows += fmt::format("{}.csv,{}\n", i, i % 2);
  }
  workshop.write("train.csv", rows);
  Json project = perceptron(false);
  Json& shape = project["networks"]["main"]["nodes"][0]["shape"];
  shape = {3, 4};
  const Error error = workshop.failure(project, "run");
  EXPECT_EQ(error.code(), ErrorCode::badData);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("3×4 (12 values)"), HasSubstr("2×6 (12 values)"), HasSubstr("another order")));
  for (const Json& same : {Json({12}), Json({1, 2, 6}), Json({2, 6, 1})}) {
    shape = same;
    EXPECT_EQ(workshop.train(project, "run" + same.dump()).of("finished").size(), 1U) << same;
  }
}

TEST(Failures, AMissingCsv) {
  const Workshop workshop("missing");
  Json project = perceptron();
  project["datasets"]["training"]["csv"] = "none.csv";
  std::vector<Event> events;
  const Error error = workshop.failure(project, "run", &events);
  EXPECT_EQ(error.code(), ErrorCode::missingFile);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("none.csv"), HasSubstr("'training'")));
  EXPECT_EQ(events.back().body["reason"], "failed");
}

TEST(Failures, ANetworkWithoutLossOrWithoutParameters) {
  const Workshop workshop("no-loss");
  Json project = perceptron();
  project["networks"]["main"]["nodes"].erase(5);
  project["networks"]["main"]["edges"].erase(4);
  project["networks"]["main"]["edges"].erase(3);
  EXPECT_THAT(workshop.failure(project, "run").what(), HasSubstr("loss"));
  project = perceptron();
  project["training"]["parameters"] = {"nothing*"};
  EXPECT_THAT(workshop.failure(project, "run2").what(), AllOf(HasSubstr("'fc1/weight'"), HasSubstr("matched")));
}

// An error between two steps loses nothing that was trained: a checkpoint of the steps before it is written.
TEST(Failures, WhatWasTrainedBeforeAnErrorIsKept) {
  const Workshop workshop("salvage");
  Json project = perceptron();
  project["training"]["epochs"] = 40;
  bool broken = false;
  std::vector<Event> events;
  const Error error = workshop.failure(project, "run", &events, {.watch = [&](const Event& event, const RunFolder&) {
                                         if (broken || event.kind != "validation") return;
                                         broken = true;
                                         throw Error(ErrorCode::inputOutput, "the disk went away");
                                       }});
  EXPECT_THAT(error.what(), HasSubstr("the disk went away"));
  const auto kept = findCheckpoint({workshop.path() / "run"}, Which::last);
  ASSERT_TRUE(kept);
  EXPECT_EQ(Checkpoint(*kept).step(), 4);
  EXPECT_EQ(events.back().kind, "finished");
  EXPECT_EQ(events.back().body["reason"], "failed");
}

TEST(Failures, ASecondTrainerIsRefusedByTheLock) {
  const Workshop workshop("second");
  bool tried = false;
  workshop.train(perceptron(), "run", {.watch = [&](const Event& event, const RunFolder&) {
                   if (tried || event.kind != "step") return;
                   tried = true;
                   const Error error = workshop.failure(perceptron(), "run", nullptr, {.resume = true});
                   EXPECT_EQ(error.code(), ErrorCode::badArgument);
                   EXPECT_THAT(error.what(), HasSubstr("being trained by another process"));
                 }});
  EXPECT_TRUE(tried);
}

// Looking for the place may take more memory than there is, and the process with it.
TEST(Divergence, TheBestOfBeforeIsOnDiskBeforeThePlaceIsLookedFor) {
  const Workshop workshop("diverge-first");
  Json project = exploding();
  project["training"]["optimizer"]["learning_rate"] = 1e-6;
  bool training = false, saved = false;
  WatchedBackend backend;
  backend.compiled = [&](ParameterStore&) {
    if (!training) return;
    saved = findCheckpoint({workshop.path() / "run"}, Which::best).has_value();
    throw std::bad_alloc();
  };
  const Error error = workshop.failure(project, "run", nullptr,
                                       {.watch =
                                            [&](const Event& event, const RunFolder& folder) {
                                              if (event.kind != "epoch") return;
                                              training = true;
                                              appendControl(folder, {{"command", "learning_rate"}, {"value", 1e30}});
                                            },
                                        .backend = &backend});
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("the loss is"), HasSubstr("is not finite"))) << "the symptom";
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("the first values"))) << "where the place cannot be told";
  EXPECT_TRUE(saved);
}

// Running statistics are infinite, too, and so is what lies behind: the first is named, however few are kept at a time
// and whichever shard it was in.
TEST(Divergence, NamesTheFirstLayerOfAnyShardPieceByPiece) {
  const Workshop workshop("diverge-pieces");
  Json project = exploding();
  std::string text = "x__0,x__1,x__2,y\n";
  for (int row = 0; row < 20; ++row) text += fmt::format("{},1,2,1\n", row == 3 ? "1e30" : "1");
  workshop.write("train.csv", text);
  Json& network = project["networks"]["main"];
  network["nodes"].push_back({{"id", "same"}, {"layer", "Flatten"}});
  network["nodes"].push_back({{"id", "square"}, {"layer", "Multiply"}});
  network["nodes"].push_back({{"id", "bn"}, {"layer", "BatchNormalization"}});
  network["edges"] = Json::parse(
      R"([["x","same"],["x","square"],["same","square"],["square","bn"],["bn","fc1"],["fc1","fc2"],["fc2","loss"],["y","loss.target"]])");
  project["training"].update({{"accumulate", 4}, {"shuffle", false}, {"batch", 20}});
  const Error error = workshop.failure(project, "run");
  EXPECT_EQ(error.code(), ErrorCode::diverged);
  EXPECT_THAT(error.what(), HasSubstr("output of layer 'square' (Multiply)"));

  const ReadProject read = readProject(project.dump(), "test.loom");
  WatchedBackend backend;
  int compiled = 0;
  backend.compiled = [&](ParameterStore&) { ++compiled; };
  ParameterStore store(1);
  CompiledNetworks networks(backend, store, {}, 1);
  const CompileRequest request{.network = &read.project.networks[0], .batch = 2};
  Executable& executable = networks.get(request);
  auto* const x = reinterpret_cast<float*>(executable.input("x").data());
  auto* const y = reinterpret_cast<float*>(executable.input("y").data());
  std::fill_n(y, 2, 1.0f);
  for (const std::int64_t most : {1, 1 << 20}) {
    const auto place = [&] {
      compiled = 0;
      return firstNotFinite(backend, store,
                            {.network = *request.network,
                             .program = networks.program(request),
                             .executable = executable,
                             .step = {},
                             .compile = {},
                             .mostKept = most});
    };
    std::fill_n(x, 6, 1.0f);
    EXPECT_EQ(place(), "");
    EXPECT_EQ(compiled > 1, most == 1) << compiled << " passes";
    x[4] = 1e30f;
    EXPECT_EQ(place(), "the output of layer 'square' (Multiply)");
  }
}

}  // namespace
}  // namespace loom
