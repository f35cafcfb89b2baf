#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

const LoweringRow* find(std::string_view op) {
  for (const LoweringRows rows : {attentionRows(),
                                  batchNormalizationRows(),
                                  broadcastRows(),
                                  convolutionRows(),
                                  elementwiseRows(),
                                  embeddingRows(),
                                  exchangeRows(),
                                  gruRows(),
                                  imagesRows(),
                                  inverseRows(),
                                  layerNormalizationRows(),
                                  localResponseNormalizationRows(),
                                  lossesRows(),
                                  lstmRows(),
                                  matmulRows(),
                                  noiseRows(),
                                  pickingRows(),
                                  poolingRows(),
                                  reductionRows(),
                                  runningMeanRows(),
                                  shapingRows(),
                                  softmaxRows(),
                                  updateRows(),
                                  warpRows()})
    for (const LoweringRow& row : rows)
      if (row.op == op) return &row;
  return nullptr;
}

// What rows say of pointwise operations holds for ReLUs and for sums of one shape.
bool isOther(const Program& program, const Operation& operation) {
  if (operation.op->pointwise == nullptr) return false;
  const Pointwise what = operation.op->pointwise(operation.attributes);
  return what == Pointwise::none || (what == Pointwise::sum && program.tensor(operation.inputs[0]).shape !=
                                                                   program.tensor(operation.inputs[1]).shape);
}

}  // namespace

Lowering findLowering(std::string_view op) {
  const LoweringRow* row = find(op);
  return row == nullptr ? nullptr : row->lower;
}

StageKind kindOf(std::string_view op) {
  const LoweringRow* row = find(op);
  return row == nullptr ? StageKind::memory : row->kind;
}

Joins joinsOf(const Program& program, const Operation& operation) {
  const LoweringRow* row = find(operation.op->name);
  return row == nullptr || isOther(program, operation) ? Joins{} : row->joins;
}

SixteenBits inSixteenBits(const Program& program, const Operation& operation) {
  const LoweringRow* row = find(operation.op->name);
  if (row == nullptr || (row->inF32 != nullptr && row->inF32(program, operation))) return {};
  return row->types;
}

}  // namespace loom::cuda
