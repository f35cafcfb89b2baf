// attention and attention_gradient: heads of samples are shared out among the threads.
#include "engine/cpu/kernels/attention.h"

#include <cmath>

#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

AttentionHead headOf(const Plan& plan, const Operation& operation) {
  const Shape &q = plan.shape(operation.inputs[0]), &k = plan.shape(operation.inputs[1]);
  const std::int64_t width = q[2] / operation.attributes.integer("heads", 1);
  return {
      q[1], k[1], width, q[2], operation.attributes.boolean("causal", false), 1 / std::sqrt(static_cast<float>(width))};
}

}  // namespace

void lowerAttention(Plan& plan, const Operation& operation) {
  const AttentionHead head = headOf(plan, operation);
  const std::int64_t heads = operation.attributes.integer("heads", 1), batch = plan.shape(operation.inputs[0])[0];
  const auto q = plan.read(operation.inputs[0]), k = plan.read(operation.inputs[1]), v = plan.read(operation.inputs[2]);
  const auto y = plan.write(operation.outputs[0]), statistics = plan.write(operation.outputs[1]);
  const auto scratch = plan.scratch(attentionScratch(head) * plan.threads());
  plan.stage("attention", [=](const Worker& worker) {
    const auto [first, last] = worker.share(batch * heads);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i % heads * head.width, query = i / heads * head.queries * head.stride + at,
                         key = i / heads * head.keys * head.stride + at;
      attentionForward(head, q.get() + query, k.get() + key, v.get() + key, y.get() + query,
                       statistics.get() + i * head.queries, scratch.get() + worker.index * attentionScratch(head));
    }
  });
}

void lowerAttentionGradient(Plan& plan, const Operation& operation) {
  const AttentionHead head = headOf(plan, operation);
  const std::int64_t heads = operation.attributes.integer("heads", 1), batch = plan.shape(operation.inputs[0])[0];
  const auto q = plan.read(operation.inputs[0]), k = plan.read(operation.inputs[1]), v = plan.read(operation.inputs[2]);
  const auto y = plan.read(operation.inputs[3]), statistics = plan.read(operation.inputs[4]),
             dy = plan.read(operation.inputs[5]);
  const auto dq = plan.write(operation.outputs[0]), dk = plan.write(operation.outputs[1]),
             dv = plan.write(operation.outputs[2]);
  const auto scratch = plan.scratch(attentionScratch(head) * plan.threads());
  plan.stage("attention_gradient", [=](const Worker& worker) {
    const auto [first, last] = worker.share(batch * heads);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i % heads * head.width, query = i / heads * head.queries * head.stride + at,
                         key = i / heads * head.keys * head.stride + at;
      attentionBackward(head, q.get() + query, k.get() + key, v.get() + key, y.get() + query,
                        statistics.get() + i * head.queries, dy.get() + query, dq.get() + query, dk.get() + key,
                        dv.get() + key, scratch.get() + worker.index * attentionScratch(head));
    }
  });
}

}  // namespace loom::cpu
