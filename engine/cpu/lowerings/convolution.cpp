// The three convolutions on oneDNN: activations channels-last throughout, weights in whatever layout oneDNN likes best,
// which they are brought into once a step. Each thread computes its samples; weight gradients are summed over the
// threads.
#include "engine/cpu/lowerings/convolution_description.h"
#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

convolution_forward::primitive_desc forwardOf(const ConvolutionDescription& g, std::int64_t samples,
                                              const dnnl::memory::desc& weights, bool bias, bool relu) {
  return withDnnl(g.toString(), [&] {
    const dnnl::memory::desc b({g.output[1]}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::x);
    const convolution_forward::desc description =
        bias ? convolution_forward::desc(dnnl::prop_kind::forward_training, kDirect, g.inputOf(samples), weights, b,
                                         g.outputOf(samples), g.strides, g.dilation, g.before, g.after)
             : convolution_forward::desc(dnnl::prop_kind::forward_training, kDirect, g.inputOf(samples), weights,
                                         g.outputOf(samples), g.strides, g.dilation, g.before, g.after);
    return convolution_forward::primitive_desc(description, dnnlAttributes(relu), dnnlEngine());
  });
}

// The weight in `wanted` layout: a parameter's once a step, another tensor's now.
Ref<float> weightIn(Plan& plan, TensorId id, const ConvolutionDescription& g, const dnnl::memory::desc& wanted) {
  const Ref<float> plain = plan.read(id);
  if (wanted == g.weights(false)) return plain;
  const auto task = std::make_shared<DnnlTask>(dnnl::reorder(
      dnnl::reorder::primitive_desc(dnnlEngine(), g.weights(false), dnnlEngine(), wanted, dnnlAttributes())));
  const auto bindTo = [&](const Ref<float>& packed) {
    task->argument(DNNL_ARG_FROM, g.weights(false), plain).argument(DNNL_ARG_TO, wanted, packed);
    plan.onBind([task] { task->bind(); });
  };
  if (plan.tensor(id).role != TensorRole::parameter) {
    const Ref<float> packed = plan.scratch(floatsOf(wanted));
    bindTo(packed);
    plan.stage("pack weight", "oneDNN reorder", {}, [task](const Worker& worker) {
      if (worker.index == 0) task->run();
    });
    return packed;
  }
  // Descriptions have no order; their bytes identify them.
  std::string key = "convolution weight " + std::to_string(id) + " ";
  key.append(reinterpret_cast<const char*>(&wanted.data), sizeof wanted.data);
  return plan.packedWeight(key, floatsOf(wanted), [&](const Ref<float>& packed) {
    bindTo(packed);
    plan.prologue([task](const Worker&) { task->run(); });
  });
}

// Stage that runs one task a thread; threads beyond the batch have none.
void runTasks(Plan& plan, const std::string& kernel, const char* implementation, DnnlTasks tasks) {
  plan.onBind([tasks] {
    for (DnnlTask& task : *tasks) task.bind();
  });
  plan.stage(kernel, std::string("oneDNN ") + implementation, "channels-last", [tasks](const Worker& worker) {
    if (static_cast<std::size_t>(worker.index) < tasks->size()) (*tasks)[static_cast<std::size_t>(worker.index)].run();
  });
}

int activeThreads(const Plan& plan, std::int64_t batch) {
  return static_cast<int>(std::min<std::int64_t>(plan.threads(), batch));
}

}  // namespace

void lowerConvolution(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], w = operation.inputs[1], y = plan.fused().output;
  const TensorId b = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  const auto g = describeConvolution(operation.attributes, plan.shape(x), plan.shape(w), plan.shape(y));
  const Layout layout = channelsLast(plan.shape(x).rank());
  const auto input = plan.read(x, layout), bias = plan.readOptional(b), output = plan.write(y, layout);
  const int threads = activeThreads(plan, g.batch);
  const bool relu = plan.fused().relu;
  const auto any = forwardOf(g, samplesOf(g.batch, 0, threads).second, g.weights(true), b != kNoTensor, relu);
  const dnnl::memory::desc weights = any.weights_desc();
  const auto packed = weightIn(plan, w, g, weights);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = forwardOf(g, last - first, weights, b != kNoTensor, relu);
    DnnlTask task{convolution_forward(pd)};
    task.argument(DNNL_ARG_SRC, g.inputOf(last - first), input.at(first * g.inputFloats()))
        .argument(DNNL_ARG_WEIGHTS, weights, packed)
        .argument(DNNL_ARG_DST, g.outputOf(last - first), output.at(first * g.outputFloats()))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), plan.scratch(floatsOf(pd.scratchpad_desc())));
    if (b != kNoTensor) task.argument(DNNL_ARG_BIAS, pd.bias_desc(), bias);
    tasks->push_back(std::move(task));
  }
  runTasks(plan, relu ? "convolution + relu" : "convolution", any.impl_info_str(), tasks);
}

void lowerConvolutionInputGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], w = operation.inputs[1], dx = operation.outputs[0];
  const TensorId b = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  const auto g = describeConvolution(operation.attributes, plan.shape(dx), plan.shape(w), plan.shape(dy));
  const Layout layout = channelsLast(plan.shape(dy).rank());
  const auto gradient = plan.read(dy, layout), result = plan.write(dx, layout);
  const int threads = activeThreads(plan, g.batch);
  const auto make = [&](std::int64_t samples, const dnnl::memory::desc& weights) {
    return withDnnl("the input gradient of " + g.toString(), [&] {
      const convolution_backward_data::desc description(kDirect, g.inputOf(samples), weights, g.outputOf(samples),
                                                        g.strides, g.dilation, g.before, g.after);
      return convolution_backward_data::primitive_desc(description, dnnlAttributes(), dnnlEngine(),
                                                       forwardOf(g, samples, g.weights(true), false, false));
    });
  };
  const auto any = make(samplesOf(g.batch, 0, threads).second, g.weights(true));
  const dnnl::memory::desc weights = any.weights_desc();
  const auto packed = weightIn(plan, w, g, weights);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = make(last - first, weights);
    DnnlTask task{convolution_backward_data(pd)};
    task.argument(DNNL_ARG_DIFF_DST, g.outputOf(last - first), gradient.at(first * g.outputFloats()))
        .argument(DNNL_ARG_WEIGHTS, weights, packed)
        .argument(DNNL_ARG_DIFF_SRC, g.inputOf(last - first), result.at(first * g.inputFloats()))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), plan.scratch(floatsOf(pd.scratchpad_desc())));
    tasks->push_back(std::move(task));
  }
  runTasks(plan, "convolution_input_gradient", any.impl_info_str(), tasks);
  if (b == kNoTensor) return;
  const auto bias = plan.read(b);
  const std::int64_t channels = plan.shape(dx)[1], rows = plan.shape(dx).elements() / channels;
  plan.stage("add bias", [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows);
    for (std::int64_t r = first; r < last; ++r) {
      float* row = result.get() + r * channels;
      for (std::int64_t c = 0; c < channels; ++c) row[c] += bias.get()[c];
    }
  });
}

void lowerConvolutionWeightGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dw = operation.outputs[0];
  const auto g = describeConvolution(operation.attributes, plan.shape(x), plan.shape(dw), plan.shape(dy));
  const Layout layout = channelsLast(plan.shape(x).rank());
  const auto input = plan.read(x, layout), gradient = plan.read(dy, layout);
  const auto target = plan.writeGradient(dw);
  const int threads = activeThreads(plan, g.batch);
  const auto make = [&](std::int64_t samples, const dnnl::memory::desc& weights) {
    return withDnnl("the weight gradient of " + g.toString(), [&] {
      const convolution_backward_weights::desc description(kDirect, g.inputOf(samples), weights, g.outputOf(samples),
                                                           g.strides, g.dilation, g.before, g.after);
      return convolution_backward_weights::primitive_desc(description, dnnlAttributes(), dnnlEngine(),
                                                          forwardOf(g, samples, g.weights(true), false, false));
    });
  };
  const auto any = make(samplesOf(g.batch, 0, threads).second, g.weights(true));
  const dnnl::memory::desc weights = any.diff_weights_desc();
  const std::int64_t floats = floatsOf(weights);
  const auto partial = plan.scratch(floats * threads);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = make(last - first, weights);
    DnnlTask task{convolution_backward_weights(pd)};
    task.argument(DNNL_ARG_SRC, g.inputOf(last - first), input.at(first * g.inputFloats()))
        .argument(DNNL_ARG_DIFF_DST, g.outputOf(last - first), gradient.at(first * g.outputFloats()))
        .argument(DNNL_ARG_DIFF_WEIGHTS, weights, partial.at(t * floats))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), plan.scratch(floatsOf(pd.scratchpad_desc())));
    tasks->push_back(std::move(task));
  }
  runTasks(plan, "convolution_weight_gradient", any.impl_info_str(), tasks);

  // Sum over the threads, then into row-major order: overwriting, or adding (two reorders, one of which runs).
  const auto deliver = [&](bool adds) {
    dnnl::primitive_attr attributes = dnnlAttributes();
    if (adds) {
      dnnl::post_ops sum;
      sum.append_sum();
      attributes.set_post_ops(sum);
    }
    auto task = std::make_shared<DnnlTask>(dnnl::reorder(
        dnnl::reorder::primitive_desc(dnnlEngine(), weights, dnnlEngine(), g.weights(false), attributes)));
    task->argument(DNNL_ARG_FROM, weights, partial).argument(DNNL_ARG_TO, g.weights(false), target.to);
    plan.onBind([task] { task->bind(); });
    return task;
  };
  const auto overwrite = deliver(false), add = target.direct ? deliver(true) : overwrite;
  plan.stage("sum weight gradients", "own + oneDNN reorder", {}, [=](const Worker& worker) {
    const auto [first, last] = worker.share(floats, 64);
    float* sum = partial.get();
    for (int t = 1; t < threads; ++t) {
      const float* other = partial.get() + t * floats;
      for (std::int64_t i = first; i < last; ++i) sum[i] += other[i];
    }
    worker.meet();
    if (worker.index == 0) (target.adds(worker) ? add : overwrite)->run();
  });
}

}  // namespace loom::cpu
