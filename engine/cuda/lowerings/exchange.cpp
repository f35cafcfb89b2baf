// Operations between ranks, in the order of the program: on the device's streams where the ranks have some, else
// through the host. The others copy in a group of one.
#include "engine/cuda/lowerings/exchange.h"

#include "engine/base/error.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/program/collectives.h"

namespace loom::cuda {
namespace {

using Exchange = RankExchange::Kind;

std::string implementationOf(const std::shared_ptr<StreamRanks>& streams) {
  return streams ? "between devices" : "through the host";
}

// Null for a group of one. Throws where the run has no such group, or one of another size.
RankGroup* groupOf(const Plan& plan, const Operation& operation) {
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
  return ranks == 1 ? nullptr : group;
}

RankGroup& groupOfSeveral(const Plan& plan, const Operation& operation) {
  RankGroup* group = groupOf(plan, operation);
  if (group == nullptr) throwError(ErrorCode::badArgument, "{} needs a group of at least 2 ranks", operation.op->name);
  return *group;
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

void writeDone(Plan& plan, const Operation& operation) {
  constexpr float kDone = 1;
  const auto bytes = std::as_bytes(std::span(&kDone, 1));
  copy(plan, operation, plan.constant({bytes.begin(), bytes.end()}), plan.write(operation.outputs[0]));
}

int tagOf(const Operation& message) {
  return static_cast<int>(message.attributes.integer("bucket", 0));
}

// From one tensor to another. What is gathered or scattered lies in the order of axis 0.
template <Exchange kKind>
void lowerFromTo(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  RankGroup* group = groupOf(plan, operation);
  const Layout layout = group == nullptr ? plan.layoutOf(x) : plainLayout(plan.shape(x).rank());
  const Operand from = plan.read(x, layout, plan.tensor(y).type), to = plan.write(y, layout);
  if (group == nullptr) {
    copy(plan, operation, from, to);
    return;
  }
  const bool rooted = kKind == Exchange::broadcast || kKind == Exchange::reduce;
  const int root = rooted ? static_cast<int>(operation.attributes.integer("root")) : 0;
  exchange(plan, *group, kKind, root, from, to);
  if (kKind == Exchange::reduce && group->rank() != root) plan.fill(to, 0);
}

// Gradients that the trainer takes through the host leave when the step is over: then this only says that they stand
// there.
void lowerAllReduce(Plan& plan, const Operation& operation) {
  Collectives* collectives = plan.collectives();
  if (collectives != nullptr && collectives->sumsOnStreams()) {
    std::vector<Operand> gradients;
    for (const TensorId id : operation.inputs) gradients.push_back(plan.inStore(id));
    const std::shared_ptr<StreamRanks> streams = collectives->group("data")->onStreams();
    plan.stage({.kernel = operation.op->name,
                .implementation = implementationOf(streams),
                .reads = gradients,
                .writes = gradients,
                .bind = [gradients, streams]() -> Call {
                  CollectiveCall call{streams, {.kind = Exchange::allReduce}};
                  for (const Operand& one : gradients)
                    call.what.parts.push_back({one.address<>(), one.address<>(), one.bytes});
                  return call;
                },
                .exchange = Stage::Exchange::gradients});
  }
  writeDone(plan, operation);
}

void lowerSend(Plan& plan, const Operation& operation) {
  RankGroup& group = groupOfSeveral(plan, operation);
  exchange(plan, group, Exchange::send, static_cast<int>(operation.attributes.integer("to")),
           plan.read(operation.inputs[0]), {}, tagOf(operation));
  writeDone(plan, operation);
}

void lowerReceive(Plan& plan, const Operation& operation) {
  RankGroup& group = groupOfSeveral(plan, operation);
  exchange(plan, group, Exchange::receive, static_cast<int>(operation.attributes.integer("from")), {},
           plan.write(operation.outputs[0]), tagOf(operation));
}

}  // namespace

void exchange(Plan& plan, RankGroup& group, Exchange kind, int partner, const Operand& from, const Operand& to,
              int tag) {
  const std::shared_ptr<StreamRanks> streams = group.onStreams();
  // The rank's own part: of the smaller side.
  const std::size_t bytes = !from ? to.bytes : !to ? from.bytes : std::min(from.bytes, to.bytes);
  plan.stage({.kernel = std::string(toString(kind)),
              .implementation = implementationOf(streams),
              .reads = {from},
              .writes = {to},
              .bind = [=]() -> Call {
                return CollectiveCall{streams, {kind, partner, {{from.address<>(), to.address<>(), bytes}}, tag}};
              },
              .exchange = Stage::Exchange::awaited,
              .group = &group});
}

LoweringRows exchangeRows() {
  static const LoweringRow rows[] = {
      {"all_gather", lowerFromTo<Exchange::allGather>},
      {"all_reduce", lowerAllReduce},
      {"broadcast_from", lowerFromTo<Exchange::broadcast>},
      {"receive", lowerReceive},
      {"reduce_scatter", lowerFromTo<Exchange::reduceScatter>},
      {"reduce_to", lowerFromTo<Exchange::reduce>},
      {"send", lowerSend},
  };
  return rows;
}

}  // namespace loom::cuda
