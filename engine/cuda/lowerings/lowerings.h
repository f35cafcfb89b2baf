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
  Joins joins = {};        // engine/passes/fusion.h
  SixteenBits types = {};  // engine/passes/precision.h
};

// One function a file: `elementwise.cpp` defines elementwiseRows().
using LoweringRows = std::span<const LoweringRow>;
LoweringRows attentionRows();
LoweringRows convolutionRows();
LoweringRows elementwiseRows();
LoweringRows gruRows();
LoweringRows lstmRows();
LoweringRows matmulRows();

}  // namespace loom::cuda
