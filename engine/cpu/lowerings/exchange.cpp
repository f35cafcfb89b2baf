// Operations between ranks. Gradients leave for other ranks while this one goes on with the backward part: a thread of
// the trainer's does the work. The others are done by thread 0, in the order of the program; a group of one copies.
#include <cstring>

#include "engine/base/error.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/program/collectives.h"

namespace loom::cpu {
namespace {

// Null for a group of one. Throws where the run has no such group, or one of another size.
RankGroup* groupOf(Plan& plan, const Operation& operation) {
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

std::span<float> spanOf(const Ref<float>& ref, std::int64_t floats) {
  return {ref.get(), static_cast<std::size_t>(floats)};
}

template <class Exchange>
void emitExchange(Plan& plan, const Operation& operation, const Exchange& exchange) {
  plan.stage(operation.op->name, "between ranks", {}, [exchange](const Worker& worker) {
    if (worker.index != 0) return;
    try {
      exchange();
    } catch (...) {
      worker.fail();
    }
  });
  plan.onCaller();
}

// An op from one tensor to another: a copy in a group of one.
template <class Exchange>
void emitFromTo(Plan& plan, const Operation& operation, bool inPlace, const Exchange& exchange) {
  RankGroup* group = groupOf(plan, operation);
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const auto from = plan.read(x), to = plan.write(y);
  if (inPlace) plan.mayOverwrite(y, x);
  const std::int64_t floats = plan.shape(x).elements(), made = plan.shape(y).elements();
  emitExchange(plan, operation, [=] {
    if ((inPlace || !group) && to.get() != from.get())
      std::memcpy(to.get(), from.get(), static_cast<std::size_t>(floats) * sizeof(float));
    if (group) exchange(*group, spanOf(from, floats), spanOf(to, made));
  });
}

}  // namespace

void lowerAllReduce(Plan& plan, const Operation& operation) {
  const auto done = plan.write(operation.outputs[0]);
  Collectives* collectives = plan.collectives();
  const int bucket = static_cast<int>(operation.attributes.integer("bucket", 0));
  plan.stage("all_reduce", "posted", {}, [=](const Worker& worker) {
    if (worker.index != 0) return;
    *done.get() = 1;
    if (collectives && worker.step->options.exchange) collectives->post(bucket);
  });
  plan.onCaller();
}

void lowerAllGather(Plan& plan, const Operation& operation) {
  emitFromTo(plan, operation, false,
             [](RankGroup& group, std::span<float> x, std::span<float> y) { group.allGather(x, y); });
}

void lowerReduceScatter(Plan& plan, const Operation& operation) {
  emitFromTo(plan, operation, false,
             [](RankGroup& group, std::span<float> x, std::span<float> y) { group.reduceScatter(x, y); });
}

void lowerBroadcastFrom(Plan& plan, const Operation& operation) {
  const int root = static_cast<int>(operation.attributes.integer("root"));
  emitFromTo(plan, operation, true,
             [root](RankGroup& group, std::span<float>, std::span<float> y) { group.broadcast(y, root); });
}

void lowerReduceTo(Plan& plan, const Operation& operation) {
  const int root = static_cast<int>(operation.attributes.integer("root"));
  emitFromTo(plan, operation, true,
             [root](RankGroup& group, std::span<float>, std::span<float> y) { group.reduce(y, root); });
}

void lowerSend(Plan& plan, const Operation& operation) {
  RankGroup& group = *groupOf(plan, operation);  // its rule refuses a group of one
  const int to = static_cast<int>(operation.attributes.integer("to")),
            bucket = static_cast<int>(operation.attributes.integer("bucket", 0));
  const std::int64_t floats = plan.shape(operation.inputs[0]).elements();
  const auto from = plan.read(operation.inputs[0]), done = plan.write(operation.outputs[0]);
  emitExchange(plan, operation, [=, &group] {
    group.send(spanOf(from, floats), to, bucket);
    *done.get() = 1;
  });
}

void lowerReceive(Plan& plan, const Operation& operation) {
  RankGroup& group = *groupOf(plan, operation);
  const int from = static_cast<int>(operation.attributes.integer("from")),
            bucket = static_cast<int>(operation.attributes.integer("bucket", 0));
  const std::int64_t floats = plan.shape(operation.outputs[0]).elements();
  const auto to = plan.write(operation.outputs[0]);
  emitExchange(plan, operation, [=, &group] { group.receive(spanOf(to, floats), from, bucket); });
}

}  // namespace loom::cpu
