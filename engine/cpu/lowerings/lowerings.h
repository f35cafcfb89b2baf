#pragma once
// Every op's lowering, grouped by file. A new op: a function here, a row in lowerings.cpp, a case in
// tests/engine/ops/op_cases.h.
#include "engine/cpu/plan.h"

namespace loom::cpu {

#define LOOM_LOWERING(name) void name(Plan& plan, const Operation& operation)
// convolution.cpp
LOOM_LOWERING(lowerConvolution);
LOOM_LOWERING(lowerConvolutionInputGradient);
LOOM_LOWERING(lowerConvolutionWeightGradient);
// matmul.cpp
LOOM_LOWERING(lowerMatmul);
LOOM_LOWERING(lowerBiasGradient);
// inverse.cpp
LOOM_LOWERING(lowerInverse);
// pooling.cpp
LOOM_LOWERING(lowerMaxPooling);
LOOM_LOWERING(lowerMaxPoolingGradient);
LOOM_LOWERING(lowerAveragePooling);
LOOM_LOWERING(lowerAveragePoolingGradient);
// images.cpp
LOOM_LOWERING(lowerPrepareImages);
// batch_normalization.cpp
LOOM_LOWERING(lowerBatchNormalization);
LOOM_LOWERING(lowerBatchNormalizationInference);
LOOM_LOWERING(lowerBatchNormalizationAgain);
LOOM_LOWERING(lowerBatchNormalizationGradient);
// running_mean.cpp
LOOM_LOWERING(lowerRunningMean);
// layer_normalization.cpp
LOOM_LOWERING(lowerLayerNormalization);
LOOM_LOWERING(lowerLayerNormalizationGradient);
// local_response_normalization.cpp
LOOM_LOWERING(lowerLocalResponseNormalization);
LOOM_LOWERING(lowerLocalResponseNormalizationGradient);
// noise.cpp
LOOM_LOWERING(lowerDropout);
LOOM_LOWERING(lowerRandom);
// elementwise.cpp
LOOM_LOWERING(lowerUnary);
LOOM_LOWERING(lowerUnaryGradient);
LOOM_LOWERING(lowerBinary);
LOOM_LOWERING(lowerSelect);
LOOM_LOWERING(lowerScale);
LOOM_LOWERING(lowerScaleBy);
// reduction.cpp
LOOM_LOWERING(lowerSumTo);
LOOM_LOWERING(lowerReduce);
LOOM_LOWERING(lowerBroadcast);
// softmax.cpp
LOOM_LOWERING(lowerSoftmax);
LOOM_LOWERING(lowerSoftmaxGradient);
// shaping.cpp
LOOM_LOWERING(lowerConcatenate);
LOOM_LOWERING(lowerSlice);
LOOM_LOWERING(lowerSliceGradient);
LOOM_LOWERING(lowerReshape);
LOOM_LOWERING(lowerTranspose);
LOOM_LOWERING(lowerStopGradient);
// picking.cpp
LOOM_LOWERING(lowerResample);
LOOM_LOWERING(lowerOneHot);
LOOM_LOWERING(lowerTopK);
// warp.cpp
LOOM_LOWERING(lowerWarp);
LOOM_LOWERING(lowerWarpGradient);
// embedding.cpp
LOOM_LOWERING(lowerEmbedding);
LOOM_LOWERING(lowerEmbeddingGradient);
// recurrent.cpp
LOOM_LOWERING(lowerLstm);
LOOM_LOWERING(lowerLstmGradient);
LOOM_LOWERING(lowerGru);
LOOM_LOWERING(lowerGruGradient);
// attention.cpp
LOOM_LOWERING(lowerAttention);
LOOM_LOWERING(lowerAttentionGradient);
// losses.cpp
LOOM_LOWERING(lowerSoftmaxCrossEntropy);
LOOM_LOWERING(lowerSoftmaxCrossEntropyGradient);
LOOM_LOWERING(lowerPointwiseLoss);
LOOM_LOWERING(lowerPointwiseLossGradient);
LOOM_LOWERING(lowerTopKAccuracy);
LOOM_LOWERING(lowerBinaryAccuracy);
// update.cpp
LOOM_LOWERING(lowerScaleAll);
LOOM_LOWERING(lowerGradientSquares);
LOOM_LOWERING(lowerUpdate);
// exchange.cpp
LOOM_LOWERING(lowerAllReduce);
LOOM_LOWERING(lowerAllGather);
LOOM_LOWERING(lowerReduceScatter);
LOOM_LOWERING(lowerBroadcastFrom);
LOOM_LOWERING(lowerReduceTo);
LOOM_LOWERING(lowerSend);
LOOM_LOWERING(lowerReceive);
#undef LOOM_LOWERING

// Rows x channels of a tensor whose `axis` is made innermost: how everything per channel is computed.
struct ChannelView {
  Layout layout;
  std::int64_t rows, channels;
};
ChannelView channelView(const Plan& plan, TensorId id, std::int64_t axis);

// The layout of the first input that is not plain and has the rank of the first, else the first's: what elementwise ops
// work in.
Layout commonLayout(const Plan& plan, std::span<const TensorId> inputs);

// Checks class indices of the i32 tensor `id` (0 <= index < limit) before the step, or in place when the step computes
// them.
void checkIndices(Plan& plan, TensorId id, std::int64_t limit, const std::string& what);

}  // namespace loom::cpu
