#pragma once
// Arguments of the kernels in update.cuh: an optimizer's step on many tensors at once (pieces.h), all in f32.
#include <cstddef>
#include <cstdint>

#include "engine/base/data_type.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/pieces.h"
#include "engine/optimizers/rules/rule.h"

namespace loom::cuda {

inline constexpr int kUpdateThreads = kPieceThreads;

struct SquaresTensor {
  const float* x = nullptr;
  TensorPieces pieces;
};
// The sum of squares of each tensor in f64: of its pieces first, then of them in their order.
struct SquaresArguments {
  const SquaresTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
  double* parts = nullptr;    // one a piece
  double* squares = nullptr;  // one a tensor
  std::int32_t tensorCount = 0;
};

// to = factor from; or, `delivered`, as a gradient comes into the store (DeliveryWords).
struct ScaledTensor {
  const float* from = nullptr;
  float* to = nullptr;
  TensorPieces pieces;
  std::int32_t delivered = 0;
};
struct ScaleAllArguments {
  const ScaledTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
  const float* factor = nullptr;  // null: 1
  const DeliveryWords* words = nullptr;
};

struct UpdateTensor {
  float* weight = nullptr;
  const float* gradient = nullptr;
  float* slots[kMostSlots] = {};
  float* average = nullptr;  // of the weights; null: none is kept
  TensorPieces pieces;
  double weightDecay = 0;
  std::int32_t scaled = 0;  // by its trust ratio
  std::int32_t square = 0;  // place of its gradient's among the squares, and of its ratio
};

// A number of rank 0: f32, f64 or i64.
struct UpdateNumber {
  const std::byte* at = nullptr;
  DataType type = DataType::f32;
};

// What all tensors share in a step; it stays from one to the next.
struct UpdateState {
  UpdateScalars scalars;
  std::int64_t made = 0;     // 0: nothing is changed
  std::int64_t refused = 0;  // the update whose gradients were not finite; 0 = none
};

inline constexpr std::size_t kRuleBytes = 192;  // room for any rule

// States that take other tensors' place where the update was made.
struct UpdateStatesArguments {
  const ScaledTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
  const UpdateState* state = nullptr;
};

// Of all four kernels of a rule: update_prepare; update_measure and update_ratios, for those that measure; update.
struct UpdateArguments {
  UpdateNumber learningRate, updateCount, clipNorm;  // clipNorm.at may be null: any norm
  UpdateNumber epochs;                               // in steps, of rules that follow them; else null
  std::int64_t stepsPerEpoch = 1;
  double averageDecay = 0;
  const double* squares = nullptr;
  const UpdateTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
  UpdateState* state = nullptr;
  std::byte* constants = nullptr;  // the rule's Constants<float> for each tensor
  UpdateSums* sums = nullptr;      // one a piece; null for rules that do not measure
  double* ratios = nullptr;        // one a square
  std::int32_t tensorCount = 0, squaresCount = 0;
  alignas(8) std::byte rule[kRuleBytes] = {};
};

}  // namespace loom::cuda
