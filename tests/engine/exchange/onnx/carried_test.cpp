// A network drawn here, exported to ONNX and imported again: the same file; and what happens where the graph was
// changed since.
#include "engine/exchange/onnx/carried.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/exchange/exporter.h"
#include "engine/network/flatten.h"
#include "engine/program/parameter_store.h"
#include "engine/run/safetensors.h"
#include "tests/engine/exchange/onnx/run_network.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path sample(const std::string& name) {
  return fs::path(GRADLOOM_SOURCE_DIR) / "samples" / name / (name + ".loom");
}

// With the weights with which its training would begin.
ExportSource beginning(const Project& project) {
  ExportSource source{.project = project, .network = "main", .weights = {}};
  ParameterStore store(project.training.settings.value("seed", std::uint64_t{1}));
  store.ensure(lower(flatNetwork(project, "main"), {}).parameters);
  for (const auto& entry : store.entries())
    source.weights[entry->parameter.name] = {entry->parameter.shape, entry->value.values()};
  return source;
}

// As after a training: of a deep network vectors and statistics alone, since noise in its matrices would grow from
// layer to layer.
ExportSource trained(const Project& project) {
  ExportSource source = beginning(project);
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (auto& [name, weight] : source.weights) {
    if (weight.shape.rank() == 1)
      for (float& value : weight.values) value += 0.2F * normal(random);
    if (name.ends_with("variance"))
      for (float& value : weight.values) value = 0.5F + std::abs(value);
  }
  return source;
}

std::vector<ImportedWeight> listOf(const ExportSource& source) {
  std::vector<ImportedWeight> weights;
  for (const auto& [name, weight] : source.weights) weights.push_back({name, weight.shape, weight.values});
  return weights;
}

ValuesByName inputsOf(const Network& flat, std::int64_t batch) {
  ValuesByName inputs;
  std::mt19937 random(11);
  const Program program = lowerForPrediction(flat, {.batch = batch});
  for (const DatasetInput& input : datasetInputs(flat)) {
    if (program.findTensor(input.node, TensorRole::input) == kNoTensor) continue;
    NamedValues& values = inputs[input.node];
    values.shape = input.shape.prepended(batch);
    values.values.resize(static_cast<std::size_t>(values.shape.elements()));
    for (float& value : values.values)
      value =
          input.type == DataType::f32 ? std::normal_distribution<float>()(random) : static_cast<float>(random() % 5);
  }
  return inputs;
}

// The outputs of both have the same values; names are those of either.
void expectSame(const ValuesByName& found, const ValuesByName& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, values] : wanted) {
    double least = INFINITY, largest = 0;
    for (const float value : values.values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    for (const auto& [other, output] : found)
      if (output.shape == values.shape) least = std::min(least, largestDifference(output, values));
    EXPECT_GT(largest, 1e-3) << "outputs that are all 0 prove nothing";
    EXPECT_LT(least, 1e-4 * std::max(largest, 1.0)) << name;
  }
}

std::string lost(const ImportReport& report) {
  std::string text;
  for (const ReportItem& item : report.items)
    if (item.kind == ReportItem::Kind::untranslatable) text += item.layer + ": " + item.sentence + "\n";
  return text;
}

// Done when 3 of what networks for other tools are to do: units and repeats, byte for byte.
TEST(OnnxCarried, ResNet50ComesBackAsTheSameFile) {
  const TestFolder folder("onnx_carried_resnet");
  const std::string text = readFile(sample("resnet_50"));
  const ExportSource source = beginning(loadProject(sample("resnet_50")));
  const fs::path file = exportOnnx(source, folder.path() / "resnet.onnx").at(0);
  const Imported imported = importFile({.file = file});
  EXPECT_TRUE(imported.report.complete()) << reportText(imported.report);
  EXPECT_EQ(imported.report.count(ReportItem::Kind::ignored), 0U) << reportText(imported.report);
  EXPECT_EQ(imported.weightsFile, "") << "its training begins with these weights anyway";
  writeImported(imported, folder.path() / "resnet_50.loom");
  EXPECT_EQ(readFile(folder.path() / "resnet_50.loom"), text);
}

TEST(OnnxCarried, TrainedWeightsComeBackToTheBit) {
  const TestFolder folder("onnx_carried_trained");
  for (const char* name : {"transformer", "digits", "unet"}) {
    SCOPED_TRACE(name);
    const ExportSource source = trained(loadProject(sample(name)));
    const fs::path file = exportOnnx(source, folder.path() / (std::string(name) + ".onnx")).at(0);
    Imported imported = importFile({.file = file});
    EXPECT_EQ(imported.report.count(ReportItem::Kind::ignored), 0U) << reportText(imported.report);
    EXPECT_EQ(imported.weightsFile, std::string(name) + ".safetensors");
    ASSERT_EQ(imported.weights.size(), source.weights.size());
    for (const ImportedWeight& weight : imported.weights)
      EXPECT_EQ(weight.values, source.weights.at(weight.name).values) << weight.name;
    EXPECT_EQ(imported.project.training.settings["start_from"], std::string(name) + ".safetensors");
    imported.project.training.settings.erase("start_from");
    EXPECT_EQ(writeProject(imported.project), writeProject(source.project));
  }
}

