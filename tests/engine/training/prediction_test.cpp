#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/write_png.h"
#include "tests/engine/training/fixture.h"

namespace loom {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) all.push_back(line);
  return all;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) all.push_back(cell);
  return all;
}

TEST(Prediction, AddsProbabilitiesToTheColumns) {
  const Workshop workshop("predict", 300);
  Json project = perceptron();
  project["training"]["epochs"] = 10;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const auto result = trained.predict({.files = {workshop.path() / "val.csv"}, .out = workshop.path() / "out.csv"});
  EXPECT_EQ(result.samples, 21);
  EXPECT_THAT(result.columns, testing::ElementsAre("y'__0", "y'__1", "y'__2"));
  const auto before = lines(readFile(workshop.path() / "val.csv")),
             after = lines(readFile(workshop.path() / "out.csv"));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0], before[0] + ",y'__0,y'__1,y'__2");
  int right = 0;
  for (std::size_t row = 1; row < after.size(); ++row) {
    EXPECT_EQ(after[row].rfind(before[row] + ",", 0), 0u) << "the row's own text stays as it is";
    const auto values = cells(after[row]);
    ASSERT_EQ(values.size(), 7u);
    double sum = 0, best = -1;
    int choice = 0;
    for (int i = 0; i < 3; ++i) {
      const double p = std::stod(values[4 + i]);
      sum += p;
      if (p > best) best = p, choice = i;
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    right += std::to_string(choice) == values[3];
  }
  EXPECT_NEAR(right / 21.0, trained.evaluate("").metrics[0].second, 1e-6)
      << "the same samples are right as evaluation says";
}

TEST(Prediction, ComputesInThePrecisionOfTheRunAsEvaluationDoes) {
  const Workshop workshop("predict-precision");
  Json project = perceptron();
  project["training"].update({{"epochs", 1}, {"precision", "bf16"}});
  const auto run = workshop.train(project, "run");
  WatchedBackend backend;
  TrainedNetwork trained(backend, {.run = run.folder});
  trained.predict({.files = {workshop.path() / "val.csv"}, .out = workshop.path() / "out.csv"});
  trained.evaluate("");
  EXPECT_GE(backend.precisions.size(), 2u);
  EXPECT_THAT(backend.precisions, testing::Each(DataType::bf16));
}

TEST(Prediction, ReadsQuotedCellsBlankLinesAndOtherColumns) {
  const Workshop workshop("predict-quoted");
  const auto run = workshop.train(perceptron(), "run");
  workshop.write("odd.csv",
                 "\xEF\xBB\xBFx__0,x__1,#note,x__2,y:label\r\n1,2,\"a, \"\"b\"\"\nc\",3,0\r\n\r\n4,5,plain,6,1");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  EXPECT_EQ(trained.predict({.files = {workshop.path() / "odd.csv"}, .out = workshop.path() / "out.csv"}).samples, 2);
  const std::string out = readFile(workshop.path() / "out.csv");
  EXPECT_THAT(out, HasSubstr("1,2,\"a, \"\"b\"\"\nc\",3,0,0."));
  EXPECT_THAT(out, HasSubstr("\n4,5,plain,6,1,0."));
}

TEST(Prediction, OneNumberIsOneColumn) {
  const Workshop workshop("predict-one");
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "target", "layer": "Input", "shape": [1], "variable": "y"}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["target", "loss.target"]]})");
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  EXPECT_THAT(trained.predict({.files = {workshop.path() / "val.csv"}, .out = workshop.path() / "out.csv"}).columns,
              testing::ElementsAre("y'"));
}

TEST(Prediction, WhatHasAxesGoesIntoFiles) {
  const Workshop workshop("predict-files");
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 6},
    {"id": "grid", "layer": "Reshape", "shape": [2, 3]}, {"id": "goal", "layer": "Input", "shape": [3], "variable": "x"},
    {"id": "back", "layer": "Linear", "outputs": 3}, {"id": "loss", "layer": "MeanSquaredError"}, {"id": "flat", "layer": "Flatten"}],
    "edges": [["x", "fc"], ["fc", "grid"], ["grid", "flat"], ["flat", "back"], ["back", "loss"], ["goal", "loss.target"]]})");
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  EXPECT_THAT(trained.predict({.files = {workshop.path() / "val.csv"}, .out = workshop.path() / "out.csv"}).columns,
              testing::ElementsAre("x'__0", "x'__1", "x'__2"));
}

