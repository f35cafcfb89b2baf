// one_hot: a new last axis of `classes` numbers, 1 at the index and 0 elsewhere.
#include "engine/ops/support.h"

namespace loom {
namespace one_hot_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needIndices("the input", inputs[0]);
  const std::int64_t classes = attributes.integer("classes");
  if (classes < 1) throwError(ErrorCode::badProject, "'classes' is {}, but must be at least 1", classes);
  std::vector<std::int64_t> extents = inputs[0].shape.extents();
  extents.push_back(classes);
  return {ops::f32(Shape(std::move(extents)))};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t classes = attributes.integer("classes");
  for (std::size_t i = 0; i < inputs[0]->values.size(); ++i) {
    const auto index = static_cast<std::int64_t>(inputs[0]->values[i]);
    if (index < 0 || index >= classes)
      throwError(ErrorCode::badData, "place {} of the batch's indices ({}) holds {}, but there are {} classes: 0 to {}",
                 i, inputs[0]->shape.toString(), index, classes, classes - 1);
    outputs[0].values[i * static_cast<std::size_t>(classes) + static_cast<std::size_t>(index)] = 1;
  }
}

}  // namespace one_hot_op

const OpDefinition& defineOneHotOp() {
  using namespace one_hot_op;
  static const OpDefinition op{
      .name = "one_hot", .infer = infer, .reference = reference, .signature = "indices -> y", .flat = true};
  return op;
}

}  // namespace loom
