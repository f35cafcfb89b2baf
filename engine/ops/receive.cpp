// receive: y, of the attribute `shape`, is what rank `from` sends at its place with the same group and bucket. No
// gradient, as there is no input (see send).
#include "engine/ops/communication.h"

namespace loom {
namespace receive_op {

std::vector<TensorSpec> infer(ops::Specs, const Attributes& attributes) {
  ops::needPartner("receive", "from", attributes);
  return {ops::f32(Shape(attributes.integers("shape")))};
}

void reference(ops::References, ops::Outputs, const Attributes& attributes) {
  ops::needAlone("receive", attributes);
}

}  // namespace receive_op

const OpDefinition& defineReceiveOp() {
  using namespace receive_op;
  static const OpDefinition op{
      .name = "receive", .infer = infer, .reference = reference, .signature = "-> y", .communicates = true};
  return op;
}

}  // namespace loom
