// Shape rules: what comes out, that the program agrees, and what is said where nothing can come out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/layers/layer_error.h"
#include "tests/engine/layers/examples.h"

namespace loom {
namespace {

class LayerShape : public testing::TestWithParam<LayerExample> {};

TEST_P(LayerShape, HasTheShapeOfItsRuleInTheProgramToo) {
  for (const bool training : {true, false}) {
    for (const std::int64_t batch : {1, 5}) {
      const LoweredExample lowered = lowerExample(GetParam(), batch, training);
      EXPECT_EQ(lowered.shapes, GetParam().outputs);
      ASSERT_EQ(lowered.outputs.size(), lowered.shapes.size());
      for (std::size_t i = 0; i < lowered.shapes.size(); ++i) {
        const Shape& tensor = lowered.program.tensor(lowered.outputs[i]).shape;
        EXPECT_EQ(tensor, lowered.shapes[i].rank() == 0 ? Shape{} : lowered.shapes[i].prepended(batch))
            << GetParam().layer << " " << GetParam().values;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, LayerShape, testing::ValuesIn(layerExamples()),
                         [](const auto& info) { return info.param.layer + std::to_string(info.index); });

struct Impossible {
  const char* layer;
  const char* values;
  std::vector<Shape> inputs;
  const char* message;
  const char* field = "";
  Json remedy = nullptr;
};

class ImpossibleShapes : public testing::TestWithParam<Impossible> {};

TEST_P(ImpossibleShapes, AreRefusedWithBothNumbersAndTheRemedy) {
  const Impossible& it = GetParam();
  const LayerDefinition* layer = findLayer(it.layer);
  const Json given = parseJson(it.values, it.layer);
  try {
    layer->shapes({"it", Values(layer->entry, given), it.inputs});
    FAIL() << it.layer << " " << it.values;
  } catch (const LayerError& error) {
    EXPECT_THAT(error.message(), testing::HasSubstr(it.message));
    EXPECT_EQ(error.field(), it.field);
    EXPECT_EQ(error.remedy(), it.remedy);
    if (it.remedy.is_null()) return;
    Json mended = given;
    mended[it.field] = it.remedy;
    EXPECT_NO_THROW(layer->shapes({"it", Values(layer->entry, mended), it.inputs})) << "the remedy does not help";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ImpossibleShapes,
    testing::Values(
        Impossible{"Convolution",
                   R"({"channels": 2, "kernel": 1, "initializer": "given", "weights": [1, 2, 3]})",
                   {{2, 4, 4}},
                   "3 weights are given, but the weight 2×2×1×1 has 4",
                   "weights"},
        Impossible{"Convolution",
                   R"({"kernel": 5, "padding": "valid"})",
                   {{1, 3, 3}},
                   "the kernel is 5×5, but the input is only 3×3",
                   "kernel",
                   Json::array({3, 3})},
        Impossible{"Convolution",
                   R"({"kernel": 3, "dilation": 4, "padding": "valid"})",
                   {{1, 7, 7}},
                   "(with dilation it spans 9)",
                   "kernel",
                   Json::array({2, 2})},
        Impossible{"Convolution",
                   R"({"kernel": 9, "padding": "explicit", "pads": 2})",
                   {{1, 4, 4}},
                   "(with padding 8)",
                   "kernel",
                   Json::array({8, 8})},
        Impossible{"Convolution",
                   R"({"kernel": [3, 3]})",
                   {{4, 16}},
                   "'kernel' has 2 numbers, but the input has 1 spatial axis",
                   "kernel",
                   3},
        Impossible{"Convolution",
                   R"({"stride": [1, 2, 3]})",
                   {{3, 8, 8}},
                   "'stride' has 3 numbers, but the input has 2 spatial axes",
                   "stride",
                   Json::array({1, 2})},
        Impossible{"Convolution",
                   R"({"groups": 2})",
                   {{3, 8, 8}},
                   "3 input channels cannot be split into 2 groups",
                   "groups",
                   1},
        Impossible{"Convolution",
                   R"({"groups": 3, "channels": 16})",
                   {{3, 8, 8}},
                   "16 output channels cannot be split into 3 groups",
                   "channels",
                   18},
        Impossible{
            "Convolution", "{}", {{10}}, "the input is 10, but channels and one to three further axes are wanted"},
        Impossible{"Deconvolution",
                   R"({"kernel": 3, "stride": 2, "padding": "explicit", "output_padding": 2})",
                   {{1, 4, 4}},
                   "'output_padding' is 2, but must be less than the stride, 2",
                   "output_padding",
                   1},
        Impossible{"Deconvolution",
                   R"({"kernel": 2, "stride": 1, "padding": "explicit", "pads": 4})",
                   {{1, 4, 4}},
                   "nothing is left",
                   "pads",
                   0},
        Impossible{"MaxPooling",
                   R"({"kernel": 4})",
                   {{2, 3, 8}},
                   "the kernel is 4×4, but the input is only 3×8",
                   "kernel",
                   Json::array({3, 4})},
        Impossible{"GlobalAveragePooling", "{}", {{10}}, "but channels and at least one further axis are wanted"},
        Impossible{"Linear",
                   R"({"base_axis": 2})",
                   {{3, 4}},
                   "'base_axis' keeps 2 axes, but the input 3×4 has only 2",
                   "base_axis",
                   1},
        Impossible{"BatchNormalization",
                   R"({"axis": 3})",
                   {{3, 4}},
                   "'axis' is 3, but the input 3×4 has 2 axes (-2 to 1)",
                   "axis",
                   1},
        Impossible{
            "LayerNormalization", R"({"axes": 3})", {{3, 4}}, "'axes' is 3, but the input 3×4 has only 2", "axes", 2},
        Impossible{
            "LocalResponseNormalization", R"({"size": 4})", {{8, 2, 2}}, "'size' is 4, but must be odd", "size", 5},
        Impossible{"Softmax", R"({"axis": -3})", {{3, 4}}, "'axis' is -3", "axis", -2},
        Impossible{"Add",
                   "{}",
                   {{32, 16, 16}, {32, 32, 32}},
                   "the inputs must have equal shapes, but are 32×16×16 and 32×32×32"},
        Impossible{"Add", "{}", {{1, 4}, {3, 3}}, "must have equal shapes, but are 1×4 and 3×3"},
        Impossible{"Multiply", "{}", {{3, 4}, {3}}, "must have equal shapes, but are 3×4 and 3"},
        Impossible{"Where", "{}", {{3, 4}, {4}, {2, 4}}, "are 3×4, 4 and 2×4"},
        Impossible{"MatrixProduct", "{}", {{3, 4}, {3, 4}}, "rows of 4 cannot be multiplied with columns of 3"},
        Impossible{"MatrixProduct", "{}", {{2, 3, 4}, {3, 4, 5}}, "2 and 3"},
        Impossible{
            "Clip", R"({"low": 2, "high": 1})", {{3}}, "'low' is 2, but must not be above 'high', 1", "low", 1.0},
        Impossible{"ReduceSum", R"({"axes": [0, -2]})", {{3, 4}}, "axis 0 of 3×4 twice", "axes"},
        Impossible{"ReduceMax", R"({"axes": [2]})", {{3, 4}}, "'axes' is 2, but the input 3×4 has 2 axes", "axes", 1},
        Impossible{
            "Pad", R"({"pads": [1, 2, 3]})", {{3, 4}}, "'pads' has 3 numbers, but the input 3×4 has 2 axes", "pads"},
        Impossible{"Pad",
                   R"({"pads": [0, 4, 0, 0], "mode": "reflect"})",
                   {{2, 3, 4}},
                   "'pads' is 4 on axis 2 of 2×3×4, but a reflection reaches 3 at most",
                   "pads"},
        Impossible{"Pad", R"({"pads": [-2, -2]})", {{4}}, "takes 2 and 2 from axis 0 of 4, which has 4", "pads"},
        Impossible{"Gather", R"({"indices": [0, 3]})", {{3, 4}}, "'indices' has 3, but axis 0 of 3×4 has 3", "indices"},
        Impossible{
            "Resize", R"({"size": [4, 4, 4]})", {{1, 2, 2}}, "'size' has 3 numbers, but the input has 2", "size"},
        Impossible{"Resize", R"({"scale": [0.1]})", {{1, 4, 4}}, "'scale' 0.1 makes 0 of the 4 values", "scale"},
        Impossible{"Squeeze", R"({"axes": [1]})", {{1, 3}}, "axis 1 of 1×3, which has the extent 3, not 1", "axes"},
        Impossible{"Unsqueeze", R"({"axes": [3]})", {{2}}, "'axes' has 3, but the result has 2 axes", "axes"},
        Impossible{"Expand", R"({"shape": [2, 4]})", {{3, 1}}, "are 3×1 and 2×4"},
        Impossible{
            "DepthToSpace", R"({"block": 2})", {{6, 2, 2}}, "6 channels cannot be split into parts of 4", "block"},
        Impossible{
            "SpaceToDepth", R"({"block": 2})", {{1, 4, 5}}, "5 columns cannot be split into parts of 2", "block"},
        Impossible{
            "ChannelShuffle", R"({"groups": 4})", {{6, 2, 2}}, "6 channels cannot be split into parts of 4", "groups"},
        Impossible{
            "GroupNormalization", R"({"groups": 4})", {{6, 2}}, "channels of 6×2 cannot be split into 4", "groups", 3},
        Impossible{"InstanceNormalization", "{}", {{6}}, "but channels and at least one further axis are wanted"},
        Impossible{
            "RMSNormalization", R"({"axes": 3})", {{3, 4}}, "'axes' is 3, but the input 3×4 has only 2", "axes", 2},
        Impossible{"ImageAugmentation", "{}", {{32, 32}}, "channels × height × width is wanted"},
        Impossible{"ImageAugmentation",
                   R"({"min_scale": 2, "max_scale": 1.5})",
                   {{3, 8, 8}},
                   "'min_scale' is 2, but must not be above 'max_scale', 1.5",
                   "min_scale",
                   1.5},
        Impossible{"RandomErase", "{}", {{32, 32}}, "channels × height × width is wanted"},
        Impossible{"RandomErase",
                   R"({"min_area": 0.5})",
                   {{3, 8, 8}},
                   "'min_area' is 0.5, but must not be above 'max_area', 0.4",
                   "min_area",
                   0.4},
        Impossible{"MeanSubtraction",
                   R"({"base_axis": 2})",
                   {{3, 4}},
                   "'base_axis' is 2, but the input 3×4 has 2 axes",
                   "base_axis",
                   1},
        Impossible{"MatrixInverse", "{}", {{3, 4}}, "its input is 3×4, but the last two axes must be a square matrix"},
        Impossible{"MatrixInverse", "{}", {{9}}, "must be a square matrix of at most 1024 rows"},
        Impossible{"CumulativeSum", R"({"axis": 2})", {{3, 4}}, "'axis' is 2, but the input 3×4 has 2 axes", "axis", 1},
        Impossible{"TopK", R"({"k": 5})", {{3, 4}}, "'k' is 5, but the axis of 3×4 has only 4", "k", 4},
        Impossible{"Concatenate",
                   "{}",
                   {{2, 3}, {2, 4}},
                   "input 2 is 2×4, but input 1 is 2×3: they may differ in axis 0 only"},
        Impossible{"Flatten", R"({"base_axis": 3})", {{2, 3}}, "'base_axis' keeps 3 axes", "base_axis", 1},
        Impossible{"Reshape",
                   R"({"shape": [7]})",
                   {{2, 3}},
                   "the input 2×3 has 6 values, but 'shape' 7 holds 7",
                   "shape",
                   Json::array({-1})},
        Impossible{"Reshape", R"({"shape": [4, -1]})", {{2, 3}}, "holds a multiple of 4", "shape", Json::array({-1})},
        Impossible{"Reshape", R"({"shape": [-1, -1]})", {{2, 3}}, "only one extent can be what is left", "shape"},
        Impossible{"Reshape", R"({"shape": [0, 6]})", {{2, 3}}, "extent of 0", "shape"},
        Impossible{"Transpose",
                   R"({"axes": [0, 0]})",
                   {{2, 3}},
                   "'axes' is [0, 0], but the input 2×3 has 2 axes",
                   "axes",
                   Json::array({1, 0})},
        Impossible{"Slice", R"({"start": 5})", {{5, 2}}, "'start' is 5, but axis 0 of 5×2 has 5 values", "start", 4},
        Impossible{"Slice", R"({"start": -6})", {{5, 2}}, "'start' is -6", "start", -5},
        Impossible{"Slice",
                   R"({"start": 1, "length": 3, "step": 2})",
                   {{5, 2}},
                   "'length' is 3, but from 1 on axis 0 of 5×2 has only 2",
                   "length",
                   2},
        Impossible{"LSTM", "{}", {{3, 8, 8}}, "the input is 3×8×8, but a sequence of steps × channels is wanted"},
        Impossible{"PositionEmbedding", "{}", {{8}}, "a sequence of steps × channels is wanted"},
        Impossible{
            "MultiHeadAttention", R"({"heads": 4})", {{5, 6}}, "6 channels cannot be split into 4 heads", "heads", 3},
        Impossible{"MultiHeadAttention", "{}", {{5, 8}, {4, 8}}, "the query is 5×8, but the key is 4×8"},
        Impossible{
            "SoftmaxCrossEntropy", "{}", {{10}, {2}}, "the input is 10, so the target must be 1 label, but it is 2"},
        Impossible{"SoftmaxCrossEntropy", "{}", {{5, 10}, {1}}, "so the target must be 5 labels, but it is 1"},
        Impossible{"SoftmaxCrossEntropy",
                   "{}",
                   {{1}, {1}},
                   "at least 2 classes are wanted; for yes and no in one number use BinaryCrossEntropy"},
        Impossible{"SoftmaxCrossEntropy", "{}", {{16, 8, 8}, {1}}, "put a Linear before it"},
        Impossible{"SoftmaxCrossEntropy",
                   R"({"class_weights": [1, 2]})",
                   {{3}, {1}},
                   "'class_weights' has 2 numbers, but there are 3 classes",
                   "class_weights"},
        Impossible{"MeanSquaredError", "{}", {{10}, {1}}, "the input is 10, but the target is 1: they must be equal"},
        Impossible{"TopKAccuracy", "{}", {{3}, {1}}, "'k' is 5, but there are only 3 classes", "k", 3},
        Impossible{"Input",
                   R"({"shape": [4], "type": "label", "source": "normal"})",
                   {},
                   "noise and constants are values",
                   "type",
                   "values"},
        Impossible{"Input",
                   R"({"shape": [4], "source": "uniform", "low": 2})",
                   {},
                   "'low' is 2, but must be less than 'high', 1",
                   "low",
                   0.0}));

}  // namespace
}  // namespace loom
