// Training that begins with weights from a file: which, from where, and what run.json says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/control.h"
#include "engine/run/safetensors.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// The perceptron trained for a moment without moving: what a run begins with is what its checkpoint holds.
Json still() {
  Json project = perceptron();
  project["training"]["optimizer"] = {{"name", "SGD"}, {"learning_rate", 0.0}};
  project["training"]["max_steps"] = 1;
  return project;
}

using Tensors = std::map<std::string, std::vector<float>>;

void writeTensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Shape>>& named,
                  Tensors& values) {
  std::vector<TensorFile::Tensor> tensors;
  float number = 0;
  for (const auto& [name, shape] : named) {
    std::vector<float>& filled = values[name];
    for (std::int64_t i = 0; i < shape.elements(); ++i) filled.push_back(number += 0.01f);
    tensors.push_back({name, shape, filled});
  }
  TensorFile::write(path, tensors, {});
}

Json runFile(const Workshop::Run& run) {
  return parseJson(readFile(run.folder.runFile()), "run.json");
}

TEST(StartFrom, AFileUnderOurNames) {
  const Workshop workshop("start_from");
  Tensors given;
  writeTensors(workshop.path() / "w.safetensors",
               {{"fc1/weight", {8, 3}}, {"fc1/bias", {8}}, {"fc2/weight", {3, 8}}, {"fc2/bias", {3}}}, given);
  Json project = still();
  project["training"]["start_from"] = "w.safetensors";
  const auto run = workshop.train(project, "run");
  EXPECT_EQ(run.tensors(), given);
  EXPECT_THAT(run.of("warning"), IsEmpty());
  const Json json = runFile(run);
  EXPECT_EQ(json["started_from"]["matched"], 4);
  EXPECT_EQ(json["settings"]["start_from"], "w.safetensors");
  EXPECT_EQ(run.of("started").at(0).body["started_from"]["matched"], 4);
}

TEST(StartFrom, AFileOfPyTorchWhoseLastLayerIsAnother) {
  const Workshop workshop("start_from_torch");
  Tensors given;
  writeTensors(workshop.path() / "w.safetensors",
               {{"net.0.weight", {8, 3}}, {"net.0.bias", {8}}, {"net.2.weight", {1000, 8}}, {"net.2.bias", {1000}}},
               given);
  Json project = still();
  project["training"]["start_from"] = "w.safetensors";
  const auto drawn = workshop.train(still(), "drawn").tensors();
  const auto run = workshop.train(project, "run");
  Tensors wanted = drawn;
  wanted["fc1/weight"] = given["net.0.weight"];
  wanted["fc1/bias"] = given["net.0.bias"];
  EXPECT_EQ(run.tensors(), wanted);
  ASSERT_EQ(run.of("warning").size(), 1u);
  EXPECT_THAT(run.of("warning")[0].body["message"].get<std::string>(), HasSubstr("fc2/weight, fc2/bias"));
  EXPECT_EQ(runFile(run)["started_from"]["missing"], Json::array({"fc2/weight", "fc2/bias"}));
}

TEST(StartFrom, APartOfARun) {
  const Workshop workshop("start_from_run");
  Json first = perceptron();
  first["training"]["epochs"] = 1;
  const auto trained = workshop.train(first, "first");
  const auto drawn = workshop.train(still(), "drawn").tensors();
  Json project = still();
  project["training"]["start_from"] = "first";
  project["training"]["start_from_parameters"] = {"fc1/*"};
  Tensors wanted = drawn;
  const auto weights = trained.tensors();
  for (const char* name : {"fc1/weight", "fc1/bias"}) {
    ASSERT_NE(weights.at(name), drawn.at(name));
    wanted[name] = weights.at(name);
  }
  const auto run = workshop.train(project, "run");
  EXPECT_EQ(run.tensors(), wanted);
  EXPECT_THAT(run.of("warning"), IsEmpty()) << "what was not asked for is not missed";
}

// Resuming goes on with the checkpoint, whatever became of the file; and the run still says what it began with.
TEST(StartFrom, ResumingReadsTheCheckpoint) {
  const Workshop workshop("start_from_resume");
  Tensors given;
  writeTensors(workshop.path() / "w.safetensors",
               {{"fc1/weight", {8, 3}}, {"fc1/bias", {8}}, {"fc2/weight", {3, 8}}, {"fc2/bias", {3}}}, given);
  Json project = perceptron();
  project["training"]["start_from"] = "w.safetensors";
  const auto whole = workshop.train(project, "whole");
  const auto stopAt = [](const Event& event, const RunFolder& folder) {
    if (event.kind == "step" && event.body["step"] == 3) appendControl(folder, {{"command", "stop"}});
  };
  const auto begun = workshop.train(project, "run", {.watch = stopAt});
  ASSERT_TRUE(begun.result.stopped);
  std::filesystem::remove(workshop.path() / "w.safetensors");
  const auto resumed = workshop.train(project, "run", {.resume = true});
  EXPECT_EQ(resumed.tensors(), whole.tensors());
  EXPECT_EQ(runFile(resumed)["started_from"]["matched"], 4);
}

TEST(StartFrom, WhatCannotBeIsSaid) {
  const Workshop workshop("start_from_faults");
  Json project = still();
  project["training"]["start_from"] = "none.safetensors";
  const Error missing = workshop.failure(project, "a");
  EXPECT_EQ(missing.code(), ErrorCode::missingFile);
  EXPECT_THAT(missing.what(), HasSubstr("none.safetensors"));
  Tensors given;
  writeTensors(workshop.path() / "other.safetensors",
               {{"q.weight", {77, 3}}, {"r.weight", {5, 5, 5}}, {"s.weight", {9}}}, given);
  project["training"]["start_from"] = "other.safetensors";
  const Error other = workshop.failure(project, "b");
  EXPECT_EQ(other.code(), ErrorCode::badProject);
  EXPECT_THAT(other.what(), HasSubstr("another network"));
  workshop.write("broken.safetensors", "12345678901234567890");
  project["training"]["start_from"] = "broken.safetensors";
  EXPECT_EQ(workshop.failure(project, "c").code(), ErrorCode::badData);
}

}  // namespace
}  // namespace loom
