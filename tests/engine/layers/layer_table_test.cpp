// What holds of every entry of the catalogue: the palette, the form and the file rely on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/catalogue/text.h"
#include "engine/metrics/metric.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

class EveryLayer : public testing::TestWithParam<const LayerDefinition*> {
 protected:
  const Entry& entry() const { return GetParam()->entry; }
};

TEST_P(EveryLayer, SaysWhatItIs) {
  static const std::set<std::string> categories = {"inputOutput",   "convolution",        "linear",
                                                   "normalisation", "activation",         "pooling",
                                                   "shape",         "recurrentAttention", "lossMetric"};
  EXPECT_TRUE(categories.count(entry().category)) << entry().category;
  EXPECT_FALSE(entry().icon.empty());
  EXPECT_FALSE(entry().label.empty());
  EXPECT_TRUE(entry().summary.ends_with('.')) << entry().summary;
  EXPECT_LT(entry().summary.size(), 110u);
  EXPECT_GT(entry().help.size(), 80u);
  EXPECT_FALSE(entry().outputs.empty());
  for (const Port& port : entry().inputs) EXPECT_FALSE(port.help.empty() || port.label.empty()) << port.key;
}

TEST_P(EveryLayer, HasFieldsThatAFormCanShow) {
  std::set<std::string> keys{"id", "layer", "at", "shares"};  // keys of a node in the file
  int important = 0;
  for (const Field& field : entry().fields) {
    EXPECT_TRUE(keys.insert(field.key).second) << "key stands twice: " << field.key;
    EXPECT_FALSE(field.label.empty()) << field.key;
    EXPECT_TRUE(field.help.ends_with('.')) << field.key << ": " << field.help;
    important += field.important;
    const bool isNumber = field.type == FieldType::integer || field.type == FieldType::real ||
                          field.type == FieldType::integers || field.type == FieldType::reals ||
                          field.type == FieldType::shape;
    EXPECT_EQ(isNumber, field.hard.has_value()) << field.key << ": every number has bounds";
    if (field.comfortable) {
      EXPECT_GE(field.comfortable->low, field.hard->low) << field.key;
      EXPECT_LE(field.comfortable->high, field.hard->high) << field.key;
    }
    for (const Choice& choice : field.choices)
      EXPECT_FALSE(choice.label.empty() || choice.help.empty()) << field.key << " " << choice.id;
    if (!field.onlyWhen.empty()) {
      EXPECT_NE(entry().field(field.onlyWhen.substr(0, field.onlyWhen.find('='))), nullptr) << field.onlyWhen;
    }
  }
  EXPECT_LE(important, 3);
}

TEST_P(EveryLayer, HasDefaultsThatPassItsOwnValidation) {
  Json given = Json::object();
  for (const Field& field : entry().fields)
    if (!field.defaultValue.is_null() && field.onlyWhen.empty()) given[field.key] = field.defaultValue;
  for (const FieldProblem& problem : validate(entry(), given))
    if (!(entry().id == "Input" && problem.key == "shape")) ADD_FAILURE() << problem.message;
  EXPECT_EQ(withoutDefaults(entry(), given), Json::object());
}

TEST_P(EveryLayer, HasAnExampleAndIsFoundByAllItsNames) {
  EXPECT_TRUE(std::any_of(layerExamples().begin(), layerExamples().end(),
                          [&](const LayerExample& example) { return example.layer == entry().id; }));
  EXPECT_EQ(findLayer(entry().id), GetParam());
  EXPECT_EQ(findLayer(folded(entry().id)), GetParam());
  for (const std::string& alias : entry().aliases)
    EXPECT_EQ(findLayer(alias), GetParam()) << alias << " is another layer's name";
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryLayer, testing::ValuesIn(layerTable().begin(), layerTable().end()),
                         [](const auto& info) { return info.param->entry.id; });

TEST(LayerTable, HoldsWhatTheIssueNames) {
  for (const char* name : {"Input",
                           "Convolution",
                           "Deconvolution",
                           "MaxPooling",
                           "AveragePooling",
                           "GlobalAveragePooling",
                           "Linear",
                           "BatchNormalization",
                           "LayerNormalization",
                           "LocalResponseNormalization",
                           "Dropout",
                           "ReLU",
                           "LeakyReLU",
                           "ELU",
                           "SELU",
                           "GELU",
                           "SiLU",
                           "Sigmoid",
                           "Tanh",
                           "Softmax",
                           "Add",
                           "Multiply",
                           "Concatenate",
                           "Flatten",
                           "Reshape",
                           "Transpose",
                           "Slice",
                           "Embedding",
                           "PositionEmbedding",
                           "LSTM",
                           "GRU",
                           "MultiHeadAttention",
                           "SoftmaxCrossEntropy",
                           "BinaryCrossEntropy",
                           "MeanSquaredError",
                           "HuberLoss",
                           "Accuracy",
                           "TopKAccuracy",
                           "Error"})
    EXPECT_NE(findLayer(name), nullptr) << name;
  EXPECT_EQ(findLayer("Dense"), findLayer("Linear"));
  EXPECT_EQ(findLayer("Affine"), findLayer("Linear"));
  EXPECT_EQ(findLayer("Top5"), findLayer("TopKAccuracy"));
  EXPECT_EQ(findLayer("no such layer"), nullptr);
}

// How a result is read stands with the layer, whatever the node or the alias is called.
TEST(LayerTable, SaysHowResultsAreRead) {
  for (const char* name : {"Accuracy", "TopKAccuracy", "BinaryAccuracy", "Top5", "binarymetric"}) {
    EXPECT_EQ(goalOf(name), Goal::higher) << name;
    EXPECT_TRUE(isShare(name)) << name;
  }
  for (const LayerDefinition* layer : layerTable()) {
    const bool measures = isResult(layer->role);
    EXPECT_EQ(measures, layer->entry.category == "lossMetric") << layer->entry.id;
    EXPECT_EQ(layer->role == LayerRole::loss, measures && layer->entry.field("weight") != nullptr) << layer->entry.id;
    EXPECT_EQ(isMetric(layer->entry.id), layer->role == LayerRole::metric) << layer->entry.id;
  }
  EXPECT_EQ(roleOf("Input"), LayerRole::input);
  EXPECT_EQ(roleOf("Output"), LayerRole::output);
  EXPECT_EQ(roleOf("Linear"), LayerRole::layer);
  EXPECT_EQ(roleOf("no such layer"), LayerRole::layer);
  EXPECT_EQ(goalOf("R2"), Goal::higher);
  EXPECT_FALSE(isShare("R2"));
  EXPECT_EQ(goalOf("Perplexity"), Goal::lower);
  EXPECT_EQ(goalOf("ErrorRate"), Goal::lower);
  EXPECT_TRUE(isShare("ErrorRate"));
  for (const char* name : {"SoftmaxCrossEntropy", "MeanSquaredError", "no such layer", "MyAccuracy"}) {
    EXPECT_EQ(goalOf(name), Goal::lower) << name;
    EXPECT_FALSE(isShare(name)) << name;
  }
}

}  // namespace
}  // namespace loom
