#include "engine/ops/emissions.h"

#include "engine/ops/support.h"

namespace loom {

TensorId emitSum(ProgramBuilder& builder, TensorId a, TensorId b) {
  return ops::binary(builder, "add", a, b);
}

TensorId emitCopy(ProgramBuilder& builder, TensorId x) {
  return builder.add("scale", {x}, {{"factor", 1.0}, {"offset", 0.0}});
}

Operation scaledOperation(TensorId factor, const std::vector<TensorId>& from, std::vector<TensorId> to) {
  Operation operation{.op = &findOp("scale_all"), .inputs = {factor}, .outputs = std::move(to), .attributes = {}};
  operation.inputs.insert(operation.inputs.end(), from.begin(), from.end());
  return operation;
}

Operation exchangeOperation(std::vector<TensorId> gradients, std::int64_t bucket, TensorId done) {
  Operation operation{.op = &findOp("all_reduce"),
                      .inputs = std::move(gradients),
                      .outputs = {done},
                      .attributes = {},
                      .origin = "gradients",
                      .backward = true};
  operation.attributes.set("bucket", bucket);
  operation.attributes.set("group", std::string("data"));
  return operation;
}

}  // namespace loom
