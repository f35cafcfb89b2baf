#include "engine/cpu/lowerings/lowerings.h"

#include <algorithm>
#include <string_view>

#include "engine/ops/binary.h"
#include "engine/ops/unary.h"

namespace loom::cpu {
namespace {

struct Row {
  std::string_view op;
  Lowering lower;
  Joins joins = {};
  SixteenBits bf16 = {};
};

const Row kTable[] = {
    {"convolution", lowerConvolution, {.relu = true}, {{0}, 1}},
    {"convolution_input_gradient", lowerConvolutionInputGradient, {}, {{0}, 1}},
    {"convolution_weight_gradient", lowerConvolutionWeightGradient, {}, {{0, 1}}},
    {"matmul", lowerMatmul, {.relu = true}, {{0, 1}, 1}},
    {"inverse", lowerInverse},
    {"bias_gradient", lowerBiasGradient, {}, {{0}}},
    {"max_pooling", lowerMaxPooling, {}, {{0}, 1, 0}},  // else rounding might let others win
    {"max_pooling_gradient", lowerMaxPoolingGradient, {.gradientOf = 0}, {{0, 1, 2}, 1}},
    {"average_pooling", lowerAveragePooling, {}, {{0}, 1}},
    {"average_pooling_gradient", lowerAveragePoolingGradient, {}, {{0}, 1}},
    {"batch_normalization", lowerBatchNormalization, {.addend = true, .relu = true}, {{0}, 1}},
    {"batch_normalization_inference", lowerBatchNormalizationInference, {.addend = true, .relu = true}, {{0}, 1}},
    {"batch_normalization_again", lowerBatchNormalizationAgain, {.addend = true, .relu = true}, {{0}, 1}},
    {"batch_normalization_gradient", lowerBatchNormalizationGradient, {.masked = 1}, {{0, 1}, 1}},
    {"running_mean", lowerRunningMean},
    {"prepare_images", lowerPrepareImages},
    {"dropout", lowerDropout, {}, {{0}, 1}},
    {"random", lowerRandom},
    {"unary", lowerUnary, {}, {{0}, 1}},
    {"unary_gradient", lowerUnaryGradient, {}, {{0, 1, 2}, 1}},
    {"binary", lowerBinary, {.relu = true, .maskBehind = true}, {{0, 1}, 1}},  // joins: sums of one shape
    {"scale", lowerScale, {}, {{0}, 1}},
    {"scale_by", lowerScaleBy, {}, {{0}, 1}},
    {"sum_to", lowerSumTo, {}, {{0}}},
    {"reduce", lowerReduce, {}, {{0}}},
    {"broadcast", lowerBroadcast, {}, {{0}, 1}},
    {"softmax", lowerSoftmax, {}, {{0}, 1}},
    {"softmax_gradient", lowerSoftmaxGradient, {}, {{0, 1}, 1}},
    {"concatenate", lowerConcatenate, {}, {{}, 1}},  // of any number of inputs
    {"slice", lowerSlice, {}, {{0}, 1, 0}},
    {"slice_gradient", lowerSliceGradient, {}, {{0}, 1}},
    {"reshape", lowerReshape, {}, {{0}, 1, 0}},
    {"transpose", lowerTranspose, {}, {{0}, 1, 0}},
    {"resample", lowerResample, {}, {{0}, 1}},
    {"select", lowerSelect},
    {"stop_gradient", lowerStopGradient, {}, {{0}, 1, 0}},
    {"one_hot", lowerOneHot, {}, {{}, 1}},
    {"top_k", lowerTopK},
    {"warp", lowerWarp, {}, {{0}, 1}},
    {"warp_gradient", lowerWarpGradient},
    {"embedding", lowerEmbedding},  // what a residual stream begins with
    {"embedding_gradient", lowerEmbeddingGradient, {}, {{1}}},
    {"softmax_cross_entropy", lowerSoftmaxCrossEntropy},
    {"softmax_cross_entropy_gradient", lowerSoftmaxCrossEntropyGradient, {}, {{}, 1}},
    {"binary_cross_entropy", lowerPointwiseLoss},
    {"binary_cross_entropy_gradient", lowerPointwiseLossGradient},
    {"mean_squared_error", lowerPointwiseLoss},
    {"mean_squared_error_gradient", lowerPointwiseLossGradient},
    {"huber", lowerPointwiseLoss},
    {"huber_gradient", lowerPointwiseLossGradient},
    {"top_k_accuracy", lowerTopKAccuracy},
    {"binary_accuracy", lowerBinaryAccuracy},
    {"layer_normalization", lowerLayerNormalization, {}, {{0}, 1}},
    {"layer_normalization_gradient", lowerLayerNormalizationGradient, {}, {{0, 1}, 1, 0}},
    {"local_response_normalization", lowerLocalResponseNormalization},
    {"local_response_normalization_gradient", lowerLocalResponseNormalizationGradient},
    {"lstm", lowerLstm, {}, {{0}, 2}},
    {"lstm_gradient", lowerLstmGradient, {}, {{0, 3, 4, 5}, 1}},
    {"gru", lowerGru, {}, {{0}}},  // h itself goes from step to step
    {"gru_gradient", lowerGruGradient, {}, {{0, 5}, 1}},
    {"attention", lowerAttention, {}, {{0, 1, 2}, 1}},
    {"attention_gradient", lowerAttentionGradient, {}, {{0, 1, 2, 3, 5}, 3}},
    {"scale_all", lowerScaleAll},
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

// What the table says of joins holds for ReLUs and for sums of one shape.
bool isOther(const Program& program, const Operation& operation) {
  if (operation.op->pointwise == nullptr) return false;
  const Pointwise what = operation.op->pointwise(operation.attributes);
  return what == Pointwise::none || (what == Pointwise::sum && program.tensor(operation.inputs[0]).shape !=
                                                                   program.tensor(operation.inputs[1]).shape);
}

// What stays in f32, gradients too, as on a GPU.
bool needsF32(const Row& row, const Operation& operation) {
  if (row.lower == lowerBinary) return needsAllBits(binaryFunctionOf(operation.attributes));
  return (row.lower == lowerUnary || row.lower == lowerUnaryGradient) && unaryNeedsAllBits(operation.attributes);
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
  if (row == nullptr || needsF32(*row, operation)) return {};
  // A transposed convolution adds its bias to what it wrote.
  if (row->lower == lowerConvolutionInputGradient && operation.inputs.size() > 2 && operation.inputs[2] != kNoTensor)
    return {{0}};
  // A sum of everything is a loss or a metric: its terms are not rounded.
  if (row->lower == lowerReduce && program.tensor(operation.outputs[0]).shape.elements() == 1) return {};
  SixteenBits places = row->bf16;
  if (row->lower == lowerBinary) places.promotes = binaryFunctionOf(operation.attributes) == BinaryFunction::add;
  if (row->lower == lowerConcatenate)
    for (std::size_t k = 0; k < operation.inputs.size(); ++k) places.inputs.push_back(static_cast<int>(k));
  return places;
}

}  // namespace loom::cpu
