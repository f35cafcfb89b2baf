#include <fmt/format.h>

#include "engine/layers/elementwise.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace matrix_product_layer {

Entry entry() {
  return parts::completed(
      {.id = "MatrixProduct",
       .category = "linear",
       .icon = "multiply",
       .aliases = {"MatMul", "BatchMatmul", "Bmm", "Dot"},
       .summary = "Multiplies the matrices of its two inputs, sample by sample.",
       .help = "Y = A · B over the last two axes, m×k times k×n gives m×n; either may be transposed before. Axes "
               "before them "
               "(heads of an attention, say) are gone through side by side and stretch as in NumPy. Attention that is "
               "drawn "
               "in parts is made of it: Q · Kᵀ, a Softmax, and times V.\n\n"
               "No parameters; with a learned matrix it is Linear.",
       .inputs = {{.key = "input", .label = "A", .help = "… × m × k."},
                  {.key = "b", .label = "B", .help = "… × k × n."}},
       .outputs = {parts::valuesOut("… × m × n.")},
       .fields = {parts::switchField("transpose_a", "Transpose A", "A is given as k × m.", false),
                  parts::switchField("transpose_b", "Transpose B", "B is given as n × k.", false)}});
}

Shape leadingOf(const Shape& shape) {
  return Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - 2));
}

Shape joined(const Shape& leading, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> extents = leading.extents();
  extents.insert(extents.end(), {rows, columns});
  return Shape(std::move(extents));
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape &a = arguments.inputs[0], &b = arguments.inputs[1];
  if (a.rank() < 2 || b.rank() < 2)
    throw LayerError(fmt::format("the inputs are {} and {}, but each must be a matrix: rows × columns",
                                 parts::shapeText(a), parts::shapeText(b)),
                     "");
  const bool ta = arguments.values.boolean("transpose_a"), tb = arguments.values.boolean("transpose_b");
  const std::int64_t inner = a[ta ? -2 : -1], other = b[tb ? -1 : -2];
  if (inner != other)
    throw LayerError(
        fmt::format("{}{} times {}{}: rows of {} cannot be multiplied with columns of {}", parts::shapeText(a),
                    ta ? " transposed" : "", parts::shapeText(b), tb ? " transposed" : "", inner, other),
        "");
  const Shape leading[] = {leadingOf(a), leadingOf(b)};
  return {joined(stretchedShape(leading), a[ta ? -1 : -2], b[tb ? -2 : -1])};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape given[] = {parts::sampleShape(arguments, 0), parts::sampleShape(arguments, 1)};
  const Shape leading[] = {leadingOf(given[0]), leadingOf(given[1])}, all = stretchedShape(leading);
  std::vector<TensorId> matrices;
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape full = joined(all, given[i][-2], given[i][-1]);
    matrices.push_back(parts::stretchedTo(arguments, alignedTo(arguments, arguments.inputs[i], full), full));
  }
  return {arguments.builder.add("matmul", {matrices[0], matrices[1], kNoTensor},
                                {{"transpose_a", arguments.values.boolean("transpose_a")},
                                 {"transpose_b", arguments.values.boolean("transpose_b")}})};
}

}  // namespace matrix_product_layer

const LayerDefinition& defineMatrixProductLayer() {
  using namespace matrix_product_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
