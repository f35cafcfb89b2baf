#pragma once
// Every op's lowering, grouped by file; each file lists its rows. A new op: a function and its row in one of these
// files, its kernel in engine/cuda/kernels, a case in tests/engine/ops.
#include <span>
#include <string_view>

#include "engine/cuda/plan.h"

namespace loom::cuda {

struct LoweringRow {
  std::string_view op;
  Lowering lower;
  Joins joins = {};                                                             // engine/passes/fusion.h
  SixteenBits types = {};                                                       // engine/passes/precision.h
  bool (*inF32)(const Program& program, const Operation& operation) = nullptr;  // true: in spite of `types`
  StageKind kind = StageKind::memory;                                           // of its own kernels
};

// One function a file: `elementwise.cpp` defines elementwiseRows().
using LoweringRows = std::span<const LoweringRow>;
LoweringRows attentionRows();
LoweringRows batchNormalizationRows();
LoweringRows broadcastRows();
LoweringRows convolutionRows();
LoweringRows elementwiseRows();
LoweringRows embeddingRows();
LoweringRows exchangeRows();
LoweringRows gruRows();
LoweringRows imagesRows();
LoweringRows inverseRows();
LoweringRows layerNormalizationRows();
LoweringRows localResponseNormalizationRows();
LoweringRows lossesRows();
LoweringRows lstmRows();
LoweringRows matmulRows();
LoweringRows noiseRows();
LoweringRows pickingRows();
LoweringRows poolingRows();
LoweringRows reductionRows();
LoweringRows runningMeanRows();
LoweringRows shapingRows();
LoweringRows softmaxRows();
LoweringRows updateRows();
LoweringRows warpRows();

}  // namespace loom::cuda
