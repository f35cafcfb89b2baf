// The three convolutions, on oneDNN where no kernels of our own are faster (winograd.h, pixels.h): activations
// channels-last throughout, weights in whatever layout oneDNN likes best, which they are brought into once a step. Each
// thread computes its samples; weight gradients are summed over the threads.
#include <algorithm>

#include "engine/cpu/kernels/simd.h"
#include "engine/cpu/lowerings/convolution_description.h"
#include "engine/cpu/lowerings/lowerings.h"
#include "engine/cpu/lowerings/pixels.h"
#include "engine/cpu/lowerings/winograd.h"

namespace loom::cpu {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::convolution_forward;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

using Type = ConvolutionDescription::Type;

// `type` is that of the input and the weights, `to` of the output.
convolution_forward::primitive_desc forwardOf(const ConvolutionDescription& g, std::int64_t samples,
                                              const dnnl::memory::desc& weights, Type type, bool bias, bool relu,
                                              Type to = Type::f32) {
  return withDnnl(g.toString(), [&] {
    const dnnl::memory::desc b({g.output[1]}, Type::f32, dnnl::memory::format_tag::x), x = g.inputOf(samples, type);
    const auto made = [&](const auto&... operands) {
      return describeForward<convolution_forward>(dnnlAttributes(relu), dnnl::prop_kind::forward_training, kDirect,
                                                  operands..., g.outputOf(samples, to), g.strides, g.dilation, g.before,
                                                  g.after);
    };
    return bias ? made(x, weights, b) : made(x, weights);
  });
}

// What is asked for in bf16 where oneDNN has a kernel for it on this processor, else in f32: its reference loops, and
// the f32 of processors without AVX-512, serve nobody better. `make(type)` answers a description.
template <class Make>
Type typeOf(const Plan& plan, const Make& make) {
  if (!plan.bf16()) return Type::f32;
  try {
    const auto description = make(Type::bf16);  // oneDNN 3 keeps the name in it
    const std::string_view kernel = description.impl_info_str();
    return kernel.find("ref") == kernel.npos ? Type::bf16 : Type::f32;
  } catch (const Error&) {
    return Type::f32;
  }
}

// oneDNN 3 prefers kernels for strided input gradients that take, in f32, 1.6 to 2.3 times as long as those it had
// before (ResNet-20's on an Intel Xeon, oneDNN 3.7): they are passed over where there is another. `make()` answers a
// description.
template <class Make>
auto withoutSlowOnes(const Make& make) {
  const auto slow = [](const auto& description) {
    return std::string_view(description.impl_info_str()).find("brgconv_strided") != std::string_view::npos;
  };
  auto description = make();
  while (slow(description))
    if (!description.next_impl()) return make();
  return std::string_view(description.impl_info_str()).starts_with("ref") ? make() : description;
}

// Floats that a weight gradient may write behind its scratchpad: where oneDNN 2.6 gathers the pixels of a strided 1 x 1
// window, it moves channels in whole vectors and has room for as many as there are (fewer than 8, AVX2; up to 765
// numbers of 33 x 33 pixels). What lies there is another thread's.
std::int64_t floatsBehind(const ConvolutionDescription& g) {
  const bool strided = std::ranges::any_of(g.strides, [](std::int64_t stride) { return stride > 1; });
  return strided && g.input[1] % kLanes != 0 ? g.outputFloats() / g.output[1] * kLanes : 0;
}

// A tensor that is read, in the type that is computed in, and where a sample begins.
struct Source {
  Ref<std::byte> at;
  std::int64_t bytes;  // of one number
  Ref<std::byte> from(std::int64_t number) const { return at.at(number * bytes); }
};
Source sourceOf(Plan& plan, TensorId id, const Layout& layout, Type type) {
  if (type == Type::bf16) return {plan.readBf16(id, layout).as<std::byte>(), 2};
  return {plan.read(id, layout).as<std::byte>(), 4};
}
// A tensor that is written: as it is kept where the kernel computes in bf16; else in f32, to be rounded if need be.
Source resultIn(Plan& plan, TensorId id, const Layout& layout, Type type) {
  if (type != Type::bf16) return {plan.write(id, layout).as<std::byte>(), 4};
  const StoredRef to = plan.writeStored(id, layout);
  return {to.at, to.bf16 ? 2 : 4};
}
Type keptIn(const Plan& plan, TensorId id, Type type) {
  return type == Type::bf16 && plan.tensor(id).type == DataType::bf16 ? Type::bf16 : Type::f32;
}
const char* suffix(Type type) {
  return type == Type::bf16 ? " in bf16" : "";
}

// What brings a weight into `wanted`: outputs (groups, where there are several) in as many parts, of whole blocks of
// any layout; or in one where they are too few or oneDNN has no reorder of a part.
DnnlTasks reorders(const ConvolutionDescription& g, const dnnl::memory::desc& wanted, const Ref<float>& plain,
                   const Ref<float>& packed, int parts) {
  constexpr std::int64_t kOutputs = 64;
  const std::int64_t blocks = std::max<std::int64_t>(1, g.weight[0] / kOutputs);
  parts = static_cast<int>(std::min<std::int64_t>(parts, blocks));
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  const auto add = [&](std::int64_t first, std::int64_t last) {
    dnnl::memory::dims extents = g.weight, begin(extents.size(), 0);
    begin[0] = first;
    extents[0] = last - first;
    const auto from = g.weights(false).submemory_desc(extents, begin), to = wanted.submemory_desc(extents, begin);
    tasks->emplace_back(
        dnnl::reorder(dnnl::reorder::primitive_desc(dnnlEngine(), from, dnnlEngine(), to, dnnlAttributes())));
    tasks->back().argument(DNNL_ARG_FROM, from, plain).argument(DNNL_ARG_TO, to, packed);
  };
  try {
    for (int part = 0; part < parts; ++part)
      add(blocks * part / parts * kOutputs, part + 1 == parts ? g.weight[0] : blocks * (part + 1) / parts * kOutputs);
    return tasks;
  } catch (const dnnl::error&) {
    if (parts == 1) throw;
    return reorders(g, wanted, plain, packed, 1);
  }
}

// The weight in `wanted` layout and type, once a change where it stays so, else now.
Ref<float> weightIn(Plan& plan, TensorId id, const ConvolutionDescription& g, const dnnl::memory::desc& wanted) {
  const Ref<float> plain = plan.read(id);
  if (wanted == g.weights(false)) return plain;
  const auto tasksTo = [&](const Ref<float>& packed, int parts) {
    const DnnlTasks tasks =
        withDnnl("the layout of weights", [&] { return reorders(g, wanted, plain, packed, parts); });
    plan.onBind([tasks] {
      for (DnnlTask& task : *tasks) task.bind();
    });
    return tasks;
  };
  if (!plan.keepsPacked(id, floatsOf(wanted), g.batch * g.outputFloats() / g.output[1])) {
    return plan.packInStep(id, floatsOf(wanted), "oneDNN reorder", [&](const Ref<float>& packed) {
      return [tasks = tasksTo(packed, plan.threads())](const Worker& worker) {
        const auto index = static_cast<std::size_t>(worker.index);
        if (index < tasks->size()) (*tasks)[index].run();
      };
    });
  }
  const std::string key = "convolution weight " + std::to_string(id) + " " + bytesOf(wanted);
  return plan.packedWeight(key, floatsOf(wanted), [&](const Ref<float>& packed) {
    plan.prologue(id, [tasks = tasksTo(packed, 1)] { tasks->front().run(); });
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
  const bool relu = plan.fused().relu;
  if (const auto own = winogradOf(plan, g, ConvolutionPart::forward))
    return emitWinograd(plan, *own, std::string("convolution") + (relu ? " + relu" : ""), x, w, false, b, relu, y);
  if (const auto own = pixelsOf(plan, g, ConvolutionPart::forward))
    return emitPixels(plan, *own, std::string("convolution") + (relu ? " + relu" : ""), x, w, b, relu, y);
  const Layout layout = channelsLast(plan.shape(x).rank());
  const int threads = activeThreads(plan, g.batch);
  const auto made = [&](Type type) {
    return forwardOf(g, samplesOf(g.batch, 0, threads).second, g.weights(true, type), type, b != kNoTensor, relu,
                     keptIn(plan, y, type));
  };
  const Type type = typeOf(plan, made);
  const auto any = made(type);
  const Source input = sourceOf(plan, x, layout, type);
  const auto bias = plan.readOptional(b);
  const Source output = resultIn(plan, y, layout, type);
  const Type kept = keptIn(plan, y, type);
  const dnnl::memory::desc weights = any.weights_desc();
  const auto packed = weightIn(plan, w, g, weights);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = forwardOf(g, last - first, weights, type, b != kNoTensor, relu, kept);
    DnnlTask task{convolution_forward(pd)};
    task.argument(DNNL_ARG_SRC, g.inputOf(last - first, type), input.from(first * g.inputFloats()))
        .argument(DNNL_ARG_WEIGHTS, weights, packed)
        .argument(DNNL_ARG_DST, g.outputOf(last - first, kept), output.from(first * g.outputFloats()))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), plan.scratch(floatsOf(pd.scratchpad_desc())));
    if (b != kNoTensor) task.argument(DNNL_ARG_BIAS, pd.bias_desc(), bias);
    tasks->push_back(std::move(task));
  }
  runTasks(plan, std::string("convolution") + suffix(type) + (relu ? " + relu" : ""), any.impl_info_str(), tasks);
}

void lowerConvolutionInputGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], w = operation.inputs[1], dx = operation.outputs[0];
  const TensorId b = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  const auto g = describeConvolution(operation.attributes, plan.shape(dx), plan.shape(w), plan.shape(dy));
  if (const auto own = winogradOf(plan, g, ConvolutionPart::inputGradient); own && b == kNoTensor)
    return emitWinograd(plan, *own, "convolution_input_gradient", dy, w, true, kNoTensor, false, dx);
  if (const auto own = pixelsOf(plan, g, ConvolutionPart::inputGradient); own && b == kNoTensor)
    return emitPixelInputGradient(plan, *own, "convolution_input_gradient", dy, w, dx);
  const Layout layout = channelsLast(plan.shape(dy).rank());
  const int threads = activeThreads(plan, g.batch);
  const auto make = [&](std::int64_t samples, const dnnl::memory::desc& weights, Type type) {
    return withDnnl("the input gradient of " + g.toString(), [&] {
      const auto forward = forwardOf(g, samples, g.weights(true, type), type, false, false);  // next_impl() reads it
      const auto described = [&] {
        return describeBackward<convolution_backward_data>(forward, kDirect, g.inputOf(samples, keptIn(plan, dx, type)),
                                                           weights, g.outputOf(samples, type), g.strides, g.dilation,
                                                           g.before, g.after);
      };
      return type == Type::f32 ? withoutSlowOnes(described) : described();
    });
  };
  const auto made = [&](Type type) { return make(samplesOf(g.batch, 0, threads).second, g.weights(true, type), type); };
  const Type type = typeOf(plan, made);
  const auto any = made(type);
  const Source gradient = sourceOf(plan, dy, layout, type);
  const Source result = resultIn(plan, dx, layout, type);
  const dnnl::memory::desc weights = any.weights_desc();
  const auto packed = weightIn(plan, w, g, weights);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = make(last - first, weights, type);
    DnnlTask task{convolution_backward_data(pd)};
    task.argument(DNNL_ARG_DIFF_DST, g.outputOf(last - first, type), gradient.from(first * g.outputFloats()))
        .argument(DNNL_ARG_WEIGHTS, weights, packed)
        .argument(DNNL_ARG_DIFF_SRC, g.inputOf(last - first, keptIn(plan, dx, type)),
                  result.from(first * g.inputFloats()))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(), plan.scratch(floatsOf(pd.scratchpad_desc())));
    tasks->push_back(std::move(task));
  }
  runTasks(plan, std::string("convolution_input_gradient") + suffix(type), any.impl_info_str(), tasks);
  if (b == kNoTensor) return;
  const auto bias = plan.read(b), sums = result.at.as<float>();
  const std::int64_t channels = plan.shape(dx)[1], rows = plan.shape(dx).elements() / channels;
  plan.stage("add bias", [=](const Worker& worker) {
    const auto [first, last] = worker.share(rows);
    for (std::int64_t r = first; r < last; ++r) {
      float* row = sums.get() + r * channels;
      for (std::int64_t c = 0; c < channels; ++c) row[c] += bias.get()[c];
    }
  });
}

void lowerConvolutionWeightGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dw = operation.outputs[0];
  const auto g = describeConvolution(operation.attributes, plan.shape(x), plan.shape(dw), plan.shape(dy));
  if (const auto own = winogradOf(plan, g, ConvolutionPart::weightGradient))
    return emitWinogradWeightGradient(plan, *own, "convolution_weight_gradient", x, dy, dw);
  if (const auto own = pixelsOf(plan, g, ConvolutionPart::weightGradient))
    return emitPixelWeightGradient(plan, *own, "convolution_weight_gradient", x, dy, dw);
  const Layout layout = channelsLast(plan.shape(x).rank());
  const auto target = plan.writeGradient(dw);
  const int threads = activeThreads(plan, g.batch);
  const auto make = [&](std::int64_t samples, const dnnl::memory::desc& weights, Type type) {
    return withDnnl("the weight gradient of " + g.toString(), [&] {
      return describeBackward<convolution_backward_weights>(
          forwardOf(g, samples, g.weights(true, type), type, false, false), kDirect, g.inputOf(samples, type), weights,
          g.outputOf(samples, type), g.strides, g.dilation, g.before, g.after);
    });
  };
  const auto made = [&](Type type) { return make(samplesOf(g.batch, 0, threads).second, g.weights(true), type); };
  const Type type = typeOf(plan, made);
  const auto any = made(type);
  const Source input = sourceOf(plan, x, layout, type), gradient = sourceOf(plan, dy, layout, type);
  const dnnl::memory::desc weights = any.diff_weights_desc();
  const std::int64_t floats = floatsOf(weights);
  const auto partial = plan.scratch(floats * threads);
  auto tasks = std::make_shared<std::vector<DnnlTask>>();
  for (int t = 0; t < threads; ++t) {
    const auto [first, last] = samplesOf(g.batch, t, threads);
    const auto pd = make(last - first, weights, type);
    DnnlTask task{convolution_backward_weights(pd)};
    task.argument(DNNL_ARG_SRC, g.inputOf(last - first, type), input.from(first * g.inputFloats()))
        .argument(DNNL_ARG_DIFF_DST, g.outputOf(last - first, type), gradient.from(first * g.outputFloats()))
        .argument(DNNL_ARG_DIFF_WEIGHTS, weights, partial.at(t * floats))
        .argument(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc(),
                  plan.scratch(floatsOf(pd.scratchpad_desc()) + floatsBehind(g)));
    tasks->push_back(std::move(task));
  }
  runTasks(plan, std::string("convolution_weight_gradient") + suffix(type), any.impl_info_str(), tasks);

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
    if (worker.phase == 1) {
      if (worker.index == 0) (target.adds(worker) ? add : overwrite)->run();
      return;
    }
    const auto [first, last] = worker.share(floats, 64);
    float* sum = partial.get();
    for (int t = 1; t < threads; ++t) {
      const float* other = partial.get() + t * floats;
      for (std::int64_t i = first; i < last; ++i) sum[i] += other[i];
    }
  });
  plan.phases(2);
}

}  // namespace loom::cpu
