// MatrixDiagonal and DiagonalPart: a vector as the diagonal of a matrix, and back.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/resampling.h"

namespace loom {
namespace matrix_diagonal_layers {

constexpr std::int64_t kWidestDiagonal = 4096;  // its matrix has the square of that many values

Entry matrixEntry() {
  return parts::completed(
      {.id = "MatrixDiagonal",
       .category = "shape",
       .aliases = {"MatrixDiag"},
       .summary = "Puts the last axis on the diagonal of a matrix that is 0 elsewhere.",
       .help = "y[…, i, i] = x[…, i] and 0 elsewhere: 5 becomes 5×5, 3×5 becomes 3×5×5.\n\nNo parameters.",
       .outputs = {parts::valuesOut("One axis more, as long as the last.")}});
}

Entry partEntry() {
  return parts::completed(
      {.id = "DiagonalPart",
       .category = "shape",
       .aliases = {"MatrixDiagPart"},
       .summary = "Takes the diagonal of the matrix in the last two axes.",
       .help =
           "y[…, i] = x[…, i, i]: 5×5 becomes 5, 3×5×5 becomes 3×5. Both axes must have one extent.\n\nNo parameters.",
       .outputs = {parts::valuesOut("One axis less.")}});
}

std::vector<Shape> matrixShapes(const ShapeArguments& arguments) {
  std::vector<std::int64_t> extents = arguments.inputs[0].extents();
  if (extents.empty() || extents.size() > 6 || extents.back() > kWidestDiagonal)
    throw LayerError(fmt::format("its input is {}, but 1 to 6 axes are possible, the last of at most {}",
                                 parts::shapeText(arguments.inputs[0]), kWidestDiagonal),
                     "");
  extents.push_back(extents.back());
  return {Shape(std::move(extents))};
}

std::vector<Shape> partShapes(const ShapeArguments& arguments) {
  std::vector<std::int64_t> extents = arguments.inputs[0].extents();
  const std::size_t rank = extents.size();
  if (rank < 2 || extents[rank - 1] != extents[rank - 2] || extents.back() > kWidestDiagonal)
    throw LayerError(fmt::format("its input is {}, but the last two axes must be a square matrix of at most {} rows",
                                 parts::shapeText(arguments.inputs[0]), kWidestDiagonal),
                     "");
  extents.pop_back();
  return {Shape(std::move(extents))};
}

// Both walk one axis of n·n values, of which those at i·n + i are the diagonal.
std::vector<TensorId> lowerMatrix(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t n = input.extents().back();
  AxisMap map;
  for (std::int64_t place = 0; place < n * n; ++place)
    map.addRow(place % (n + 1) == 0 ? std::vector{place / (n + 1)} : std::vector<std::int64_t>());
  const TensorId x = arguments.builder.add("resample", {arguments.inputs[0]},
                                           attributesOf(map, static_cast<std::int64_t>(input.rank())));
  return {parts::reshaped(arguments, x, matrixShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

std::vector<TensorId> lowerPart(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t n = input.extents().back();
  std::vector<std::int64_t> extents(input.begin(), input.end() - 2);
  extents.push_back(n * n);
  AxisMap map;
  for (std::int64_t i = 0; i < n; ++i) map.addRow({i * (n + 1)});
  const auto axis = static_cast<std::int64_t>(extents.size());
  return {arguments.builder.add("resample",
                                {parts::reshaped(arguments, arguments.inputs[0], Shape(std::move(extents)))},
                                attributesOf(map, axis))};
}

}  // namespace matrix_diagonal_layers

const LayerDefinition& defineMatrixDiagonalLayer() {
  using namespace matrix_diagonal_layers;
  static const LayerDefinition definition{matrixEntry(), matrixShapes, lowerMatrix};
  return definition;
}

const LayerDefinition& defineDiagonalPartLayer() {
  using namespace matrix_diagonal_layers;
  static const LayerDefinition definition{partEntry(), partShapes, lowerPart};
  return definition;
}

}  // namespace loom
