// Files that other tools wrote, beside what onnxruntime computed with them (data/make_models.py): the imported network
// gives the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/exchange/importer.h"
#include "engine/network/flatten.h"
#include "tests/engine/exchange/onnx/run_network.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> modelsIn(const fs::path& folder) {
  std::vector<fs::path> models;
  for (const auto& item : fs::directory_iterator(folder))
    if (item.path().extension() == ".onnx" && fs::exists(fs::path(item.path()).replace_extension(".safetensors")))
      models.push_back(item.path());
  std::sort(models.begin(), models.end());
  return models;
}

void expectSameOutputs(const fs::path& model) {
  SCOPED_TRACE(model.filename().string());
  const Imported imported = importFile({.file = model});
  for (const ReportItem& item : imported.report.items)
    EXPECT_NE(item.kind, ReportItem::Kind::untranslatable) << item.layer << ": " << item.sentence;
  const Network network = flatNetwork(imported.project, imported.project.networks.at(0).name);
  for (const Problem& problem : analyse(network).problems)
    EXPECT_NE(problem.severity, Severity::error) << problem.message;
  if (testing::Test::HasFailure() && !imported.report.complete()) return;
  const fs::path stored = fs::path(model).replace_extension(".safetensors");
  const ValuesByName outputs = runNetwork(network, &imported.weights, valuesIn(stored, "in/"));
  const ValuesByName wanted = valuesIn(stored, "out/");
  EXPECT_EQ(outputs.size(), wanted.size());
  for (const auto& [name, values] : wanted) {
    double least = INFINITY;
    for (const auto& [node, output] : outputs)
      if (output.shape == values.shape) least = std::min(least, largestDifference(output, values));
    EXPECT_LT(least, 1e-4) << "output " << name;
    if (std::getenv("GRADLOOM_ONNX_MODELS"))
      fmt::print("{:<44} {:<20} {:3} nodes, largest difference {:.1e}\n", model.filename().string(), name,
                 network.nodes.size(), least);
  }
}

TEST(OnnxModels, GiveWhatOnnxruntimeGives) {
  const std::vector<fs::path> models = modelsIn(kOnnxData);
  EXPECT_GE(models.size(), 10U);
  for (const fs::path& model : models) expectSameOutputs(model);
}

// Larger ones, made by data/make_zoo.py in a folder that the environment names.
TEST(OnnxModels, OfTheZooToo) {
  const char* folder = std::getenv("GRADLOOM_ONNX_MODELS");
  if (!folder)
    GTEST_SKIP()
        << "GRADLOOM_ONNX_MODELS names no folder with models (tests/engine/exchange/onnx/data/make_zoo.py makes them)";
  for (const fs::path& model : modelsIn(folder)) expectSameOutputs(model);
}

}  // namespace
}  // namespace loom
