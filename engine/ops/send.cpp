// send: x goes to rank `to`, whose program has a receive of the same shape, group and bucket at its place; `done` is 1
// once x may be overwritten. No gradient: in the program of one rank nothing comes of it. A program that is to be cut
// into stages is differentiated whole and cut afterwards, so its gradients travel over messages of their own.
#include "engine/ops/communication.h"

namespace loom {
namespace send_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("what is sent", inputs[0]);
  ops::needPartner("send", "to", attributes);
  return {ops::f32(Shape{})};
}

void reference(ops::References, ops::Outputs, const Attributes& attributes) {
  ops::needAlone("send", attributes);
}

}  // namespace send_op

const OpDefinition& defineSendOp() {
  using namespace send_op;
  static const OpDefinition op{.name = "send",
                               .infer = infer,
                               .reference = reference,
                               .signature = "x -> done",
                               .flat = true,
                               .communicates = true};
  return op;
}

}  // namespace loom
