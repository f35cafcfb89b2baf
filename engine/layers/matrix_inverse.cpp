#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/ops/inverse.h"

namespace loom {
namespace matrix_inverse_layer {

Entry entry() {
  return parts::completed(
      {.id = "MatrixInverse",
       .category = "linear",
       .icon = "function",
       .aliases = {"BatchInv", "Inv"},
       .summary = "Inverts the square matrix in the last two axes, sample by sample.",
       .help = "Y = X⁻¹ over the last two axes, which must have one extent, at most 1,024; axes before them are gone "
               "through side by side. Rows are exchanged so that each step divides by the largest number of its "
               "column.\n\nA singular matrix has no inverse: all of its result is NaN, and training says so. Add a "
               "small number to the diagonal (a Parameter that is not trained, or MatrixDiagonal and Add) where that "
               "can happen.\n\nNo parameters.",
       .inputs = {parts::valuesIn("… × n × n.")},
       .outputs = {parts::valuesOut("The same shape.")}});
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() < 2 || input.rank() > 7 || input[-1] != input[-2] || input[-1] > ops::kWidestInverse)
    throw LayerError(
        fmt::format("its input is {}, but the last two axes must be a square matrix of at most {} rows, such as 3×3",
                    parts::shapeText(input), ops::kWidestInverse),
        "");
  return {input};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("inverse", {arguments.inputs[0]})};
}

}  // namespace matrix_inverse_layer

const LayerDefinition& defineMatrixInverseLayer() {
  using namespace matrix_inverse_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
