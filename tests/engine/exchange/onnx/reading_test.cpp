// What cannot be read or translated is told; views and functions by themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/graph_writer.h"
#include "engine/exchange/onnx/patterns.h"
#include "engine/exchange/onnx/view.h"
#include "engine/network/analysis.h"
#include "tests/engine/exchange/onnx/run_network.h"

namespace loom {
namespace {

namespace fs = std::filesystem;
using namespace onnx_file;
using testing::HasSubstr;
using Kind = ReportItem::Kind;

class OnnxReading : public testing::Test {
 protected:
  OnnxReading() { fs::create_directories(m_folder); }
  ~OnnxReading() override {
    std::error_code none;
    fs::remove_all(m_folder, none);
  }
  fs::path file(const std::string& name, const std::string& bytes) const {
    fs::create_directories((m_folder / name).parent_path());
    std::ofstream(m_folder / name, std::ios::binary) << bytes;
    return m_folder / name;
  }
  std::string refusal(const fs::path& path) const {
    try {
      (void)importFile({.file = path});
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  }
  fs::path m_folder = fs::temp_directory_path() / fmt::format("gradloom-onnx-reading-{}", ::getpid());
};

TEST_F(OnnxReading, RefusesWhatIsNone) {
  EXPECT_THAT(refusal(m_folder / "absent.onnx"), HasSubstr("absent.onnx"));
  EXPECT_THAT(refusal(file("text.onnx", "hello")), HasSubstr("text.onnx"));
  const std::string whole = readFile(kOnnxData / "windows.onnx");
  EXPECT_THAT(refusal(file("torn.onnx", whole.substr(0, whole.size() / 2))), HasSubstr("only a part"));
  EXPECT_THAT(refusal(file("empty.onnx", "")), HasSubstr("empty.onnx is empty"));
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  EXPECT_THAT(refusal(file("pointer.onnx", pointer)), HasSubstr("git lfs pull"));
  file("embedding.bin", pointer);
  EXPECT_THAT(refusal(file("embedding.onnx", readFile(kOnnxData / "embedding.onnx"))), HasSubstr("git lfs pull"));
}

TEST_F(OnnxReading, RefusesWeightsOutsideOfItsFolder) {
  const std::string model = readFile(kOnnxData / "embedding.onnx"), weights = readFile(kOnnxData / "embedding.bin");
  file("inside/embedding.onnx", model);
  EXPECT_THAT(refusal(m_folder / "inside/embedding.onnx"), HasSubstr("embedding.bin"));  // not there
  file("embedding.bin", weights);
  std::error_code none;
  fs::create_symlink(m_folder / "embedding.bin", m_folder / "inside/embedding.bin", none);
  EXPECT_THAT(refusal(m_folder / "inside/embedding.onnx"), HasSubstr("outside of the folder"));
  // The same number of letters, so that the file stays whole.
  std::string leads = model;
  for (std::size_t at = 0; (at = leads.find("embedding.bin", at)) != leads.npos; at += 13)
    leads.replace(at, 13, "../mbedding.b");
  EXPECT_THAT(refusal(file("inside/leads.onnx", leads)), HasSubstr("outside of the folder"));
  fs::remove(m_folder / "inside/embedding.bin");
  file("inside/embedding.bin", weights.substr(0, 40));
  EXPECT_THAT(refusal(m_folder / "inside/embedding.onnx"), HasSubstr("bytes"));
  file("inside/embedding.bin", weights);
  EXPECT_EQ(refusal(m_folder / "inside/embedding.onnx"), "taken");
}

// A hub's cache: a snapshot of links to files that are named by their hash, in another folder.
TEST_F(OnnxReading, TakesWeightsBesideWhatTheModelsLinkLeadsTo) {
  file("blobs/1a2b", readFile(kOnnxData / "embedding.onnx"));
  file("blobs/3c4d", readFile(kOnnxData / "embedding.bin"));
  fs::create_directories(m_folder / "snapshots/0123");
  fs::create_symlink("../../blobs/1a2b", m_folder / "snapshots/0123/embedding.onnx");
  fs::create_symlink("../../blobs/3c4d", m_folder / "snapshots/0123/embedding.bin");
  EXPECT_EQ(refusal(m_folder / "snapshots/0123/embedding.onnx"), "taken");
  fs::remove(m_folder / "snapshots/0123/embedding.bin");
  fs::create_symlink("../../elsewhere", m_folder / "snapshots/0123/embedding.bin");
  file("elsewhere", readFile(kOnnxData / "embedding.bin"));
  EXPECT_THAT(refusal(m_folder / "snapshots/0123/embedding.onnx"), HasSubstr("outside of the folder"));
}

// What was done to the pictures that it was trained on stands in no model.
TEST_F(OnnxReading, SaysThatNothingTellsWhichPixelsItWants) {
  const auto told = [](const char* model) {
    std::string all;
    for (const ReportItem& item : importFile({.file = kOnnxData / model}).report.items)
      if (item.layer == "x") all += item.sentence;
    return all;
  };
  EXPECT_THAT(told("ceiling.onnx"), HasSubstr("does not tell which numbers it wants for pictures"));
  EXPECT_EQ(told("windows.onnx"), "Input.");  // of two channels: no pictures
}

TEST_F(OnnxReading, SaysThatAPairOfQuantisationIsNotRounded) {
  const Imported imported = importFile({.file = kOnnxData / "quantised.onnx"});
  EXPECT_TRUE(imported.report.complete());
  EXPECT_TRUE(std::any_of(imported.report.items.begin(), imported.report.items.end(), [](const ReportItem& item) {
    return item.sentence.find("rounded to steps of 0.02") != item.sentence.npos;
  }));
  // Within half a step of what the file gives, also beyond the range of 8 bits: -2 to 3.1.
  const ValuesByName outputs = runNetwork(imported.project.networks.at(0), &imported.weights,
                                          {{"x", {.shape = {2, 2}, .values = {0.5F, -0.31F, 9, -9}}}});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_NEAR(outputs.begin()->second.values[0], 0.5 - 2 * 0.3, 0.03);
  EXPECT_NEAR(outputs.begin()->second.values[1], 3.1 - 2 * 2, 1e-5);
}

TEST_F(OnnxReading, TellsWhereIndicesAreCalculatedWith) {
  GraphWriter graph("net", 17, "");
  graph.input("ids", {-1, 3}, true);
  graph.output(graph.node("Gather", {graph.constant("table", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), "ids"}), {-1, 3, 2});
  graph.setOrigin("second");
  graph.output(graph.node("Sqrt", {graph.node("Cast", {"ids"}, {{"to", std::int64_t{1}}})}), {-1, 3});
  graph.write(m_folder / "net.onnx");
  const Imported imported = importFile({.file = m_folder / "net.onnx"});
  EXPECT_TRUE(std::any_of(imported.report.items.begin(), imported.report.items.end(), [](const ReportItem& item) {
    return item.kind == Kind::untranslatable && item.sentence.find("two inputs") != item.sentence.npos;
  }));
  EXPECT_TRUE(analyse(imported.project.networks.at(0)).sound());
}

// One row that is added to each of two samples would be added to one of them alone.
TEST_F(OnnxReading, RefusesInputsWithoutACommonBatch) {
  GraphWriter graph("net", 17, "");
  graph.input("a", {2, 3}, false);
  graph.input("b", {1, 3}, false);
  graph.output(graph.node("Add", {"a", "b"}), {2, 3});
  graph.write(m_folder / "net.onnx");
  const Imported imported = importFile({.file = m_folder / "net.onnx"});
  EXPECT_TRUE(std::any_of(imported.report.items.begin(), imported.report.items.end(), [](const ReportItem& item) {
    return item.kind == Kind::untranslatable && item.layer == "b" &&
           item.sentence.find("has 1, that of another input 2") != item.sentence.npos;
  }));
}

// The shape behind each is known, so what follows is drawn behind an Input.
TEST_F(OnnxReading, DrawsWhatFollowsAnOperatorWithoutCounterpart) {
  for (const char* op : {"Shrink", "IsInf", "ReverseSequence", "ai.onnx.ml.LabelEncoder"}) {
    SCOPED_TRACE(op);
    Facts facts;
    facts.make("x") = {true, {kBatch, 3, 8}, nullptr};
    const auto shapes = shapesOf({.name = "s", .op = op, .inputs = {"x", "n"}, .outputs = {"y"}}, facts, 17);
    ASSERT_TRUE(shapes);
    EXPECT_EQ(shapes->front(), (Extents{kBatch, 3, 8}));
  }
}

TEST_F(OnnxReading, ListsWhatItCannotTranslateAndDrawsTheRest) {
  GraphWriter graph("net", 17, "");
  graph.setOrigin("first");
  graph.input("x", {-1, 3, 8, 8}, false);
  const std::string bent = graph.node("Relu", {"x"});
  graph.setOrigin("strange");
  const std::string strange = graph.node("LpNormalization", {bent});
  graph.setOrigin("last");
  graph.output(graph.node("Tanh", {strange}), {-1, 3, 8, 8});
  graph.write(m_folder / "net.onnx");
  const Imported imported = importFile({.file = m_folder / "net.onnx"});
  EXPECT_EQ(imported.report.format, "ONNX");
  ASSERT_EQ(imported.report.count(Kind::untranslatable), 1U);
  for (const ReportItem& item : imported.report.items) {
    if (item.kind != Kind::untranslatable) continue;
    EXPECT_EQ(item.layer, "/strange/LpNormalization (LpNormalization)");
    EXPECT_THAT(item.sentence, HasSubstr("strange_stand_in"));
  }
  const Network& network = imported.project.networks.at(0);
  EXPECT_TRUE(network.find("first") && network.find("last") && network.find("strange_stand_in"));
  EXPECT_EQ(network.find("strange_stand_in")->values["shape"], Json({3, 8, 8}));
  EXPECT_TRUE(analyse(network).sound());
}

TEST_F(OnnxReading, NamesEveryNodeInItsReport) {
  for (const char* name : {"windows", "shapes", "functions", "recurrent"}) {
    OnnxGraph graph = readModel(kOnnxData / (std::string(name) + ".onnx"));
    const Imported imported = importFile({.file = kOnnxData / (std::string(name) + ".onnx")});
    for (const OnnxNode& node : graph.nodes) {
      if (node.op == "Constant" || node.op == "If") continue;  // a constant is no step; of an If its branch is told
      const auto told = [&](const ReportItem& item) {
        return item.layer.find(node.name.empty() ? node.outputs.front() : node.name) != item.layer.npos;
      };
      EXPECT_TRUE(std::any_of(imported.report.items.begin(), imported.report.items.end(), told))
          << name << ": " << node.title();
    }
  }
}

TEST_F(OnnxReading, NamesNodesByTheirWeights) {
  const Imported imported = importFile({.file = kOnnxData / "torch_residual_legacy.onnx"});
  const Network& network = imported.project.networks.at(0);
  EXPECT_TRUE(network.find("conv2") && network.find("fc"));
  EXPECT_EQ(imported.project.training.settings["start_from"], imported.weightsFile);
  EXPECT_EQ(imported.weightsFile, "torch_residual_legacy.safetensors");
}

TEST(OnnxViews, FollowReshapesTransposesAndSlices) {
  // A sequence of 5 steps x 24, as three parts of 2 heads of 4.
  const View plain = plainView({"qkv", "output"}, {5, 24}, {kBatch, 5, 24});
  const View keys = *sliced(plain, {.axis = 2, .start = 8, .step = 1, .length = 8});
  const View heads = *transposed(*reshaped(keys, {kBatch, 5, 2, 4}), {0, 2, 1, 3});
  EXPECT_EQ(heads.extents(), (Extents{kBatch, 2, 5, 4}));
  const DrawingSteps steps = stepsFor(heads);
  EXPECT_EQ(steps.shape, (Shape{5, 6, 4}));
  ASSERT_EQ(steps.cuts.size(), 1U);
  EXPECT_EQ(steps.cuts[0].axis, 1U);
  EXPECT_EQ(steps.cuts[0].start, 2);
  EXPECT_EQ(steps.cuts[0].length, 2);
  EXPECT_EQ(steps.axes, (std::vector<std::int64_t>{1, 0, 2}));
  EXPECT_FALSE(steps.last);
  // Batch and heads in one axis, and back: nothing is drawn for it.
  const View grouped = *reshaped(heads, {2 * kBatch, 5, 4});
  EXPECT_EQ(grouped.sample(), (Shape{2, 5, 4}));
  EXPECT_EQ(reshaped(grouped, {kBatch, 2, 5, 4})->extents(), heads.extents());
  // Half of the heads with the batch is no view: it would take every other row of each sample.
  EXPECT_FALSE(reshaped(heads, {3 * kBatch, 40 / 3}));
  EXPECT_FALSE(sliced(plain, {.axis = 0, .start = 0, .step = 1, .length = 1}));
}

TEST(OnnxViews, OfAnAlikeShapeDrawNothing) {
  const View plain = plainView({"x", "output"}, {3, 4}, {3, kBatch, 4});
  EXPECT_EQ(plain.batchAxis(), 1);
  const DrawingSteps moved = stepsFor(*transposed(plain, {1, 0, 2}));
  EXPECT_FALSE(moved.shape || moved.axes || moved.last);
  EXPECT_TRUE(stepsFor(*transposed(plain, {2, 1, 0})).axes);
}

TEST(OnnxFunctions, AreKnownByTheirValues) {
  std::vector<double> values;
  for (const double x : triedPlaces()) values.push_back(0.5 * x * (1 + std::erf(x / std::sqrt(2.0))));
  ASSERT_TRUE(functionOf(values));
  EXPECT_EQ(functionOf(values)->layer, "GELU");
  values[7] += 1e-3;
  EXPECT_FALSE(functionOf(values));
  // A bound far out, and one close to 0, are no part of the function.
  for (const auto& [least, most] : {std::pair(0.0, 20.0), {1e-7, 1e31}, {0.0, 1e6}}) {
    std::vector<double> bounded;
    for (const double x : triedPlaces()) bounded.push_back(std::min(std::max(x, least), most));
    EXPECT_FALSE(functionOf(bounded)) << least << " to " << most;
  }
}

TEST(OnnxFolding, StopsAtWhatTheFileAllowsFor) {
  // 10^12 numbers that are not all one.
  OnnxNode range{.name = "r", .op = "Range", .inputs = {"a", "b", "c"}, .outputs = {"y"}};
  Constant zero, far, one;
  for (Constant* constant : {&zero, &far, &one}) constant->kind = Constant::Kind::whole;
  zero.wholes = {0};
  far.wholes = {1000000000000};
  one.wholes = {1};
  EXPECT_THROW((void)fold(range, {&zero, &far, &one}, 17, 1 << 20), Error);
  far.wholes = {5};
  EXPECT_EQ((*fold(range, {&zero, &far, &one}, 17, 1 << 20))[0]->wholes, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  // A shape as large costs one number.
  OnnxNode shaped{.name = "s", .op = "ConstantOfShape", .inputs = {"a"}, .outputs = {"y"}};
  Constant shape;
  shape.kind = Constant::Kind::whole;
  shape.extents = {2};
  shape.wholes = {1000000, 1000000};
  EXPECT_EQ((*fold(shaped, {&shape}, 17, 1 << 20))[0]->stored(), 1U);
}

}  // namespace
}  // namespace loom
