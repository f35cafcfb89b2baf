// Operations between ranks. Gradients leave when the step is over (training/step_exchange), so all_reduce only says
// that they stand there. The others copy in a group of one; between several ranks they would have to wait in the middle
// of a step that is enqueued as a whole.
#include "engine/base/error.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/program/collectives.h"

namespace loom::cuda {
namespace {

// Throws for a group that this run does not have, for one of another size, and for one of several ranks.
void needGroupOfOne(const Plan& plan, const Operation& operation) {
  const Attributes& attributes = operation.attributes;
  const std::string name = attributes.has("group") ? attributes.text("group") : "data";
  const std::int64_t wanted = attributes.integer("ranks", 1);
  RankGroup* group = plan.collectives() ? plan.collectives()->group(name) : nullptr;
  if (plan.collectives() && !group)
    throwError(ErrorCode::badArgument, "{} is for the group '{}', which this run does not have", operation.op->name,
               name);
  const int ranks = group ? group->ranks() : 1;
  if (ranks != wanted)
    throwError(ErrorCode::badArgument,
               "{} is for a group '{}' of {} ranks, but here it has {}: lower the program for that number, or start "
               "as many ranks",
               operation.op->name, name, wanted, ranks);
  if (ranks > 1)
    throwError(ErrorCode::badArgument,
               "{} between the {} ranks of the group '{}' is not possible on a GPU: train on CPUs, or without it",
               operation.op->name, ranks, name);
}

void copy(Plan& plan, const Operation& operation, const Operand& from, const Operand& to) {
  plan.stage({.kernel = operation.op->name,
              .implementation = "device",
              .reads = {from},
              .writes = {to},
              .bind = [from, to]() -> Call {
                return CopyCall{from.address<>(), to.address<>(), to.bytes};
              }});
}

void lowerCopy(Plan& plan, const Operation& operation) {
  needGroupOfOne(plan, operation);
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  copy(plan, operation, plan.read(x, layout, plan.tensor(y).type), plan.write(y, layout));
}

void lowerAllReduce(Plan& plan, const Operation& operation) {
  constexpr float kDone = 1;
  const auto bytes = std::as_bytes(std::span(&kDone, 1));
  const Operand done = plan.constant({bytes.begin(), bytes.end()});
  copy(plan, operation, done, plan.write(operation.outputs[0]));
}

void refuse(Plan& plan, const Operation& operation) {
  needGroupOfOne(plan, operation);
  throwError(ErrorCode::badArgument, "{} needs a group of at least 2 ranks", operation.op->name);
}

}  // namespace

LoweringRows exchangeRows() {
  static const LoweringRow rows[] = {
      {"all_gather", lowerCopy}, {"all_reduce", lowerAllReduce}, {"broadcast_from", lowerCopy},
      {"receive", refuse},       {"reduce_scatter", lowerCopy},  {"reduce_to", lowerCopy},
      {"send", refuse},
  };
  return rows;
}

}  // namespace loom::cuda