// The graph by itself, as any other tool would read it, gives what the drawing gives.
TEST(OnnxCarried, TheGraphAloneGivesTheSameOutputs) {
  const TestFolder folder("onnx_carried_graph");
  for (const char* name : {"residual_network", "transformer"}) {
    SCOPED_TRACE(name);
    const ExportSource source = trained(loadProject(sample(name)));
    const Network flat = flatNetwork(source.project, "main");
    const fs::path file = exportOnnx(source, folder.path() / (std::string(name) + ".onnx"), 0, Carried::nothing).at(0);
    EXPECT_THAT(readFile(file), testing::Not(HasSubstr("gradloom.project")));
    const Imported imported = importFile({.file = file});
    EXPECT_EQ(lost(imported.report), "");
    const std::vector<ImportedWeight> weights = listOf(source);
    const ValuesByName inputs = inputsOf(flat, 2);
    expectSame(runNetwork(imported.project.networks.at(0), &imported.weights, inputs),
               runNetwork(flat, &weights, inputs));
  }
}

TEST(OnnxCarried, OnnxruntimeGivesTheSameOutputs) {
  const char* given = std::getenv("GRADLOOM_PYTHON");
  const std::string python = given ? given : "python3";
  if (std::system((python + " -c 'import onnxruntime, onnx, numpy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << python
                 << " has no onnx and onnxruntime (pip install onnx onnxruntime; GRADLOOM_PYTHON names another python)";
  const TestFolder folder("onnx_carried_runtime");
  for (const char* name : {"resnet_50", "transformer", "digits"}) {
    const ExportSource source = trained(loadProject(sample(name)));
    const Network flat = flatNetwork(source.project, "main");
    exportOnnx(source, folder.path() / (std::string(name) + ".onnx"));
    const std::vector<ImportedWeight> weights = listOf(source);
    const ValuesByName inputs = inputsOf(flat, 2), outputs = runNetwork(flat, &weights, inputs);
    std::vector<TensorFile::Tensor> tensors;
    for (const auto& [key, values] : inputs) tensors.push_back({"in/" + key, values.shape, values.values});
    for (const auto& [key, values] : outputs) tensors.push_back({"out/" + key, values.shape, values.values});
    TensorFile::write(folder.path() / (std::string(name) + ".safetensors"), tensors, {});
  }
  const std::string script =
      (fs::path(GRADLOOM_SOURCE_DIR) / "tests/engine/exchange/onnx/data/check_exports.py").string();
  EXPECT_EQ(std::system(fmt::format("{} '{}' '{}'", python, script, folder.path().string()).c_str()), 0);
}

// Numbers come out in the unit of their column, whoever reads the file; here the drawing comes back as it was.
TEST(OnnxCarried, OutputsAreInTheUnitOfTheirColumn) {
  using Kind = UnitStep::Kind;
  const TestFolder folder("onnx_carried_units");
  ExportSource source = trained(loadProject(sample("tabular_regression")));
  const Network flat = flatNetwork(source.project, "main");
  const ValuesByName inputs = inputsOf(flat, 3);
  const std::vector<ImportedWeight> weights = listOf(source);
  const NamedValues own = runNetwork(flat, &weights, inputs).at("cost");
  source.units["cost"] = {
      {Kind::linear, {0.5}, {0.25}}, {Kind::exponentialMinusOne, {}, {}}, {Kind::linear, {3}, {-7}}};
  const fs::path bare = exportOnnx(source, folder.path() / "bare.onnx", 0, Carried::nothing).at(0);
  const Imported graph = importFile({.file = bare});
  EXPECT_EQ(lost(graph.report), "");
  NamedValues wanted = own;
  for (float& value : wanted.values) value = static_cast<float>(3 * std::expm1(value * 0.5 + 0.25) - 7);
  expectSame(runNetwork(graph.project.networks.at(0), &graph.weights, inputs), {{"cost", wanted}});

  const fs::path file = exportOnnx(source, folder.path() / "whole.onnx").at(0);
  EXPECT_EQ(writeProject(importFile({.file = file}).project).find("Exp"), std::string::npos);
  EXPECT_EQ(importFile({.file = file}).report.count(ReportItem::Kind::ignored), 0U);
  // Units that are not those of the graph.
  std::string bytes = readFile(file);
  bytes.replace(bytes.find("[0.25]"), 6, "[0.75]");
  writeFileAtomically(file, bytes);
  EXPECT_EQ(importFile({.file = file}).report.count(ReportItem::Kind::ignored), 1U);
  source.units["cost"] = {{Kind::linear, {1, 2}, {0, 0}}};
  EXPECT_THROW(exportOnnx(source, file), Error);
}

// A unit used twice, a Linear over steps (whose weight the graph holds turned), an LSTM (whose gates stand in another
// order).
constexpr const char* kSmall = R"({"loom":1,"networks":{"main":{"nodes":[{"id":"x","layer":"Input","shape":[5,4]},
  {"id":"deep","unit":"Step","repeat":2},{"id":"rnn","layer":"LSTM","units":3},{"id":"bend","layer":"ReLU"},
  {"id":"drop","layer":"Dropout"},{"id":"fc","layer":"Linear","outputs":2,"at":[12,34]}],
  "edges":[["x","deep"],["deep","rnn"],["rnn","bend"],["bend","drop"],["drop","fc"]],
  "comments":[{"id":"why","text":"because","at":[0,0]}]}},
  "units":{"Step":{"nodes":[{"id":"in","layer":"Input"},{"id":"mix","layer":"Linear","outputs":4,"base_axis":1},
  {"id":"out","layer":"Output"}],"edges":[["in","mix"],["mix","out"]]}}})";

