#include "engine/cpu/lowerings/lowerings.h"

#include <algorithm>
#include <string_view>

namespace loom::cpu {
namespace {

struct Row {
  std::string_view op;
  Lowering lower;
  Joins joins = {};
  SixteenBits bf16 = {};
};

const Row kTable[] = {
    {"convolution", lowerConvolution, {.relu = true}, {{0}, true}},
    {"convolution_input_gradient", lowerConvolutionInputGradient, {}, {{0}, true}},
    {"convolution_weight_gradient", lowerConvolutionWeightGradient, {}, {{0, 1}}},
    {"matmul", lowerMatmul, {.relu = true}},
    {"bias_gradient", lowerBiasGradient, {}, {{0}}},
    {"max_pooling", lowerMaxPooling, {}, {{0}, true, 0}},
    {"max_pooling_gradient", lowerMaxPoolingGradient, {.gradientOf = 0}, {{0, 1, 2}, true}},
    {"average_pooling", lowerAveragePooling},
    {"average_pooling_gradient", lowerAveragePoolingGradient},
    {"batch_normalization", lowerBatchNormalization, {.addend = true, .relu = true}, {{0}, true}},
    {"batch_normalization_inference", lowerBatchNormalizationInference, {.addend = true, .relu = true}, {{0}, true}},
    {"batch_normalization_again", lowerBatchNormalizationAgain, {.addend = true, .relu = true}, {{0}, true}},
    {"batch_normalization_gradient", lowerBatchNormalizationGradient, {.masked = 1}, {{0, 1}, true}},
    {"prepare_images", lowerPrepareImages},
    {"dropout", lowerDropout},
    {"random", lowerRandom},
    {"unary", lowerUnary, {}, {{0}, true}},                                       // ReLU
    {"unary_gradient", lowerUnaryGradient, {}, {{0, 1, 2}, true}},                // of ReLU
    {"binary", lowerBinary, {.relu = true, .maskBehind = true}, {{0, 1}, true}},  // sums of one shape
    {"scale", lowerScale},
    {"scale_by", lowerScaleBy},
    {"sum_to", lowerSumTo},
    {"reduce", lowerReduce},
    {"broadcast", lowerBroadcast},
    {"softmax", lowerSoftmax},
    {"softmax_gradient", lowerSoftmaxGradient},
    {"concatenate", lowerConcatenate},
    {"slice", lowerSlice},
    {"slice_gradient", lowerSliceGradient},
    {"reshape", lowerReshape},
    {"transpose", lowerTranspose},
    {"embedding", lowerEmbedding},
    {"embedding_gradient", lowerEmbeddingGradient},
    {"softmax_cross_entropy", lowerSoftmaxCrossEntropy},
    {"softmax_cross_entropy_gradient", lowerSoftmaxCrossEntropyGradient},
    {"binary_cross_entropy", lowerPointwiseLoss},
    {"binary_cross_entropy_gradient", lowerPointwiseLossGradient},
    {"mean_squared_error", lowerPointwiseLoss},
    {"mean_squared_error_gradient", lowerPointwiseLossGradient},
    {"huber", lowerPointwiseLoss},
    {"huber_gradient", lowerPointwiseLossGradient},
    {"top_k_accuracy", lowerTopKAccuracy},
    {"binary_accuracy", lowerBinaryAccuracy},
    {"layer_normalization", lowerLayerNormalization},
    {"layer_normalization_gradient", lowerLayerNormalizationGradient},
    {"local_response_normalization", lowerLocalResponseNormalization},
    {"local_response_normalization_gradient", lowerLocalResponseNormalizationGradient},
    {"lstm", lowerLstm},
    {"lstm_gradient", lowerLstmGradient},
    {"gru", lowerGru},
    {"gru_gradient", lowerGruGradient},
    {"attention", lowerAttention},
    {"attention_gradient", lowerAttentionGradient},
    {"gradient_squares", lowerGradientSquares},
    {"update", lowerUpdate},
    {"all_reduce", lowerAllReduce},
    {"all_gather", lowerAllGather},
    {"reduce_scatter", lowerReduceScatter},
    {"broadcast_from", lowerBroadcastFrom},
    {"reduce_to", lowerReduceTo},
    {"send", lowerSend},
    {"receive", lowerReceive},
};

const Row* find(std::string_view op) {
  const auto row = std::find_if(std::begin(kTable), std::end(kTable), [&](const Row& row) { return row.op == op; });
  return row == std::end(kTable) ? nullptr : row;
}

// What the table says of pointwise operations holds for ReLUs and for sums of one shape.
bool isOther(const Program& program, const Operation& operation) {
  if (operation.op->pointwise == nullptr) return false;
  const Pointwise what = operation.op->pointwise(operation.attributes);
  return what == Pointwise::none || (what == Pointwise::sum && program.tensor(operation.inputs[0]).shape !=
                                                                   program.tensor(operation.inputs[1]).shape);
}

}  // namespace

Lowering findLowering(std::string_view op) {
  const Row* row = find(op);
  return row == nullptr ? nullptr : row->lower;
}

Joins joinsOf(const Program& program, const Operation& operation) {
  const Row* row = find(operation.op->name);
  return row == nullptr || isOther(program, operation) ? Joins{} : row->joins;
}

SixteenBits inBf16(const Program& program, const Operation& operation) {
  const Row* row = find(operation.op->name);
  if (row == nullptr || isOther(program, operation)) return {};
  // A transposed convolution adds its bias to what it wrote.
  if (row->lower == lowerConvolutionInputGradient && operation.inputs.size() > 2 && operation.inputs[2] != kNoTensor)
    return {{0}};
  return row->bf16;
}

}  // namespace loom::cpu
