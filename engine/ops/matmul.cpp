// matmul: y = op(a) op(b) + bias over the last two axes; op transposes where asked. Leading axes of a and b are equal,
// or b has none and is shared by all of a's.
#include "engine/ops/support.h"

namespace loom {
namespace matmul_op {

struct Extents {
  std::int64_t matrices, rows, columns, inner;
  bool sharedB;  // one b for several matrices of a
};

Extents extentsOf(const Shape& a, const Shape& b, bool transposeA, bool transposeB) {
  Extents e{1, a[transposeA ? -1 : -2], b[transposeB ? -2 : -1], a[transposeA ? -2 : -1],
            b.rank() == 2 && a.rank() > 2};
  for (std::size_t axis = 0; axis + 2 < a.rank(); ++axis) e.matrices *= a.extents()[axis];
  return e;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const TensorSpec &a = inputs[0], &b = inputs[1], &bias = inputs[2];
  ops::needFloat("a", a);
  ops::needFloat("b", b);
  ops::needRank("a", a, 2, 8);
  if (b.shape.rank() != 2 && b.shape.rank() != a.shape.rank())
    throwError(ErrorCode::badProject, "b must have 2 axes or as many as a, but a is {} and b is {}", a.shape.toString(),
               b.shape.toString());
  const bool transposeA = attributes.boolean("transpose_a", false),
             transposeB = attributes.boolean("transpose_b", false);
  const Extents e = extentsOf(a.shape, b.shape, transposeA, transposeB);
  if (const std::int64_t innerB = b.shape[transposeB ? -1 : -2]; e.inner != innerB)
    throwError(ErrorCode::badProject,
               "{} cannot be multiplied with {}: the inner extents are {} and {}, but must be equal",
               a.shape.toString() + (transposeA ? " transposed" : ""),
               b.shape.toString() + (transposeB ? " transposed" : ""), e.inner, innerB);
  Shape y = a.shape;
  for (std::size_t axis = 0; axis + 2 < a.shape.rank() && !e.sharedB; ++axis)
    if (a.shape.extents()[axis] != b.shape.extents()[axis])
      throwError(ErrorCode::badProject, "the leading extents of {} and {} must be equal, but axis {} has {} and {}",
                 a.shape.toString(), b.shape.toString(), axis, a.shape.extents()[axis], b.shape.extents()[axis]);
  y[-2] = e.rows;
  y[-1] = e.columns;
  if (bias.present) ops::needShape("the bias", bias, {e.columns});
  return {ops::f32(y)};
}

TensorId multiply(ProgramBuilder& builder, TensorId a, TensorId b, bool transposeA, bool transposeB) {
  return builder.add("matmul", {a, b}, {{"transpose_a", transposeA}, {"transpose_b", transposeB}});
}

TensorId swapLastTwo(ProgramBuilder& builder, TensorId x) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < builder.shape(x).rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return builder.add("transpose", {x}, {{"axes", axes}});
}

// All leading axes but the last as one: a shared b then sees one tall matrix.
TensorId flattenRows(ProgramBuilder& builder, TensorId x) {
  const Shape shape = builder.shape(x);
  return ops::reshapeTo(builder, x, {shape.elements() / std::max<std::int64_t>(shape[-1], 1), shape[-1]});
}

TensorId sumLeading(ProgramBuilder& builder, TensorId x) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis + 2 < builder.shape(x).rank(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return builder.add("reduce", {x}, {{"function", "sum"}, {"axes", axes}, {"keep", false}});
}

// With A = op(a), B = op(b): dA = dy B^T, dB = A^T dy. The latter first: nothing reads A after it, and its exchange
// with other processes begins.
ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId a = arguments.inputs[0], b = arguments.inputs[1], dy = arguments.outputGradients[0];
  const bool transposeA = arguments.attributes.boolean("transpose_a", false),
             transposeB = arguments.attributes.boolean("transpose_b", false);
  const bool sharedB = extentsOf(builder.shape(a), builder.shape(b), transposeA, transposeB).sharedB;

  ops::Gradients gradients(3, kNoTensor);
  if (arguments.wanted[2]) gradients[2] = builder.add("bias_gradient", {dy}, {{"axis", -1}});
  if (arguments.wanted[1]) {
    const bool flatten = sharedB && !transposeA;
    const TensorId rows = flatten ? flattenRows(builder, a) : a, slopes = flatten ? flattenRows(builder, dy) : dy;
    gradients[1] = transposeB ? multiply(builder, slopes, rows, true, transposeA)
                              : multiply(builder, rows, slopes, !transposeA, false);
    if (sharedB && !flatten) gradients[1] = sumLeading(builder, gradients[1]);
  }
  if (arguments.wanted[0]) {
    if (!transposeA)
      gradients[0] = multiply(builder, dy, b, false, !transposeB);
    else if (!sharedB)
      gradients[0] = multiply(builder, b, dy, transposeB, true);
    else
      gradients[0] = swapLastTwo(builder, multiply(builder, dy, b, false, !transposeB));
  }
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool transposeA = attributes.boolean("transpose_a", false),
             transposeB = attributes.boolean("transpose_b", false);
  const Extents e = extentsOf(inputs[0]->shape, inputs[1]->shape, transposeA, transposeB);
  for (std::int64_t l = 0; l < e.matrices; ++l) {
    const double* a = inputs[0]->values.data() + l * e.rows * e.inner;
    const double* b = inputs[1]->values.data() + (e.sharedB ? 0 : l * e.inner * e.columns);
    double* y = outputs[0].values.data() + l * e.rows * e.columns;
    for (std::int64_t m = 0; m < e.rows; ++m)
      for (std::int64_t n = 0; n < e.columns; ++n) {
        double sum = inputs[2] ? inputs[2]->values[static_cast<std::size_t>(n)] : 0.0;
        for (std::int64_t k = 0; k < e.inner; ++k)
          sum += a[transposeA ? k * e.rows + m : m * e.inner + k] * b[transposeB ? n * e.inner + k : k * e.columns + n];
        y[m * e.columns + n] = sum;
      }
  }
}

double multiplyAdds(ops::Specs inputs, ops::Specs outputs, const Attributes& attributes) {
  return static_cast<double>(outputs[0].shape.elements()) *
         static_cast<double>(inputs[0].shape[attributes.boolean("transpose_a", false) ? -2 : -1]);
}

}  // namespace matmul_op

const OpDefinition& defineMatmulOp() {
  using namespace matmul_op;
  static const OpDefinition op{.name = "matmul",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "a, b, bias? -> y"};
  return op;
}

}  // namespace loom
