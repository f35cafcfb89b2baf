// Max and average pooling with their gradients, channels-last, samples shared out among the threads.
#include "engine/cpu/kernels/pooling.h"

#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {

void lowerMaxPooling(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = channelsLast(plan.shape(x).rank());
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const PoolingGeometry g = poolingGeometry(plan.shape(x), operation.attributes);
  plan.stage("max_pooling", {}, "channels-last", [=](const Worker& worker) {
    const auto [first, last] = worker.share(g.batch);
    maxPooling(g, from.get(), to.get(), first, last);
  });
}

void lowerMaxPoolingGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dx = plan.fused().output;
  const Layout layout = channelsLast(plan.shape(x).rank());
  const PoolingGeometry g = poolingGeometry(plan.shape(x), operation.attributes);
  const auto from = plan.readStored(x, layout), out = plan.readStored(operation.inputs[1], layout),
             gradient = plan.readStored(operation.inputs[2], layout);
  const auto to = windowsTile(g) ? plan.writeStored(dx, layout) : inF32(plan.write(dx, layout));
  const bool relu = plan.fused().relu;
  plan.stage(relu ? "max_pooling_gradient + relu_gradient" : "max_pooling_gradient", {}, "channels-last",
             [=](const Worker& worker) {
               const auto [first, last] = worker.share(g.batch);
               maxPoolingGradient(g, from.get(), out.get(), gradient.get(), to.get(), relu, first, last);
             });
}

void lowerAveragePooling(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], y = operation.outputs[0];
  const Layout layout = channelsLast(plan.shape(x).rank());
  const auto from = plan.readStored(x, layout), to = plan.writeStored(y, layout);
  const PoolingGeometry g = poolingGeometry(plan.shape(x), operation.attributes);
  const bool padding = operation.attributes.boolean("include_padding", false);
  plan.stage("average_pooling", {}, "channels-last", [=](const Worker& worker) {
    const auto [first, last] = worker.share(g.batch);
    averagePooling(g, padding, from.get(), to.get(), first, last);
  });
}

void lowerAveragePoolingGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], dx = operation.outputs[0];
  const Layout layout = channelsLast(plan.shape(dy).rank());
  const PoolingGeometry g = poolingGeometry(plan.shape(dx), operation.attributes);
  const auto from = plan.readStored(dy, layout),
             to = windowsTile(g) ? plan.writeStored(dx, layout) : inF32(plan.write(dx, layout));
  const bool padding = operation.attributes.boolean("include_padding", false);
  plan.stage("average_pooling_gradient", {}, "channels-last", [=](const Worker& worker) {
    const auto [first, last] = worker.share(g.batch);
    averagePoolingGradient(g, padding, from.get(), to.get(), first, last);
  });
}

}  // namespace loom::cpu
