// embedding: y[..., :] = w[indices[...], :]; embedding_gradient: dw[r, :] = sum of dy where the index is r, in row
// order.
#include "engine/ops/support.h"

namespace loom {
namespace embedding_op {

std::int64_t rowAt(const ReferenceTensor& indices, std::int64_t place, std::int64_t rows) {
  const auto row = static_cast<std::int64_t>(indices.values[static_cast<std::size_t>(place)]);
  if (row < 0 || row >= rows)
    throwError(ErrorCode::badData,
               "place {} of the batch's indices ({}) holds {}, but the embedding has {} rows: 0 to {}", place,
               indices.shape.toString(), row, rows, rows - 1);
  return row;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  ops::needIndices("the indices", inputs[0]);
  ops::needFloat("the weight", inputs[1]);
  ops::needRank("the weight", inputs[1], 2, 2);
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  extents.push_back(inputs[1].shape[1]);
  return {ops::f32(Shape(std::move(extents)))};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  if (!arguments.wanted[1]) return {kNoTensor, kNoTensor};
  const std::int64_t rows = builder.shape(arguments.inputs[1])[0];
  return {kNoTensor,
          builder.add("embedding_gradient", {arguments.inputs[0], arguments.outputGradients[0]}, {{"rows", rows}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const std::int64_t rows = inputs[1]->shape[0], width = inputs[1]->shape[1];
  for (std::int64_t place = 0; place < inputs[0]->shape.elements(); ++place) {
    const std::int64_t row = rowAt(*inputs[0], place, rows);
    for (std::int64_t j = 0; j < width; ++j)
      outputs[0].values[static_cast<std::size_t>(place * width + j)] =
          inputs[1]->values[static_cast<std::size_t>(row * width + j)];
  }
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  ops::needIndices("the indices", inputs[0]);
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  extents.push_back(inputs[1].shape[-1]);
  ops::needShape("dy", inputs[1], Shape(std::move(extents)));
  return {ops::f32({attributes.integer("rows"), inputs[1].shape[-1]})};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t rows = attributes.integer("rows"), width = inputs[1]->shape[-1];
  for (std::int64_t place = 0; place < inputs[0]->shape.elements(); ++place) {
    const std::int64_t row = rowAt(*inputs[0], place, rows);
    for (std::int64_t j = 0; j < width; ++j)
      outputs[0].values[static_cast<std::size_t>(row * width + j)] +=
          inputs[1]->values[static_cast<std::size_t>(place * width + j)];
  }
}

}  // namespace embedding_op

const OpDefinition& defineEmbeddingOp() {
  using namespace embedding_op;
  static const OpDefinition op{.name = "embedding",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "indices, w -> y"};
  return op;
}

const OpDefinition& defineEmbeddingGradientOp() {
  using namespace embedding_op;
  static const OpDefinition op{.name = "embedding_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "indices, dy -> dw"};
  return op;
}

}  // namespace loom
