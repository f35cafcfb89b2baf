// Every layer of the catalogue as an ONNX file: read back it gives the same, and so it does in onnxruntime where Python
// has it.
#include "engine/exchange/onnx/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/base/error.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/carried.h"
#include "engine/exchange/onnx/model.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"
#include "engine/program/parameter_store.h"
#include "engine/run/safetensors.h"
#include "tests/engine/exchange/onnx/run_network.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

// A folder of this process that goes away with it.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("gradloom-onnx-{}", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() {
    std::error_code none;
    fs::remove_all(path, none);
  }
};

struct Case {
  std::string name;
  Network network;
  ValuesByName inputs;
};

NamedValues valuesFor(const Shape& sample, std::int64_t batch, std::int64_t labels, double low, double high,
                      std::mt19937& random) {
  NamedValues values{.shape = sample.prepended(batch), .values = {}};
  values.values.resize(static_cast<std::size_t>(values.shape.elements()));
  for (float& value : values.values)
    value = labels > 0 ? static_cast<float>(random() % static_cast<std::uint64_t>(labels))
                       : static_cast<float>(std::uniform_real_distribution<double>(low, high)(random));
  return values;
}

// The example between Inputs; nothing for what has no place in a prediction (losses, metrics) or makes numbers of its
// own.
std::optional<Case> caseOf(const LayerExample& example, std::size_t number, std::int64_t batch) {
  const LayerDefinition* layer = findLayer(example.layer);
  const Json values = parseJson(example.values, "example");
  if (isResult(layer->role) || layer->entry.outputs.empty() || layer->entry.inputs.empty()) return {};
  if (example.layer == "MatrixInverse") return {};  // OnnxExportFaults
  if (example.layer == "Input" || example.values.find("source") != std::string::npos) return {};
  Case made{.name = fmt::format("{}_{}", example.layer, number)};
  made.network.name = "main";
  made.network.nodes.push_back({.id = "tested", .layer = example.layer, .values = values});
  std::mt19937 random(static_cast<unsigned>(number));
  for (std::size_t i = 0; i < example.inputs.size(); ++i) {
    const Shape& shape = example.inputs[i];
    if (shape.rank() == 0) continue;
    const bool labels = example.labels > 0 && i + 1 == example.inputs.size();
    const std::string id = fmt::format("in{}", i);
    Json input = {{"shape", shape.extents()}};
    if (labels) input["type"] = "index";
    made.network.nodes.push_back({.id = id, .layer = "Input", .values = std::move(input)});
    made.network.edges.push_back(
        {{id, "output"}, {"tested", layer->entry.inputs[std::min(i, layer->entry.inputs.size() - 1)].key}});
    made.inputs[id] = valuesFor(shape, batch, labels ? example.labels : 0, example.low, example.high, random);
  }
  if (made.inputs.empty()) return {};
  return made;
}

// Weights that are not the initial ones: of ones and zeros a fault would not show.
std::vector<ImportedWeight> weightsOf(const Network& network) {
  std::vector<ImportedWeight> weights;
  std::mt19937 random(7);
  for (const Parameter& parameter : lowerForPrediction(network, {.batch = 1}).parameters) {
    const bool positive = parameter.isState;  // a variance
    NamedValues values = valuesFor(parameter.shape, 1, 0, positive ? 0.5 : -0.8, positive ? 1.5 : 0.8, random);
    weights.push_back({parameter.name, parameter.shape, std::move(values.values)});
  }
  return weights;
}

WeightSource sourceOf(const std::vector<ImportedWeight>& weights) {
  return [&weights](const Parameter& parameter) {
    for (const ImportedWeight& weight : weights)
      if (weight.name == parameter.name) return weight.values;
    throw Error(ErrorCode::internal, "no weight " + parameter.name);
  };
}

void keep(const fs::path& file, const ValuesByName& inputs, const ValuesByName& outputs) {
  std::vector<TensorFile::Tensor> tensors;
  std::vector<std::string> names;
  for (const auto& [name, values] : inputs) tensors.push_back({"in/" + name, values.shape, values.values});
  for (const auto& [name, values] : outputs) tensors.push_back({"out/" + name, values.shape, values.values});
  TensorFile::write(file, tensors, {});
}

std::vector<Case> cases(std::int64_t batch) {
  std::vector<Case> all;
  std::size_t number = 0;
  for (const LayerExample& example : layerExamples())
    if (auto made = caseOf(example, number++, batch)) all.push_back(std::move(*made));
  return all;
}

class OnnxExport : public testing::TestWithParam<bool> {};

TEST_P(OnnxExport, IsReadBackWithTheSameOutputs) {
  const Folder folder;
  const bool open = GetParam();
  std::size_t same = 0;
  for (const Case& each : cases(3)) {
    SCOPED_TRACE(each.name);
    const std::vector<ImportedWeight> weights = weightsOf(each.network);
    const ValuesByName outputs = runNetwork(each.network, &weights, each.inputs);
    const fs::path file = folder.path / (each.name + ".onnx");
    writeOnnx(each.network, sourceOf(weights), {.batch = open ? 0 : 3}, file);
    const Imported imported = importFile({.file = file});
    std::string lost;
    for (const ReportItem& item : imported.report.items)
      if (item.kind == ReportItem::Kind::untranslatable) lost += "\n  " + item.layer + ": " + item.sentence;
    EXPECT_EQ(lost, "");
    if (!lost.empty()) continue;
    const ValuesByName back = runNetwork(imported.project.networks.at(0), &imported.weights, each.inputs);
    ASSERT_EQ(back.size(), outputs.size());
    for (const auto& [name, values] : outputs) {
      double least = INFINITY;
      for (const auto& [node, output] : back)
        if (output.shape == values.shape) least = std::min(least, largestDifference(output, values));
      EXPECT_LT(least, 1e-4) << name;
      if (least < 1e-4) ++same;
    }
  }
  EXPECT_GT(same, 40U);
}

