// inverse: y = x^-1 of the square matrices in the last two axes. A singular matrix has none: all of y is NaN there.
// Gradient: dx = -y^T dy y^T.
#include "engine/ops/inverse.h"

#include <cmath>
#include <limits>
#include <utility>

#include "engine/ops/support.h"

namespace loom {
namespace inverse_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  ops::needFloat("the matrices", inputs[0]);
  ops::needRank("the matrices", inputs[0], 2, 8);
  const Shape& x = inputs[0].shape;
  if (x[-1] != x[-2])
    throwError(ErrorCode::badProject, "a matrix of {} rows and {} columns ({}) has no inverse: both must be equal",
               x[-2], x[-1], x.toString());
  if (x[-1] > ops::kWidestInverse)
    throwError(ErrorCode::badProject, "a matrix of {} rows is to be inverted, but at most {} are possible", x[-1],
               ops::kWidestInverse);
  return {ops::f32(x)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId y = arguments.outputs[0], dy = arguments.outputGradients[0];
  const TensorId left = builder.add("matmul", {y, dy, kNoTensor}, {{"transpose_a", true}, {"transpose_b", false}});
  const TensorId whole = builder.add("matmul", {left, y, kNoTensor}, {{"transpose_a", false}, {"transpose_b", true}});
  return {builder.add("unary", {whole}, {{"function", "negative"}})};
}

// Gauss-Jordan on the matrix beside the identity, with the largest pivot of each column.
void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const auto n = static_cast<std::size_t>(inputs[0]->shape[-1]);
  for (std::size_t first = 0; first < inputs[0]->values.size(); first += n * n) {
    std::vector<std::vector<double>> rows(n, std::vector<double>(2 * n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) rows[i][j] = inputs[0]->values[first + i * n + j];
      rows[i][n + i] = 1;
    }
    bool singular = false;
    for (std::size_t k = 0; k < n && !singular; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < n; ++i)
        if (std::abs(rows[i][k]) > std::abs(rows[pivot][k])) pivot = i;
      std::swap(rows[k], rows[pivot]);
      singular = !(std::abs(rows[k][k]) > 0);
      const double scale = 1 / rows[k][k];
      for (double& value : rows[k]) value *= scale;
      for (std::size_t i = 0; i < n; ++i) {
        const double factor = rows[i][k];
        for (std::size_t j = 0; i != k && j < 2 * n; ++j) rows[i][j] -= factor * rows[k][j];
      }
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        outputs[0].values[first + i * n + j] = singular ? std::numeric_limits<double>::quiet_NaN() : rows[i][n + j];
  }
}

double multiplyAdds(ops::Specs inputs, ops::Specs, const Attributes&) {
  return static_cast<double>(inputs[0].shape.elements()) * static_cast<double>(inputs[0].shape[-1]);
}

}  // namespace inverse_op

const OpDefinition& defineInverseOp() {
  using namespace inverse_op;
  static const OpDefinition op{.name = "inverse",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .multiplyAdds = multiplyAdds,
                               .signature = "x -> y"};
  return op;
}

}  // namespace loom
