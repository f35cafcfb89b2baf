// attention and attention_gradient: heads of samples are shared out among the threads.
#include "engine/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// In bf16 where all of `tensors` are kept so and rows of probabilities are not too long.
AttentionHead headOf(const Plan& plan, const Operation& operation, std::initializer_list<TensorId> tensors) {
  const Shape &q = plan.shape(operation.inputs[0]), &k = plan.shape(operation.inputs[1]);
  const std::int64_t width = q[2] / operation.attributes.integer("heads", 1);
  const bool bf16 =
      std::max(q[1], k[1]) <= kLongestToHalf &&
      std::all_of(tensors.begin(), tensors.end(), [&](TensorId id) { return plan.tensor(id).type == DataType::bf16; });
  return {
      q[1], k[1], width, q[2], operation.attributes.boolean("causal", false), 1 / std::sqrt(static_cast<float>(width)),
      bf16};
}

// A tensor of the head's type, to be read or written.
StoredRef readAs(Plan& plan, const AttentionHead& head, TensorId id) {
  return head.bf16 ? plan.readStored(id, plainLayout(3)) : inF32(plan.read(id));
}
StoredRef writeAs(Plan& plan, const AttentionHead& head, TensorId id) {
  return head.bf16 ? plan.writeStored(id, plainLayout(3)) : inF32(plan.write(id));
}
std::string named(const AttentionHead& head, const char* kernel) {
  return std::string(kernel) + (head.bf16 ? " in bf16" : "");
}

}  // namespace

void lowerAttention(Plan& plan, const Operation& operation) {
  const auto& in = operation.inputs;
  const AttentionHead head = headOf(plan, operation, {in[0], in[1], in[2], operation.outputs[0]});
  const std::int64_t heads = operation.attributes.integer("heads", 1), batch = plan.shape(in[0])[0];
  const auto q = readAs(plan, head, in[0]), k = readAs(plan, head, in[1]), v = readAs(plan, head, in[2]);
  const auto y = writeAs(plan, head, operation.outputs[0]);
  const auto statistics = plan.write(operation.outputs[1]);
  const auto scratch = plan.scratchOfThreads(attentionScratch(head));
  plan.stage(named(head, "attention"), [=](const Worker& worker) {
    const auto [first, last] = worker.share(batch * heads);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i % heads * head.width, query = i / heads * head.queries * head.stride + at,
                         key = i / heads * head.keys * head.stride + at;
      attentionForward(head, q.get().from(query), k.get().from(key), v.get().from(key), y.get().from(query),
                       statistics.get() + i * head.queries, scratch.of(worker.thread));
    }
  });
}

void lowerAttentionGradient(Plan& plan, const Operation& operation) {
  const auto &in = operation.inputs, &out = operation.outputs;
  const AttentionHead head = headOf(plan, operation, {in[0], in[1], in[2], in[3], in[5], out[0], out[1], out[2]});
  const std::int64_t heads = operation.attributes.integer("heads", 1), batch = plan.shape(in[0])[0];
  const auto q = readAs(plan, head, in[0]), k = readAs(plan, head, in[1]), v = readAs(plan, head, in[2]),
             y = readAs(plan, head, in[3]), dy = readAs(plan, head, in[5]);
  const auto statistics = plan.read(in[4]);
  const auto dq = writeAs(plan, head, out[0]), dk = writeAs(plan, head, out[1]), dv = writeAs(plan, head, out[2]);
  const auto scratch = plan.scratchOfThreads(attentionScratch(head));
  plan.stage(named(head, "attention_gradient"), [=](const Worker& worker) {
    const auto [first, last] = worker.share(batch * heads);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i % heads * head.width, query = i / heads * head.queries * head.stride + at,
                         key = i / heads * head.keys * head.stride + at;
      attentionBackward(head, q.get().from(query), k.get().from(key), v.get().from(key), y.get().from(query),
                        statistics.get() + i * head.queries, dy.get().from(query), dq.get().from(query),
                        dk.get().from(key), dv.get().from(key), scratch.of(worker.thread));
    }
  });
}

}  // namespace loom::cpu
