#include "engine/ops/support.h"

#include "engine/base/words.h"

namespace loom::ops {

std::vector<TensorSpec> likeFirst(Specs inputs, const Attributes&) {
  needFloat("the input", inputs[0]);
  return {f32(inputs[0].shape)};
}

void needShape(std::string_view what, const TensorSpec& spec, const Shape& wanted) {
  if (spec.shape != wanted)
    throwError(ErrorCode::badProject, "{} must be {}, but is {}", what, wanted.toString(), spec.shape.toString());
}

void needSameShape(std::string_view what, const TensorSpec& spec, std::string_view otherWhat, const TensorSpec& other) {
  if (spec.shape != other.shape)
    throwError(ErrorCode::badProject, "{} is {}, but {} is {}: they must be equal", what, spec.shape.toString(),
               otherWhat, other.shape.toString());
}

void needRank(std::string_view what, const TensorSpec& spec, std::size_t least, std::size_t most) {
  const std::size_t rank = spec.shape.rank();
  if (rank >= least && rank <= most) return;
  if (least == most)
    throwError(ErrorCode::badProject, "{} must have {}, but {} has {}", what,
               counted(static_cast<std::int64_t>(least), "axes"), spec.shape.toString(), rank);
  throwError(ErrorCode::badProject, "{} must have {} to {} axes, but {} has {}", what, least, most,
             spec.shape.toString(), rank);
}

void needFloat(std::string_view what, const TensorSpec& spec) {
  if (spec.type != DataType::f32)
    throwError(ErrorCode::badProject, "{} must hold f32 values, but holds {}", what, toString(spec.type));
}

void needIndices(std::string_view what, const TensorSpec& spec) {
  if (spec.type != DataType::i32)
    throwError(ErrorCode::badProject, "{} must hold labels or indices (i32), but holds {} values", what,
               toString(spec.type));
}

std::int64_t axisOf(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < -rank || axis >= rank)
    throwError(ErrorCode::badProject, "the axis {} does not exist in {}, which has {}", axis, shape.toString(),
               counted(rank, "axes"));
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> axesOf(const Shape& shape, const Attributes& attributes) {
  std::vector<std::int64_t> axes;
  if (attributes.has("axes")) {
    for (std::int64_t axis : attributes.integers("axes")) axes.push_back(axisOf(shape, axis));
  } else {
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  }
  std::sort(axes.begin(), axes.end());
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice != axes.end())
    throwError(ErrorCode::badProject, "the axis {} of {} is named twice", *twice, shape.toString());
  return axes;
}

AxisView viewAlong(const Shape& shape, std::int64_t axis) {
  AxisView view{1, shape[axis], 1};
  for (std::int64_t i = 0; i < axis; ++i) view.outer *= shape[i];
  for (std::int64_t i = axis + 1; i < static_cast<std::int64_t>(shape.rank()); ++i) view.inner *= shape[i];
  return view;
}

std::vector<std::int64_t> stridesOf(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank());
  std::int64_t step = 1;
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape.extents()[axis];
  }
  return strides;
}

std::vector<std::int64_t> broadcastStrides(const Shape& shape, const Shape& over) {
  std::vector<std::int64_t> strides = stridesOf(shape);
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (shape.extents()[axis] == 1 && over.extents()[axis] != 1) strides[axis] = 0;
  return strides;
}

void forEach(const Shape& shape, const std::vector<std::int64_t>& strides,
             const std::function<void(std::int64_t, std::int64_t)>& visit) {
  const std::int64_t count = shape.elements();
  std::vector<std::int64_t> index(shape.rank(), 0);
  std::int64_t offset = 0;
  for (std::int64_t element = 0; element < count; ++element) {
    visit(element, offset);
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape.extents()[axis]) break;
      offset -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

void needBroadcastable(std::string_view what, const Shape& shape, const Shape& over) {
  bool fits = shape.rank() == over.rank();
  for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis)
    fits = shape.extents()[axis] == over.extents()[axis] || shape.extents()[axis] == 1;
  if (!fits)
    throwError(ErrorCode::badProject, "{} is {}, which does not fit {}: each extent must be equal or 1", what,
               shape.toString(), over.toString());
}

int firstOfSameShape(Specs inputs, Specs outputs, const Attributes&) {
  return inputs[0].shape == outputs[0].shape ? 0 : -1;
}

TensorId alongAxis(ProgramBuilder& builder, TensorId vector, const Shape& like, std::int64_t axis) {
  Shape shape(std::vector<std::int64_t>(like.rank(), 1));
  shape[axis] = like[axis];
  return reshapeTo(builder, vector, shape);
}

TensorId sumTo(ProgramBuilder& builder, TensorId x, const Shape& shape) {
  if (builder.shape(x) == shape) return x;
  return builder.add("sum_to", {x}, {{"shape", shape.extents()}});
}

TensorId reshapeTo(ProgramBuilder& builder, TensorId x, const Shape& shape) {
  if (builder.shape(x) == shape) return x;
  return builder.add("reshape", {x}, {{"shape", shape.extents()}});
}

TensorId binary(ProgramBuilder& builder, const char* function, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", std::string(function)}});
}

}  // namespace loom::ops
