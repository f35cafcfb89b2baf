#include "engine/base/error.h"
#include "engine/cuda/kernels/convert.h"

namespace loom::cuda {

bool canPack(const ConvertArguments& arguments) {
  if (arguments.axes == 0) return true;
  const int last = arguments.axes - 1;
  if (arguments.strides[last] != 1 || arguments.extents[last] % kConvertPack != 0) return false;
  for (int k = 0; k < last; ++k)
    if (arguments.extents[k] > 1 && arguments.strides[k] % kConvertPack != 0) return false;
  return true;
}

ConvertArguments convertArguments(const Shape& shape, const Layout& from, DataType fromType, const Layout& to,
                                  DataType toType) {
  const auto floats = [](DataType type) {
    return type == DataType::f32 || type == DataType::bf16 || type == DataType::f16;
  };
  if (fromType != toType && !(floats(fromType) && floats(toType)))
    throwError(ErrorCode::internal, "there is no conversion from {} to {}", toString(fromType), toString(toType));
  ConvertArguments arguments{.fromType = fromType, .toType = toType, .count = shape.elements()};
  arguments.packed = true;
  if (sameMemory(shape, from, to)) return arguments;
  if (shape.rank() > kMostAxes)
    throwError(ErrorCode::internal, "a tensor of {} axes cannot change its layout: at most {} can", shape.rank(),
               kMostAxes);
  arguments.axes = static_cast<int>(shape.rank());
  for (int k = 0; k < arguments.axes; ++k) {
    const int axis = to[static_cast<std::size_t>(k)];
    arguments.extents[k] = shape[axis];
    std::int64_t stride = 1;
    for (std::size_t inner = static_cast<std::size_t>(placeOf(from, axis)) + 1; inner < from.size(); ++inner)
      stride *= shape[from[inner]];
    arguments.strides[k] = stride;
  }
  arguments.packed = canPack(arguments);
  return arguments;
}

}  // namespace loom::cuda
