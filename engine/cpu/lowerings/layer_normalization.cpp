// layer_normalization and local_response_normalization with their gradients.
#include <algorithm>

#include "engine/cpu/kernels/layer_norm.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/wide_rows.h"
#include "engine/ops/normalisation.h"

namespace loom::cpu {
namespace {

std::int64_t rowLength(const Plan& plan, const Operation& operation) {
  const Shape& x = plan.shape(operation.inputs[0]);
  std::int64_t length = 1;
  for (std::int64_t i = 1; i <= operation.attributes.integer("axes", 1); ++i) length *= x[-i];
  return length;
}

ResponseWindow windowOf(const Attributes& attributes) {
  return {attributes.integer("size", 5), static_cast<float>(attributes.real("alpha", 1e-4)),
          static_cast<float>(attributes.real("beta", 0.75)), static_cast<float>(attributes.real("k", 1.0))};
}

}  // namespace

void lowerLayerNormalization(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = plainLayout(plan.shape(x).rank());
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const auto gamma = plan.readOptional(operation.inputs[1]), beta = plan.readOptional(operation.inputs[2]);
  const auto mean = plan.write(operation.outputs[1]), inverse = plan.write(operation.outputs[2]);
  plan.mayOverwrite(y, x);
  const auto epsilon = static_cast<float>(operation.attributes.real("epsilon", ops::kNormalisationEpsilon));
  const std::int64_t length = rowLength(plan, operation), rows = plan.shape(x).elements() / length;
  const WideRows wide(plan, length, {from, to});
  plan.stage("layer_normalization", [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows);
    for (std::int64_t r = first; r < last; ++r) {
      const float* x = wide.read(worker, 0, from.get().from(r * length));
      float* y = wide.room(worker, 1, to.get().from(r * length));
      layerNormRow(x, gamma.get(), beta.get(), epsilon, length, y, mean.get() + r, inverse.get() + r);
      wide.put(y, to.get().from(r * length));
    }
  });
}

// dgamma and dbeta: sums over blocks of 64 rows in float, over blocks and threads in double.
void lowerLayerNormalizationGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dx = operation.outputs[0];
  const Layout layout = plainLayout(plan.shape(x).rank());
  const auto from = plan.readStored(x, layout), gradient = plan.readStored(dy, layout),
             to = plan.writeStored(dx, layout);
  const auto gamma = plan.readOptional(operation.inputs[2]);
  const auto mean = plan.read(operation.inputs[3]), inverse = plan.read(operation.inputs[4]);
  plan.mayOverwrite(dx, dy);
  const auto dgamma = plan.writeGradient(operation.outputs[1]), dbeta = plan.writeGradient(operation.outputs[2]);
  const std::int64_t length = rowLength(plan, operation), rows = plan.shape(x).elements() / length;
  const auto scratch = plan.scratchOfThreads(6 * length);  // 2 rows of doubles and 2 of floats
  const WideRows wide(plan, length, {from, gradient, to});
  plan.stage("layer_normalization_gradient", [=](const Worker& worker) {
    if (worker.phase == 1) {
      const auto [begin, end] = worker.share(length, 16);
      for (std::int64_t i = begin; i < end; ++i) {
        double g = 0, b = 0;
        for (int t = 0; t < worker.count; ++t) {
          const auto* theirs = reinterpret_cast<const double*>(scratch.of(t));
          g += theirs[i];
          b += theirs[length + i];
        }
        dgamma.to.get()[i] = static_cast<float>(g) + (dgamma.adds(worker) ? dgamma.to.get()[i] : 0);
        dbeta.to.get()[i] = static_cast<float>(b) + (dbeta.adds(worker) ? dbeta.to.get()[i] : 0);
      }
      return;
    }
    constexpr std::int64_t kBlock = 64;
    const auto [first, last] = worker.share(rows);
    auto* sums = reinterpret_cast<double*>(scratch.of(worker.index));
    float* block = scratch.of(worker.index) + 4 * length;
    std::fill_n(sums, 2 * length, 0.0);
    for (std::int64_t start = first; start < last; start += kBlock) {
      std::fill_n(block, 2 * length, 0.0f);
      for (std::int64_t r = start; r < std::min(last, start + kBlock); ++r) {
        const float *x = wide.read(worker, 0, from.get().from(r * length)),
                    *dy = wide.read(worker, 1, gradient.get().from(r * length));
        float* dx = wide.room(worker, 2, to.get().from(r * length));
        layerNormGradientRow(x, dy, gamma.get(), mean.get()[r], inverse.get()[r], length, dx, block, block + length);
        wide.put(dx, to.get().from(r * length));
      }
      for (std::int64_t i = 0; i < 2 * length; ++i) sums[i] += block[i];
    }
  });
  plan.phases(2);
}

void lowerLocalResponseNormalization(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const ChannelView view = channelView(plan, x, 1);
  const auto from = plan.read(x, view.layout), to = plan.write(y, view.layout);
  const ResponseWindow window = windowOf(operation.attributes);
  plan.stage("local_response_normalization", {}, layoutName(plan.shape(x), view.layout), [=](const Worker& worker) {
    const auto [first, last] = worker.share(view.rows);
    for (std::int64_t r = first; r < last; ++r)
      responseNormRow(window, from.get() + r * view.channels, to.get() + r * view.channels, view.channels);
  });
}

void lowerLocalResponseNormalizationGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dx = operation.outputs[0];
  const ChannelView view = channelView(plan, x, 1);
  const auto from = plan.read(x, view.layout), gradient = plan.read(operation.inputs[1], view.layout),
             to = plan.write(dx, view.layout);
  const ResponseWindow window = windowOf(operation.attributes);
  const auto scratch = plan.scratchOfThreads(2 * view.channels);
  plan.stage("local_response_normalization_gradient", {}, layoutName(plan.shape(x), view.layout),
             [=](const Worker& worker) {
               const auto [first, last] = worker.share(view.rows);
               for (std::int64_t r = first; r < last; ++r) {
                 const std::int64_t at = r * view.channels;
                 responseNormGradientRow(window, from.get() + at, gradient.get() + at, to.get() + at, view.channels,
                                         scratch.of(worker.thread));
               }
             });
}

}  // namespace loom::cpu
