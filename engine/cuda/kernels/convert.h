#pragma once
// Arguments of the kernels in convert.cuh.
#include <cstdint>

#include "engine/base/data_type.h"
#include "engine/base/shape.h"
#include "engine/cuda/kernels/pieces.h"
#include "engine/program/layout.h"

namespace loom::cuda {

inline constexpr int kMostAxes = 6;
inline constexpr int kConvertPack = 4;  // numbers that are moved at once

// to[i] = from[place of i], from one type into another; f32, bf16 and f16 into each other, any other type into itself.
struct ConvertArguments {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  DataType fromType = DataType::f32, toType = DataType::f32;
  std::int64_t count = 0;
  int axes = 0;                          // 0: the same place
  std::int64_t extents[kMostAxes] = {};  // of `to`, outermost first
  std::int64_t strides[kMostAxes] = {};  // in `from`, elements
  bool packed = false;                   // canPack()
};

// Whether so many numbers at a time stand together on both sides, both of which begin at multiples of 64 bytes.
bool canPack(const ConvertArguments& arguments);

// How a step's gradients come into the store; behind the step's scalars on the device.
struct DeliveryWords {
  std::int32_t accumulate;  // 1: added to what stands there
  float scale;              // 1 / StepOptions::gradientScale
};

// Many of them in one launch. `how` holds their addresses, too.
struct MovedTensor {
  ConvertArguments how;
  TensorPieces pieces;
};
struct ConvertAllArguments {
  const MovedTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
};
// g = scale x, or g + scale x, x in its own type and order and g in f32. Where there is a guard, it is added to the
// scale.
struct DeliverAllArguments {
  const MovedTensor* tensors = nullptr;
  const Piece* pieces = nullptr;
  const DeliveryWords* words = nullptr;
  const float* guard = nullptr;
};

// guard = before + loss - loss: NaN where a loss is not finite, else 0. `before`, of another loss, may be null.
struct GuardLossArguments {
  const float *loss = nullptr, *before = nullptr;
  float* guard = nullptr;
};

// Of a tensor that stands in one layout and type and is wanted in another; addresses are left out. Throws
// Error(internal) for more than kMostAxes axes and for types that do not convert.
ConvertArguments convertArguments(const Shape& shape, const Layout& from, DataType fromType, const Layout& to,
                                  DataType toType);

}  // namespace loom::cuda
