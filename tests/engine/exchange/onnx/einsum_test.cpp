// Einsum: equations by themselves, what is drawn of them, what is told where none can be drawn. That the numbers are
// right is models_test's: einsum.onnx.
#include "engine/exchange/onnx/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/exchange/importer.h"
#include "engine/exchange/onnx/graph_writer.h"
#include "tests/engine/exchange/onnx/run_network.h"

namespace loom {
namespace {

namespace fs = std::filesystem;
using namespace onnx_file;
using testing::HasSubstr;

TEST(OnnxEinsum, NamesTheAxesOfItsOperands) {
  const Equation product = equationOf("bij, bjk -> bik", {3, 3});
  EXPECT_EQ(product.operands, (std::vector<std::string>{"bij", "bjk"}));
  EXPECT_EQ(product.result, "bik");
  const Equation open = equationOf("...i,ij->...j", {4, 2});
  EXPECT_EQ(open.operands[0], "012i");
  EXPECT_EQ(open.result, "012j");
  EXPECT_EQ(equationOf("...i,...i->...", {3, 2}).operands[1], "1i") << "counted from the last";
  EXPECT_EQ(equationOf("bZa,ac", {3, 2}).result, "Zbc") << "each letter that stands once, in order";
  EXPECT_EQ(einsumExtents(equationOf("...i,...i->...", {3, 2}), {{2, 1, 3}, {5, 3}}), (Extents{2, 5}));
}

TEST(OnnxEinsum, SaysWhatIsWrongWithAnEquation) {
  const auto fault = [](const std::string& equation, const std::vector<std::size_t>& ranks) -> std::string {
    try {
      (void)equationOf(equation, ranks);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(fault("ij,jk->ik", {2}), HasSubstr("has 2 terms, but it has 1 operands"));
  EXPECT_THAT(fault("ijk->i", {2}), HasSubstr("'ijk' names 3 axes, but the operand has 2"));
  EXPECT_THAT(fault("i1->i", {2}), HasSubstr("term 'i1'"));
  EXPECT_THAT(fault("...i...->", {5}), HasSubstr("letters and one '...'"));
  EXPECT_THAT(fault("ij->ik", {2}), HasSubstr("axes of its operands"));
  EXPECT_THAT(fault("ij->ii", {2}), HasSubstr("each once"));
  EXPECT_THROW(einsumExtents(equationOf("ij,jk->ik", {2, 2}), {{2, 3}, {4, 5}}), Error);
}

TEST(OnnxEinsum, OfConstantsIsCalculated) {
  Constant a{.extents = {2, 2}, .reals = {1, 2, 3, 4}}, b{.extents = {2}, .reals = {10, 1}};
  const ConstantPointer product = foldEinsum(equationOf("ij,j->i", {2, 1}), {&a, &b}, 100);
  EXPECT_EQ(product->reals, (std::vector<float>{12, 34}));
  EXPECT_EQ(foldEinsum(equationOf("ii->", {2}), {&a}, 100)->reals, (std::vector<float>{5})) << "a diagonal";
  EXPECT_EQ(foldEinsum(equationOf("ij->ji", {2}), {&a}, 100)->reals, (std::vector<float>{1, 3, 2, 4}));
  EXPECT_EQ(foldEinsum(equationOf("ij,kl->ik", {2, 2}), {&a, &a}, 15), nullptr) << "16 steps";
}

std::vector<std::string> layersOf(const Imported& imported) {
  std::vector<std::string> layers;
  for (const Node& node : imported.project.networks.at(0).nodes) layers.push_back(node.layer);
  return layers;
}

// What Keras' MultiHeadAttention exports as, with its biases.
TEST(OnnxEinsum, AnAttentionOfItIsOneLayer) {
  const std::vector<std::string> layers = layersOf(importFile({.file = kOnnxData / "einsum.onnx"}));
  EXPECT_EQ(std::count(layers.begin(), layers.end(), "MultiHeadAttention"), 1);
  EXPECT_EQ(std::count(layers.begin(), layers.end(), "Softmax"), 0);
  EXPECT_EQ(std::count(layers.begin(), layers.end(), "Linear"), 2) << "one a fixed matrix, but those of the attention";
}

TEST(OnnxPatterns, RowsThatAreNormalisedAsChannelsAreALayerNormalization) {
  const Imported imported = importFile({.file = kOnnxData / "keras_rows.onnx"});
  EXPECT_EQ(layersOf(imported), (std::vector<std::string>{"Input", "LayerNormalization"}));
  EXPECT_NEAR(imported.project.networks.at(0).nodes.at(1).values["epsilon"].get<double>(), 0.01, 1e-6);
}

// One number for each sample of the batch, and others beside them: nothing that could be written down.
TEST(OnnxConstants, ThatAreTooManyAreTold) {
  const fs::path path = fs::temp_directory_path() / fmt::format("gradloom-constants-{}.onnx", ::getpid());
  GraphWriter graph("g", 17, "");
  graph.input("x", {-1, 64, 64}, false);
  std::vector<float> mask(64 * 64, 1.0F);
  mask[1] = 2;
  const std::string ones = graph.node("Expand", {graph.number(1), graph.node("Shape", {"x"})});
  const std::string both = graph.node("Mul", {ones, graph.constant("mask", {64, 64}, mask)});
  graph.output(graph.node("Add", {"x", both}), {-1, 64, 64});
  graph.write(path);
  std::string told;
  for (const ReportItem& item : importFile({.file = path}).report.items)
    if (item.kind == ReportItem::Kind::untranslatable) told += item.sentence + "\n";
  fs::remove(path);
  EXPECT_THAT(told, HasSubstr("works on constants alone"));
}

TEST(OnnxEinsum, WhatItCannotSayIsTold) {
  for (const auto& [equation, says] : {std::pair{"bii->bi", "it takes a diagonal ('bii')"},
                                       {"bij->ij", "samples of a batch together"},
                                       {"bij,bjk->bik", "has 2 terms, but it has 1 operands"}}) {
    const fs::path path = fs::temp_directory_path() / fmt::format("gradloom-einsum-{}.onnx", ::getpid());
    GraphWriter graph("g", 17, "");
    graph.input("x", {-1, 3, 3}, false);
    graph.output(graph.node("Einsum", {"x"}, {{"equation", std::string(equation)}}), {-1, 3});
    graph.write(path);
    std::string told;
    try {
      for (const ReportItem& item : importFile({.file = path}).report.items)
        if (item.kind == ReportItem::Kind::untranslatable) told += item.sentence + "\n";
    } catch (const Error& error) {
      told = error.what();
    }
    fs::remove(path);
    EXPECT_THAT(told, HasSubstr(says)) << equation;
  }
}

}  // namespace
}  // namespace loom