// A loss is that of the sample by itself, whatever batch it was computed in, and the truth is what the file says.
TEST(Prediction, TellsTruthAndLossOfEachSample) {
  const Workshop workshop("predict-loss");
  workshop.write("train.y.classes.txt", "red\ngreen\nblue\n");
  const auto run = workshop.train(perceptron(), "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const Predictions said = trained.predict({.files = {workshop.path() / "val.csv"}, .keep = 20});
  EXPECT_EQ(said.samples, 21);
  EXPECT_TRUE(said.columns.empty()) << "no CSV was asked for";
  EXPECT_EQ(said.step, Checkpoint(trained.run().checkpoint()).step());
  EXPECT_GT(said.step, 0);
  ASSERT_EQ(said.kept.size(), 20u);
  ASSERT_EQ(said.outputs.size(), 1u);
  EXPECT_EQ(said.outputs[0].kind, OutputKind::classes);
  EXPECT_THAT(said.outputs[0].classes, testing::ElementsAre("red", "green", "blue"));
  for (const PredictedSample& sample : said.kept) {
    ASSERT_EQ(sample.outputs[0].truth.size(), 1u);
    const auto truth = static_cast<std::size_t>(sample.outputs[0].truth[0]);
    ASSERT_TRUE(sample.loss);
    EXPECT_NEAR(*sample.loss, -std::log(sample.outputs[0].values[truth]), 1e-4);
  }
  const std::vector<ClassShare> shares = classShares(said.outputs[0], said.kept[0].outputs[0].values);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_GE(shares[0].share, shares[1].share);
  const Predictions read = predictionsFromJson(Json::parse(toJson(said).dump()));
  EXPECT_EQ(toJson(read), toJson(said));
}

TEST(Prediction, NeedsNoTargetAndFindsColumnsByName) {
  const Workshop workshop("predict-columns");
  const auto run = workshop.train(perceptron(), "run");
  workshop.write("as_trained.csv", "x__0,x__1,x__2,y:label\n2,0,0.5,0\n");
  workshop.write("others.csv", "age,x__0,x__1,x__2,price\n31,2,0,0.5,8\n");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const auto asTrained = trained.predict({.files = {workshop.path() / "as_trained.csv"}, .keep = 1});
  const auto others = trained.predict({.files = {workshop.path() / "others.csv"}, .keep = 1});
  EXPECT_EQ(others.kept[0].outputs[0].values, asTrained.kept[0].outputs[0].values);
  EXPECT_TRUE(others.kept[0].outputs[0].truth.empty());
  EXPECT_FALSE(others.kept[0].loss);
}

// A hole in a file to predict is filled as the run's preparation says, by what was measured on the training part; where
// no step says so nothing is put there unasked: column, rows and remedy are named.
TEST(Prediction, HolesAreFilledByTheRunsOwnStepOrNamed) {
  const Workshop workshop("predict-holes");
  std::string text = "a,b,town,y\n";
  for (int i = 0; i < 41; ++i) text += fmt::format("{},{},{},{}\n", i, i % 5, i % 3 ? "Ulm" : "Bern", 2 * i);
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]})");
  project["datasets"].erase("validation");
  project["datasets"]["training"]["prepare"] =
      Json::parse(R"([{"step": "Fill", "variable": "a"}, {"step": "Fill", "variable": "town", "with": "most_frequent"},
    {"step": "Encode", "variable": "town", "form": "one_hot"}, {"step": "Scale", "variable": "y", "by": 0.01},
    {"step": "Join", "variable": ["a", "b", "town"], "into": "x"}])");
  project["training"]["epochs"] = 2;
  project["training"]["optimizer"] = {{"name", "Momentum"}, {"learning_rate", 1e-5}};
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const auto said = [&](const char* name, const char* rows) {
    workshop.write(name, rows);
    std::vector<float> values;
    for (const PredictedSample& each : trained.predict({.files = {workshop.path() / name}, .keep = 9}).kept)
      values.push_back(each.outputs[0].values[0]);
    return values;
  };
  // The median of the training part, whatever else the new file holds.
  EXPECT_EQ(said("holes.csv", "town,a,b\nUlm,,1\n,7,2\nBern,900,3\nBern,NA,4\n"),
            said("whole.csv", "a,b,town\n20,1,Ulm\n7,2,Ulm\n900,3,Bern\n20,4,Bern\n"));
  try {
    said("refused.csv", "a,b,town\n,1,Ulm\n3,,Ulm\n4,2,\n5,,Bern\n");
    FAIL() << "a hole of b was guessed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(),
                testing::AllOf(HasSubstr("b is empty in 2 rows (lines 3, 5)"), HasSubstr("step Fill for b")));
    EXPECT_THAT(error.what(), testing::Not(testing::AnyOf(HasSubstr("a is empty"), HasSubstr("town is empty"))));
  }
}