class OnnxEdited : public testing::Test {
 protected:
  OnnxEdited() : m_folder("onnx_edited") {
    ReadProject read = readProject(kSmall, "small");
    EXPECT_TRUE(read.problems.empty());
    m_source = trained(read.project);
    m_bytes = readFile(exportOnnx(m_source, m_folder.path() / "small.onnx").at(0));
  }
  // With one of the places where `from` stands in the file, the last, replaced by as many bytes.
  Imported edited(const std::string& from, const std::string& to, bool last = true) const {
    EXPECT_EQ(from.size(), to.size());
    std::string bytes = m_bytes;
    const std::size_t at = last ? bytes.rfind(from) : bytes.find(from);
    EXPECT_NE(at, bytes.npos) << from;
    if (at != bytes.npos) bytes.replace(at, from.size(), to);
    writeFileAtomically(m_folder.path() / "edited.onnx", bytes);
    return importFile({.file = m_folder.path() / "edited.onnx"});
  }
  static bool hasUnits(const Imported& imported) { return !imported.project.units.empty(); }
  static std::string said(const Imported& imported) {
    for (const ReportItem& item : imported.report.items)
      if (item.kind == ReportItem::Kind::ignored && item.layer == "the project that the file carries")
        return item.sentence;
    return {};
  }
  static std::string bytesOf(const std::vector<float>& values, std::size_t count) {
    return {reinterpret_cast<const char*>(values.data()), count * sizeof(float)};
  }

  TestFolder m_folder;
  ExportSource m_source;
  std::string m_bytes;
};

TEST_F(OnnxEdited, NotAtAllIsTheSameFile) {
  const Imported imported = edited("Gradloom", "Gradloom");
  EXPECT_EQ(said(imported), "");
  EXPECT_TRUE(hasUnits(imported));
  EXPECT_EQ(imported.project.networks.at(0).comments.size(), 1U);
}

// A node that became another one: the drawing is no longer what the file says.
TEST_F(OnnxEdited, AChangedNodeIsSeen) {
  const Imported imported = edited("\x04Relu", "\x04Tanh");
  EXPECT_THAT(said(imported), HasSubstr("changed since"));
  EXPECT_FALSE(hasUnits(imported));
  EXPECT_TRUE(imported.report.complete()) << reportText(imported.report);
  const auto& nodes = imported.project.networks.at(0).nodes;
  EXPECT_TRUE(std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.layer == "Tanh"; }));
}

// Trained further by another tool: the same drawing with the new weights.
TEST_F(OnnxEdited, ChangedWeightsComeBackInTheDrawing) {
  const std::vector<float>& weight = m_source.weights.at("fc/weight").values;
  std::vector<float> changed(weight.begin(), weight.begin() + 2);
  changed[1] = 17;
  const Imported imported = edited(bytesOf(weight, 2), bytesOf(changed, 2));
  EXPECT_EQ(said(imported), "");
  ASSERT_TRUE(hasUnits(imported));
  for (const ImportedWeight& each : imported.weights) {
    std::vector<float> wanted = m_source.weights.at(each.name).values;
    if (each.name == "fc/weight") wanted[1] = 17;
    EXPECT_EQ(each.values, wanted) << each.name;
  }
}

// A project that says something else than the graph beside it.
TEST_F(OnnxEdited, AChangedProjectIsNotBelieved) {
  const Imported imported = edited("\"outputs\": 2", "\"outputs\": 3");
  EXPECT_THAT(said(imported), HasSubstr("other weights"));
  EXPECT_FALSE(hasUnits(imported));
  EXPECT_EQ(said(edited("\"loom\": 1", "\"loom\": 9")),
            "The network was drawn from the graph instead: it cannot be read as this version writes it.");
  EXPECT_THAT(said(edited("\"repeat\": 2", "\"repeat\": 0")), testing::Not(""));
}

}  // namespace
}  // namespace loom
