#include "engine/cpu/lowerings/lowerings.h"

#include <algorithm>
#include <string_view>

namespace loom::cpu {
namespace {

struct Row {
  std::string_view op;
  Lowering lower;
  Joins joins = {};
};

constexpr Row kTable[] = {
    {"convolution", lowerConvolution, {.relu = true}},
    {"convolution_input_gradient", lowerConvolutionInputGradient},
    {"convolution_weight_gradient", lowerConvolutionWeightGradient},
    {"matmul", lowerMatmul, {.relu = true}},
    {"bias_gradient", lowerBiasGradient},
    {"max_pooling", lowerMaxPooling},
    {"max_pooling_gradient", lowerMaxPoolingGradient, {.gradientOf = 0}},
    {"average_pooling", lowerAveragePooling},
    {"average_pooling_gradient", lowerAveragePoolingGradient},
    {"batch_normalization", lowerBatchNormalization, {.addend = true, .relu = true}},
    {"batch_normalization_inference", lowerBatchNormalizationInference, {.addend = true, .relu = true}},
    {"batch_normalization_gradient", lowerBatchNormalizationGradient, {.masked = 1}},
    {"dropout", lowerDropout},
    {"random", lowerRandom},
    {"unary", lowerUnary},
    {"unary_gradient", lowerUnaryGradient},
    {"binary", lowerBinary, {.relu = true, .maskBehind = true}},  // sums of one shape
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

}  // namespace

Lowering findLowering(std::string_view op) {
  const Row* row = find(op);
  return row == nullptr ? nullptr : row->lower;
}

Joins joinsOf(const Program& program, const Operation& operation) {
  const Row* row = find(operation.op->name);
  if (row == nullptr) return {};
  if (row->lower == lowerBinary &&
      (operation.op->pointwise(operation.attributes) != Pointwise::sum ||
       program.tensor(operation.inputs[0]).shape != program.tensor(operation.inputs[1]).shape))
    return {};
  return row->joins;
}

}  // namespace loom::cpu
