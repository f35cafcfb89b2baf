// embedding and its gradient; checks of indices and labels.
#include <algorithm>

#include "engine/base/error.h"
#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// The tensor that `id` is only another name of.
TensorId sourceOf(const Plan& plan, TensorId id) {
  for (auto operation = plan.program().operations.rbegin(); operation != plan.program().operations.rend();
       ++operation) {
    if (operation->op->isView && operation->outputs[0] == id) id = operation->inputs[0];
  }
  return id;
}

}  // namespace

void checkIndices(Plan& plan, TensorId id, std::int64_t limit, const std::string& what) {
  const auto indices = plan.readInts(id);
  const std::int64_t count = plan.shape(id).elements();
  std::string layer;
  if (!plan.origin().empty()) layer = "in layer '" + plan.origin() + "'";
  const auto firstFault = [=] {
    for (std::int64_t i = 0; i < count; ++i) {
      if (indices.get()[i] < 0 || indices.get()[i] >= limit) return i;
    }
    return count;
  };
  const std::int64_t rows = std::max<std::int64_t>(plan.shape(id).rank() == 0 ? 1 : plan.shape(id)[0], 1);
  const auto report = [=](std::int64_t fault) {
    const std::int64_t each = count / rows;
    const std::string where = each > 1 ? fmt::format("row {} of the batch, place {},", fault / each, fault % each)
                                       : fmt::format("row {} of the batch", fault);
    Error error(ErrorCode::badData, fmt::format("{} has the {} {}, but there are {}: it must be 0 to {}", where, what,
                                                indices.get()[fault], limit, limit - 1));
    if (!layer.empty()) error.addContext(layer);
    throw error;
  };
  if (plan.tensor(sourceOf(plan, id)).role == TensorRole::input) {
    plan.guard([=] {
      if (const std::int64_t fault = firstFault(); fault < count) report(fault);
    });
    return;
  }
  plan.stage("check", [=](const Worker& worker) {
    if (worker.index != 0) return;
    if (const std::int64_t fault = firstFault(); fault < count) {
      worker.step->report = [=] { report(fault); };
      worker.step->failed.store(true, std::memory_order_release);
    }
  });
}

void lowerEmbedding(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], w = operation.inputs[1], y = operation.outputs[0];
  checkIndices(plan, indices, plan.shape(w)[0], "index");
  const auto from = plan.readInts(indices);
  const auto table = plan.read(w);
  const auto to = plan.writeStored(y, plainLayout(plan.shape(y).rank()));
  const std::int64_t count = plan.shape(indices).elements(), width = plan.shape(w).elements() / plan.shape(w)[0];
  plan.stage("embedding", [=](const Worker& worker) {
    const auto [first, last] = worker.share(count);
    for (std::int64_t i = first; i < last; ++i) {
      copyStored(inF32(table.get() + from.get()[i] * width), to.get().from(i * width), width);
    }
  });
}

// Each thread takes some columns of all rows, so that rows are summed in their order whatever the number of threads.
void lowerEmbeddingGradient(Plan& plan, const Operation& operation) {
  const TensorId indices = operation.inputs[0], dy = operation.inputs[1], dw = operation.outputs[0];
  const auto from = plan.readInts(indices);
  const auto gradient = plan.readStored(dy, plainLayout(plan.shape(dy).rank()));
  const auto target = plan.writeGradient(dw);
  const std::int64_t count = plan.shape(indices).elements(), rows = plan.shape(dw)[0],
                     width = plan.shape(dw).elements() / rows;
  checkIndices(plan, indices, rows, "index");
  plan.stage("embedding_gradient", [=](const Worker& worker) {
    const auto [first, last] = worker.share(width, 16);
    if (first == last) return;
    if (!target.adds(worker)) {
      for (std::int64_t r = 0; r < rows; ++r)
        std::fill(target.to.get() + r * width + first, target.to.get() + r * width + last, 0.0f);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      float* row = target.to.get() + from.get()[i] * width + first;
      inBlocks(
          inF32(row), gradient.get().from(i * width + first), inF32(row), last - first,
          [](const float* a, const float* b, float* to, std::int64_t n) { binary(BinaryFunction::add, a, b, to, n); });
    }
  });
}

}  // namespace loom::cpu
