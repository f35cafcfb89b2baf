#include <cstring>

#include "engine/base/error.h"
#include "engine/cuda/lowerings/attention.h"

namespace loom::cuda {
namespace {

enum : int { kQ, kK, kV, kY, kStatistics, kScale };

constexpr std::size_t kWorkspaceLimit = std::size_t{64} << 20;  // bytes

}  // namespace

DnnGraph attentionGraph(const Heads& h, DataType type) {
  // N x T x C, a head's columns side by side.
  const auto tensor = [&](int id, std::int64_t rows) {
    return DnnTensor{id, {h.batch, h.heads, rows, h.width()}, {rows * h.channels, h.width(), h.channels, 1}, type};
  };
  return {.tensors = {tensor(kQ, h.queries),
                      tensor(kK, h.keys),
                      tensor(kV, h.keys),
                      tensor(kY, h.queries),
                      {kStatistics, {h.batch, h.heads, h.queries, 1}, {h.heads * h.queries, h.queries, 1, 1}},
                      {kScale, {1, 1, 1, 1}, {1, 1, 1, 1}}},
          .operations = {DnnAttention{kQ, kK, kV, kY, kStatistics, kScale}},
          .deterministic = true};
}

std::shared_ptr<const DnnPlan> attentionPlan(Plan& plan, const Heads& h) {
  if (plan.factors() == DataType::f32 || h.causal) return nullptr;
  try {
    return plan.device().plan(attentionGraph(h, plan.factors()), kWorkspaceLimit);
  } catch (const DeviceLost&) {
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device) throw;
    return nullptr;
  }
}

void emitAttentionByCudnn(Plan& plan, const Operation& operation, const Heads& h,
                          std::shared_ptr<const DnnPlan> dnnPlan, const Operand& y, const Operand& statistics) {
  const auto read = [&](std::size_t input) {
    return plan.read(operation.inputs[input], plainLayout(3), plan.factors());
  };
  const Operand q = read(0), k = read(1), v = read(2), result = inFactors(plan, y);
  const float number = h.scale();
  std::vector<std::byte> bytes(sizeof(number));
  std::memcpy(bytes.data(), &number, sizeof(number));
  const Operand scale = plan.constant(std::move(bytes));
  const Operand workspace = dnnPlan->workspaceBytes > 0 ? plan.scratch(dnnPlan->workspaceBytes) : Operand{};
  plan.stage({.kernel = "attention",
              .implementation = "cudnn " + dnnPlan->name,
              .reads = {q, k, v, scale},
              .writes = {result, statistics, workspace.moving(0)},
              .bind = [=]() -> Call {
                return DnnCall{.plan = dnnPlan,
                               .tensors = {{kQ, q.address()},
                                           {kK, k.address()},
                                           {kV, v.address()},
                                           {kY, result.address()},
                                           {kStatistics, statistics.address()},
                                           {kScale, scale.address()}},
                               .workspace = workspace.address()};
              },
              .multiplyAdds = 2 * h.pairs() * static_cast<double>(h.width()),
              .kind = StageKind::attention,
              .factors = plan.factors()});
  deliverFactors(plan, result, y);
}

}  // namespace loom::cuda
