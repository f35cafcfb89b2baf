// unary, unary_gradient, binary, select, scale, scale_by: in whatever layout the inputs stand.
#include "engine/cpu/kernels/elementwise.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/cpu/kernels/gelu.h"
#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/lowerings/broadcast.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kGrain = 256;

// Sums, ReLUs and their gradients of tensors of which some are kept in bf16.
struct StoredSum {
  std::string name;
  TensorId a, b = kNoTensor, mask = kNoTensor;
  bool relu = false;
  TensorId y;
};

const char* suffix(const StoredRef& to) {
  return to.bf16 ? " in bf16" : "";
}

bool anyInBf16(const Plan& plan, std::initializer_list<TensorId> ids) {
  return std::any_of(ids.begin(), ids.end(),
                     [&](TensorId id) { return id != kNoTensor && plan.tensor(id).type == DataType::bf16; });
}

void lowerStored(Plan& plan, const StoredSum& sum, const Layout& layout) {
  const auto a = plan.readStored(sum.a, layout), b = plan.readStoredOptional(sum.b, layout),
             mask = plan.readStoredOptional(sum.mask, layout), to = plan.writeStored(sum.y, layout);
  plan.mayOverwrite(sum.y, sum.a);
  if (b) plan.mayOverwrite(sum.y, sum.b);
  const std::int64_t count = plan.shape(sum.y).elements();
  const char* then = sum.relu ? " + relu" : mask ? " + relu_gradient" : "";
  plan.stage(fmt::format("{}{}{}", sum.name, then, to.bf16 ? " in bf16" : ""), {},
             layoutName(plan.shape(sum.y), layout), [=, relu = sum.relu](const Worker& worker) {
               const auto [first, last] = worker.share(count, kGrain);
               addStored(a.get().from(first), b.get().from(first), mask.get().from(first), relu, to.get().from(first),
                         last - first);
             });
}

}  // namespace

Layout commonLayout(const Plan& plan, std::span<const TensorId> inputs) {
  const Shape& shape = plan.shape(inputs[0]);
  for (TensorId id : inputs) {
    if (id != kNoTensor && plan.shape(id).rank() == shape.rank() && !isPlain(plan.shape(id), plan.layoutOf(id)))
      return plan.layoutOf(id);
  }
  return plainLayout(shape.rank());
}

void lowerUnary(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const UnaryFunction function = unaryFunctionOf(operation.attributes);
  if (function == UnaryFunction::relu && anyInBf16(plan, {x, y})) {
    lowerStored(plan, {.name = "unary", .a = x, .relu = true, .y = y}, layout);
    return;
  }
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  plan.mayOverwrite(y, x);
  const UnaryNumbers numbers = unaryNumbersOf(operation.attributes);
  const std::int64_t count = plan.shape(y).elements();
  plan.stage("unary " + operation.attributes.text("function") + suffix(to), {}, layoutName(plan.shape(y), layout),
             [=](const Worker& worker) {
               const auto [first, last] = worker.share(count, kGrain);
               if (function == UnaryFunction::gelu)
                 return gelu(from.get().from(first), to.get().from(first), last - first);
               inBlocks(
                   from.get().from(first), {}, to.get().from(first), last - first,
                   [&](const float* x, const float*, float* y, std::int64_t n) { unary(function, numbers, x, y, n); });
             });
}

void lowerUnaryGradient(Plan& plan, const Operation& operation) {
  const DerivativeFrom derivative = unaryDerivativeFrom(operation.attributes);
  const TensorId dy = operation.inputs[2], dx = operation.outputs[0];
  const TensorId at = derivative == DerivativeFrom::input    ? operation.inputs[0]
                      : derivative == DerivativeFrom::output ? operation.inputs[1]
                                                             : dy;
  const Layout layout = plan.layoutOf(at);
  const UnaryFunction function = unaryFunctionOf(operation.attributes);
  if (function == UnaryFunction::relu && anyInBf16(plan, {at, dy, dx})) {
    lowerStored(plan, {.name = "unary", .a = dy, .mask = at, .y = dx}, layout);
    return;
  }
  const auto from = plan.readStored(at, layout), gradient = plan.readStored(dy, layout),
             to = plan.writeStored(dx, layout);
  plan.mayOverwrite(dx, dy);
  const UnaryNumbers numbers = unaryNumbersOf(operation.attributes);
  const std::int64_t count = plan.shape(dx).elements();
  plan.stage("unary_gradient " + operation.attributes.text("function") + suffix(to), {},
             layoutName(plan.shape(dx), layout), [=](const Worker& worker) {
               const auto [first, last] = worker.share(count, kGrain);
               if (function == UnaryFunction::gelu)
                 return geluGradient(from.get().from(first), gradient.get().from(first), to.get().from(first),
                                     last - first);
               inBlocks(from.get().from(first), gradient.get().from(first), to.get().from(first), last - first,
                        [&](const float* at, const float* dy, float* dx, std::int64_t n) {
                          unaryGradient(function, numbers, derivative == DerivativeFrom::output, at, dy, dx, n);
                        });
             });
}

