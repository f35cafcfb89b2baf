#pragma once
// Shared by the ops: checks that name both numbers, walks over row-major tensors, small emissions for gradients.
#include <algorithm>
#include <functional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/program/builder.h"
#include "engine/program/op.h"

namespace loom::ops {

using Specs = std::span<const TensorSpec>;
using References = std::span<const ReferenceTensor* const>;
using Outputs = std::span<ReferenceTensor>;
using Gradients = std::vector<TensorId>;

inline TensorSpec f32(Shape shape) {
  return {std::move(shape), DataType::f32};
}
// What most elementwise ops answer: one tensor like the first input.
std::vector<TensorSpec> likeFirst(Specs inputs, const Attributes& attributes);

// OpDefinition::equals of ops that change nothing but the shape.
int firstOfSameShape(Specs inputs, Specs outputs, const Attributes& attributes);

// Throws Error(badProject): "the weight must be 8×3×3×3, but is 8×4×3×3".
void needShape(std::string_view what, const TensorSpec& spec, const Shape& wanted);
void needSameShape(std::string_view what, const TensorSpec& spec, std::string_view otherWhat, const TensorSpec& other);
void needRank(std::string_view what, const TensorSpec& spec, std::size_t least, std::size_t most);
void needFloat(std::string_view what, const TensorSpec& spec);
void needIndices(std::string_view what, const TensorSpec& spec);

// An axis counted from 0; negative ones from the end. Throws Error(badProject) naming the rank.
std::int64_t axisOf(const Shape& shape, std::int64_t axis);
inline std::int64_t axisOf(const Shape& shape, const Attributes& attributes, std::int64_t otherwise) {
  return axisOf(shape, attributes.integer("axis", otherwise));
}
// The attribute `axes` as sorted axes from 0; all of them when it is absent.
std::vector<std::int64_t> axesOf(const Shape& shape, const Attributes& attributes);

// A shape seen from one axis: element (o, a, i) stands at (o * length + a) * inner + i.
struct AxisView {
  std::int64_t outer, length, inner;
};
AxisView viewAlong(const Shape& shape, std::int64_t axis);

// How far one step along each axis goes in memory; 0 where the extent is 1 and the other shape's is not (broadcast).
std::vector<std::int64_t> stridesOf(const Shape& shape);
std::vector<std::int64_t> broadcastStrides(const Shape& shape, const Shape& over);
// Calls visit(i, offset) for every element i of `shape` in order, with offset = sum of index * strides.
void forEach(const Shape& shape, const std::vector<std::int64_t>& strides,
             const std::function<void(std::int64_t element, std::int64_t offset)>& visit);

// Whether `shape` is `over` with some extents 1; throws Error(badProject) naming both when it is not.
void needBroadcastable(std::string_view what, const Shape& shape, const Shape& over);

// x as a tensor whose extents are `like`'s on `axis` and 1 elsewhere: a vector per channel, ready to be broadcast.
TensorId alongAxis(ProgramBuilder& builder, TensorId vector, const Shape& like, std::int64_t axis);
TensorId sumTo(ProgramBuilder& builder, TensorId x, const Shape& shape);  // x itself when it has that shape
TensorId reshapeTo(ProgramBuilder& builder, TensorId x, const Shape& shape);
TensorId binary(ProgramBuilder& builder, const char* function, TensorId a, TensorId b);

}  // namespace loom::ops