TEST(Prediction, OfPicturesIsASampleEach) {
  const Workshop workshop("predict-pictures");
  std::string index = "x:image,y:label\n";
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 16; ++i) {
    const std::string name = fmt::format("a, {}.png", i);
    std::vector<std::byte> pixels(9, std::byte(i % 2 ? 250 - i : i));
    writePng(workshop.path() / name, pixels, {1, 3, 3});
    files.push_back(workshop.path() / name);
    index += fmt::format("\"{}\",{}\n", name, i % 2);
  }
  workshop.write("train.csv", index);
  Json project = perceptron(false);
  project["networks"]["main"]["nodes"][0]["shape"] = {1, 3, 3};
  project["datasets"].erase("validation");
  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Scale", "by": 0.00392156862745098}])");
  project["training"]["epochs"] = 40;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const Predictions said =
      trained.predict({.files = {files[3], files[4]}, .out = workshop.path() / "o.csv", .keep = 9});
  ASSERT_EQ(said.kept.size(), 2u);
  EXPECT_EQ(said.kept[0].source, files[3].string());
  EXPECT_EQ(classShares(said.outputs[0], said.kept[0].outputs[0].values)[0].name, "1");
  EXPECT_EQ(classShares(said.outputs[0], said.kept[1].outputs[0].values)[0].name, "0");
  EXPECT_THAT(lines(readFile(workshop.path() / "o.csv"))[1], testing::StartsWith('"' + files[3].string() + "\",0."));
  const auto refusal = [&](std::vector<std::filesystem::path> named) -> std::string {
    try {
      trained.predict({.files = std::move(named)});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(refusal({files[0], workshop.path() / "train.csv"}), HasSubstr("1 of 2 files"));
  EXPECT_THAT(refusal({workshop.path() / "none.png"}), HasSubstr("no such file"));
}

// A target that was scaled for training comes back in the unit of its column.
TEST(Prediction, OfNumbersIsInTheirUnit) {
  const Workshop workshop("predict-unit");
  std::string text = "x,y\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("{},{}\n", i / 32.0 - 1, 200000 + 3000 * i);
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "y", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]})");
  project["datasets"].erase("validation");
  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Normalise", "variable": "y"}])");
  project["training"]["epochs"] = 60;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const Predictions said = trained.predict({.files = {workshop.path() / "train.csv"}, .keep = 64});
  for (const PredictedSample& sample : said.kept) {
    EXPECT_EQ(sample.outputs[0].truth[0], 200000 + 3000 * static_cast<float>(sample.sample));
    EXPECT_NEAR(sample.outputs[0].values[0], sample.outputs[0].truth[0], 4000);
  }
}