// Whatever way a layer's weights stand in the graph, they come back to the drawing that the file carries.
TEST_P(OnnxExport, CarriesTheDrawingAndItsWeights) {
  const Folder folder;
  for (const Case& each : cases(2)) {
    SCOPED_TRACE(each.name);
    Project project;
    project.networks.push_back(each.network);
    project.training.updates.push_back(defaultUpdate());
    const std::string& layer = each.network.nodes[0].layer;
    if (layer == "RecurrentOutput" || layer == "Delay")
      continue;  // parts of a loop are no drawing by themselves: loops_test.cpp
    const Network flat = flatNetwork(project, "main");
    const std::vector<ImportedWeight> weights = weightsOf(flat);
    const fs::path file = folder.path / (each.name + ".onnx");
    writeOnnx(flat, sourceOf(weights),
              {.batch = GetParam() ? 0 : 2,
               .metadata = onnx_file::carriedTexts(
                   {.project = project, .network = "main", .weights = {}, .units = {}, .preparation = {}})},
              file);
    Imported imported = importFile({.file = file});
    EXPECT_EQ(imported.report.count(ReportItem::Kind::ignored), 0U) << reportText(imported.report);
    imported.project.training.settings.erase("start_from");
    EXPECT_EQ(writeProject(imported.project), writeProject(project));
    EXPECT_EQ(imported.weights.size(), weights.size());
    for (const ImportedWeight& weight : imported.weights) {
      const auto found = std::find_if(weights.begin(), weights.end(),
                                      [&](const ImportedWeight& one) { return one.name == weight.name; });
      ASSERT_NE(found, weights.end()) << weight.name;
      EXPECT_EQ(found->values, weight.values) << weight.name;
    }
  }
}

TEST_P(OnnxExport, GivesInOnnxruntimeWhatItGivesHere) {
  const char* given = std::getenv("GRADLOOM_PYTHON");
  const std::string python = given ? given : "python3";
  if (std::system((python + " -c 'import onnxruntime, onnx, numpy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << python
                 << " has no onnx and onnxruntime (pip install onnx onnxruntime; GRADLOOM_PYTHON names another python)";
  const Folder folder;
  for (const Case& each : cases(3)) {
    const std::vector<ImportedWeight> weights = weightsOf(each.network);
    const fs::path file = folder.path / (each.name + ".onnx");
    writeOnnx(each.network, sourceOf(weights), {.batch = GetParam() ? 0 : 3}, file);
    keep(fs::path(file).replace_extension(".safetensors"), each.inputs,
         runNetwork(each.network, &weights, each.inputs));
  }
  const std::string script =
      (fs::path(GRADLOOM_SOURCE_DIR) / "tests/engine/exchange/onnx/data/check_exports.py").string();
  EXPECT_EQ(std::system(fmt::format("{} '{}' '{}'", python, script, folder.path.string()).c_str()), 0);
}

INSTANTIATE_TEST_SUITE_P(Batch, OnnxExport, testing::Values(true, false),
                         [](const auto& info) { return info.param ? "Open" : "Fixed"; });

TEST(OnnxExportFaults, NameTheLayer) {
  Network network;
  network.name = "main";
  network.nodes.push_back({.id = "noise", .layer = "Input", .values = {{"shape", {4}}, {"source", "normal"}}});
  network.nodes.push_back({.id = "bent", .layer = "ReLU"});
  network.edges.push_back({{"noise", "output"}, {"bent", "input"}});
  const Folder folder;
  const fs::path file = folder.path / "noise.onnx";
  try {
    writeOnnx(network, initialWeights(1), {}, file);
    FAIL() << "noise for an unknown number of samples cannot be written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("layer 'noise'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("fixed batch"));
  }
  EXPECT_FALSE(fs::exists(file));
  EXPECT_NO_THROW(writeOnnx(network, initialWeights(1), {.batch = 2}, file));
  EXPECT_THROW(writeOnnx(network, initialWeights(1), {.batch = -1}, file), Error);
}

TEST(OnnxExportFaults, SaysThatOnnxHasNoInverse) {
  Network network;
  network.name = "main";
  network.nodes.push_back({.id = "x", .layer = "Input", .values = {{"shape", {3, 3}}}});
  network.nodes.push_back({.id = "turn", .layer = "MatrixInverse"});
  network.edges.push_back({{"x", "output"}, {"turn", "input"}});
  const Folder folder;
  try {
    writeOnnx(network, initialWeights(1), {}, folder.path / "inverse.onnx");
    FAIL() << "ONNX has no operator for it";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("layer 'turn'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'inverse') has no counterpart in ONNX"));
  }
}

TEST(OnnxExportFaults, WritesInitialWeightsOfTheSeed) {
  Network network;
  network.name = "main";
  network.nodes.push_back({.id = "x", .layer = "Input", .values = {{"shape", {5}}}});
  network.nodes.push_back({.id = "fc", .layer = "Linear", .values = {{"outputs", 2}}});
  network.edges.push_back({{"x", "output"}, {"fc", "input"}});
  const Folder folder;
  writeOnnx(network, initialWeights(3), {}, folder.path / "a.onnx");
  const onnx_file::OnnxGraph graph = onnx_file::readModel(folder.path / "a.onnx");
  ParameterStore store(3);
  store.ensure(lowerForPrediction(network, {.batch = 1, .seed = 3}).parameters);
  EXPECT_EQ(graph.constants.at("fc/weight")->reals, store.at("fc/weight").value.values());
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].extents->at(0).symbol, "batch");
}

}  // namespace
}  // namespace loom