void lowerBinary(Plan& plan, const Operation& operation) {
  const TensorId a = operation.inputs[0], b = operation.inputs[1], y = plan.fused().output;
  const Layout layout = commonLayout(plan, operation.inputs);
  const BinaryFunction function = binaryFunctionOf(operation.attributes);
  if (function == BinaryFunction::add && plan.shape(a) == plan.shape(b) &&
      anyInBf16(plan, {a, b, y, plan.fused().mask})) {
    lowerStored(plan,
                {.name = "binary add", .a = a, .b = b, .mask = plan.fused().mask, .relu = plan.fused().relu, .y = y},
                layout);
    return;
  }
  const auto left = plan.readStored(a, layout), right = plan.readStored(b, layout), to = plan.writeStored(y, layout);
  plan.mayOverwrite(y, a);
  const std::int64_t count = plan.shape(y).elements();
  const Broadcast broadcast = broadcastOver(physicalShape(plan.shape(a), layout), physicalShape(plan.shape(b), layout));
  if (broadcast.kind == Broadcast::Kind::same) plan.mayOverwrite(y, b);
  const bool relu = plan.fused().relu;  // or a mask: of tensors in f32 alone
  const auto mask = plan.fused().mask == kNoTensor ? Ref<float>{} : plan.read(plan.fused().mask, layout);
  const auto withRow = [=](std::int64_t at, Stored other, std::int64_t count) {
    inBlocks(left.get().from(at), other, to.get().from(at), count,
             [&](const float* a, const float* b, float* y, std::int64_t n) { binary(function, a, b, y, n); });
  };
  const auto withNumber = [=](std::int64_t at, Stored other, std::int64_t count) {
    const float number = numberAt(other, 0);
    inBlocks(left.get().from(at), {}, to.get().from(at), count,
             [&](const float* a, const float*, float* y, std::int64_t n) { binaryScalar(function, a, number, y, n); });
  };
  plan.stage("binary " + operation.attributes.text("function") +
                 (relu   ? " + relu"
                  : mask ? " + relu_gradient"
                         : suffix(to)),
             {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
               if (broadcast.kind == Broadcast::Kind::same || broadcast.kind == Broadcast::Kind::scalar) {
                 const auto [first, last] = worker.share(count, kGrain);
                 if (mask) {
                   addMasked(wideNumbers(left.get()) + first, wideNumbers(right.get()) + first, mask.get() + first,
                             wideNumbers(to.get()) + first, last - first);
                 } else if (relu) {
                   addRelu(wideNumbers(left.get()) + first, wideNumbers(right.get()) + first,
                           wideNumbers(to.get()) + first, last - first);
                 } else if (broadcast.kind == Broadcast::Kind::same) {
                   withRow(first, right.get().from(first), last - first);
                 } else {
                   withNumber(first, right.get(), last - first);
                 }
                 return;
               }
               const auto [first, last] = worker.share(broadcast.rows);
               for (std::int64_t row = first; row < last; ++row) {
                 const std::int64_t at = row * broadcast.columns;
                 const Stored other =
                     right.get().from(broadcast.kind == Broadcast::Kind::rows ? 0 : broadcast.offsetOf(row));
                 if (broadcast.kind == Broadcast::Kind::rows || broadcast.follows)
                   withRow(at, other, broadcast.columns);
                 else
                   withNumber(at, other, broadcast.columns);
               }
             });
}

void lowerSelect(Plan& plan, const Operation& operation) {
  const TensorId y = operation.outputs[0];
  const Layout layout = commonLayout(plan, operation.inputs);
  const auto condition = plan.read(operation.inputs[0], layout), a = plan.read(operation.inputs[1], layout),
             b = plan.read(operation.inputs[2], layout), to = plan.write(y, layout);
  for (TensorId input : operation.inputs) plan.mayOverwrite(y, input);
  const std::int64_t count = plan.shape(y).elements();
  plan.stage("select", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(count, kGrain);
    choose(condition.get() + first, a.get() + first, b.get() + first, to.get() + first, last - first);
  });
}

void lowerScale(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  plan.mayOverwrite(y, x);
  const auto factor = static_cast<float>(operation.attributes.real("factor", 1)),
             offset = static_cast<float>(operation.attributes.real("offset", 0));
  const std::int64_t count = plan.shape(y).elements();
  plan.stage("scale", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(count, kGrain);
    inBlocks(from.get().from(first), {}, to.get().from(first), last - first,
             [&](const float* x, const float*, float* y, std::int64_t n) { scale(x, factor, offset, y, n); });
  });
}

void lowerScaleBy(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plan.layoutOf(x);
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const auto by = plan.read(operation.inputs[1]);
  plan.mayOverwrite(y, x);
  const std::int64_t count = plan.shape(y).elements();
  plan.stage("scale_by", {}, layoutName(plan.shape(y), layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(count, kGrain);
    inBlocks(from.get().from(first), {}, to.get().from(first), last - first,
             [&](const float* x, const float*, float* y, std::int64_t n) { scale(x, *by.get(), 0, y, n); });
  });
}

}  // namespace loom::cpu