// What was said of the run's own data holds for a new file: it has no header, and 1.500 is 1,500. A first line that
// names the columns is a header all the same; and who writes the file anew for the purpose says so.
TEST(Prediction, ReadsAFileAsTheRunsOwnWasSaidToBe) {
  const Workshop workshop("predict-format");
  std::string text;
  for (int i = 0; i < 64; ++i) text += fmt::format("{0}.{1:03};{0}\n", 1 + i % 4, 10 * i);
  workshop.write("train.csv", text);
  Json project = perceptron(false);
  project["networks"]["main"] = Json::parse(
      R"({"nodes": [{"id": "c1", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 1},
    {"id": "c2", "layer": "Input", "shape": [1]}, {"id": "loss", "layer": "MeanSquaredError"}],
    "edges": [["c1", "fc"], ["fc", "loss"], ["c2", "loss.target"]]})");
  project["datasets"].erase("validation");
  project["datasets"]["training"].update({{"header", false}, {"thousands", "point"}});
  project["datasets"]["training"]["prepare"] = Json::parse(R"([{"step": "Standardise", "variable": "c1"}])");
  project["training"]["epochs"] = 1;
  const auto run = workshop.train(project, "run");
  TrainedNetwork trained(cpuBackend(), {.run = run.folder});
  const auto valuesOf = [&](const char* rows, bool recognised = false) {
    workshop.write("new.csv", rows);
    const Predictions said = trained.predict({.files = {workshop.path() / "new.csv"},
                                              .out = workshop.path() / "out.csv",
                                              .keep = 9,
                                              .recognised = recognised});
    std::vector<float> values;
    for (const PredictedSample& sample : said.kept) values.push_back(sample.outputs[0].values[0]);
    if (!said.kept.empty()) EXPECT_EQ(said.kept[0].cells.size(), said.heads.size());
    return values;
  };
  const std::vector<float> bare = valuesOf("1.500;1\n4.250;4\n2.000;2\n");
  ASSERT_EQ(bare.size(), 3u);
  const auto written = lines(readFile(workshop.path() / "out.csv"));
  ASSERT_EQ(written.size(), 4u);
  EXPECT_EQ(written[0], "c1;c2;c2'");
  EXPECT_TRUE(written[1].starts_with("1.500;1;") && written[3].starts_with("2.000;2;")) << written[1];
  EXPECT_EQ(valuesOf("c1;c2\n1.500;1\n4.250;4\n2.000;2\n"), bare);
  EXPECT_EQ(valuesOf("c1\n1500\n4250\n2000\n", true), bare);
  EXPECT_NE(valuesOf("c1\n1.500\n4.250\n2.000\n", true), bare);
}

TEST(TrainedRuns, WithoutABestCheckpointMeanTheLast) {
  const Workshop workshop("trained-which");
  const auto run = workshop.train(perceptron(), "run");
  EXPECT_EQ(TrainedRun(run.folder).which(), Which::best);
  EXPECT_EQ(TrainedRun(run.folder, whichWeights("last")).which(), Which::last);
  EXPECT_THROW(whichWeights("newest"), Error);
  std::filesystem::remove(run.folder.checkpoints() / "best.json");
  const TrainedRun trained(run.folder);
  EXPECT_EQ(trained.which(), Which::last);
  EXPECT_EQ(trained.networkName(), "main");
  EXPECT_EQ(trained.weights().size(), 4u);
}

TEST(TrainedRuns, SayWhatIsMissing) {
  const Workshop workshop("trained-missing");
  const auto message = [&](const std::string& name) -> std::string {
    try {
      TrainedNetwork trained(cpuBackend(), {.run = {workshop.path() / name}});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message("none"), HasSubstr("no run.json"));
  const auto run = workshop.train(perceptron(), "run");
  std::filesystem::remove_all(run.folder.checkpoints());
  EXPECT_THAT(message("run"), HasSubstr("no checkpoint"));
  workshop.write("run/run.json", "{\"run\": 99}");
  EXPECT_THAT(message("run"), HasSubstr("newer"));
  workshop.write("run/run.json", "{\"run\": 1}");
  EXPECT_THAT(message("run"), HasSubstr("no description of a run"));
}

}  // namespace
}  // namespace loom
