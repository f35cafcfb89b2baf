#pragma once
// What rules with products write their programs with.
#include <cmath>

#include "engine/program/builder.h"

namespace loom::products {

inline TensorId scaled(ProgramBuilder& builder, TensorId x, double factor, double offset = 0) {
  return builder.add("scale", {x}, {{"factor", factor}, {"offset", offset}});
}
// By a tensor of one number.
inline TensorId scaledBy(ProgramBuilder& builder, TensorId x, TensorId factor) {
  return builder.add("scale_by", {x, factor});
}
inline TensorId unary(ProgramBuilder& builder, const char* function, TensorId x) {
  return builder.add("unary", {x}, {{"function", function}});
}
inline TensorId binary(ProgramBuilder& builder, const char* function, TensorId a, TensorId b) {
  return builder.add("binary", {a, b}, {{"function", function}});
}
inline TensorId sum(ProgramBuilder& builder, TensorId a, TensorId b) {
  return binary(builder, "add", a, b);
}
// keep · a + (1 - keep) · b
inline TensorId mean(ProgramBuilder& builder, double keep, TensorId a, TensorId b) {
  return sum(builder, scaled(builder, a, keep), scaled(builder, b, 1 - keep));
}
inline TensorId reshaped(ProgramBuilder& builder, TensorId x, const Shape& shape) {
  return builder.shape(x) == shape ? x : builder.add("reshape", {x}, {{"shape", shape.extents()}});
}
inline TensorId transposed(ProgramBuilder& builder, TensorId x) {
  return builder.add("transpose", {x}, {{"axes", std::vector<std::int64_t>{1, 0}}});
}
inline TensorId product(ProgramBuilder& builder, TensorId a, TensorId b, bool transposeA = false,
                        bool transposeB = false) {
  return builder.add("matmul", {a, b, kNoTensor}, {{"transpose_a", transposeA}, {"transpose_b", transposeB}});
}
// Of all numbers together, one.
inline TensorId sumOfSquares(ProgramBuilder& builder, TensorId x) {
  return builder.add("reduce", {unary(builder, "square", x)}, {{"function", "sum"}});
}
inline TensorId norm(ProgramBuilder& builder, TensorId x) {
  return unary(builder, "sqrt", sumOfSquares(builder, x));
}
inline TensorId atLeast(ProgramBuilder& builder, TensorId x, double least) {
  return binary(builder, "maximum", x, builder.constant(least));
}
inline TensorId reciprocal(ProgramBuilder& builder, TensorId x) {
  return unary(builder, "reciprocal", x);
}
// Between 0 and 1.
inline TensorId share(ProgramBuilder& builder, TensorId x) {
  return builder.add("unary", {x}, {{"function", "clamp"}, {"alpha", 0.0}, {"beta", 1.0}});
}
// How many steps a tensor has made, of a matrix of one number that counts them.
inline TensorId number(ProgramBuilder& builder, TensorId matrix) {
  return reshaped(builder, matrix, Shape{});
}
// 1 / (1 - keep^t), Adam's correction of the first t steps of a mean: 1 - exp(-x) is tanh(x / 2) (1 + exp(-x)), which
// loses no digits where x is small.
inline TensorId correction(ProgramBuilder& builder, double keep, TensorId t) {
  if (keep <= 0) return builder.constant(1);
  const double x = -std::log(keep);
  return reciprocal(builder, binary(builder, "multiply", unary(builder, "tanh", scaled(builder, t, x / 2)),
                                    scaled(builder, unary(builder, "exp", scaled(builder, t, -x)), 1, 1)));
}

}  // namespace loom::products
