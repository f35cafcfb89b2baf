#include "tests/engine/cpu/networks.h"

#include <cmath>

#include "engine/base/philox.h"
#include "engine/passes/differentiate.h"

namespace loom::networks {
namespace {

using Integers = std::vector<std::int64_t>;

// Layers in the way that engine/layers lowers them.
class Layers {
 public:
  explicit Layers(std::int64_t batch) : b(batch, 7, true) {}

  TensorId weight(const std::string& name, Shape shape, double deviation) {
    return b.parameter({.name = name, .shape = std::move(shape), .initializer = {InitializerKind::normal, deviation}});
  }
  TensorId convolution(TensorId x, std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                       bool bias) {
    const std::string id = next("conv");
    const std::int64_t in = b.shape(x)[1];
    const TensorId w = weight(id + "/weight", {channels, in, kernel, kernel},
                              std::sqrt(2.0 / static_cast<double>(in * kernel * kernel)));
    const TensorId c = bias ? weight(id + "/bias", {channels}, 0.1) : kNoTensor;
    return b.add("convolution", {x, w, c},
                 {{"strides", Integers{stride, stride}},
                  {"padding", Integers{pad, pad, pad, pad}},
                  {"dilation", Integers{1, 1}},
                  {"groups", std::int64_t{1}}});
  }
  TensorId normalise(TensorId x) {
    const std::string id = next("bn");
    const std::int64_t c = b.shape(x)[1];
    const TensorId gamma = weight(id + "/gamma", {c}, 1), beta = weight(id + "/beta", {c}, 0.5);
    const TensorId mean = b.state({.name = id + "/mean", .shape = {c}, .isState = true});
    const TensorId variance =
        b.state({.name = id + "/variance", .shape = {c}, .initializer = {InitializerKind::ones}, .isState = true});
    return b.add("batch_normalization", {x, gamma, beta, mean, variance},
                 {{"epsilon", 1e-5}, {"momentum", 0.9}, {"axis", std::int64_t{1}}});
  }
  TensorId linear(TensorId x, std::int64_t outputs, bool bias = true) {
    const std::string id = next("linear");
    const std::int64_t in = b.shape(x)[-1];
    const TensorId w = weight(id + "/weight", {outputs, in}, 1 / std::sqrt(static_cast<double>(in)));
    const TensorId c = bias ? weight(id + "/bias", {outputs}, 0.1) : kNoTensor;
    return b.add("matmul", {x, w, c}, {{"transpose_a", false}, {"transpose_b", true}});
  }
  TensorId layerNorm(TensorId x) {
    const std::string id = next("ln");
    return b.add("layer_normalization",
                 {x, weight(id + "/gamma", {b.shape(x)[-1]}, 1), weight(id + "/beta", {b.shape(x)[-1]}, 0.5)},
                 {{"epsilon", 1e-5}, {"axes", std::int64_t{1}}});
  }
  TensorId unary(TensorId x, const char* function) {
    return b.add("unary", {x}, {{"function", std::string(function)}});
  }
  TensorId relu(TensorId x) { return unary(x, "relu"); }
  TensorId sum(TensorId a, TensorId c) { return b.add("binary", {a, c}, {{"function", std::string("add")}}); }
  TensorId reshape(TensorId x, Integers shape) { return b.add("reshape", {x}, {{"shape", std::move(shape)}}); }
  TensorId flatten(TensorId x) { return reshape(x, {b.batch(), b.shape(x).elements() / b.batch()}); }
  TensorId dropout(TensorId x, double p) {
    return b.add("dropout", {x, b.scalar(kStepScalar), b.scalar(kFirstSampleScalar)},
                 {{"probability", p}, {"stream", static_cast<std::int64_t>(hashName(next("drop")))}});
  }
  TensorId maxPool(TensorId x) {
    return b.add("max_pooling", {x},
                 {{"kernel", Integers{2, 2}}, {"strides", Integers{2, 2}}, {"padding", Integers{0, 0, 0, 0}}});
  }
  TensorId recurrent(TensorId x, const char* op, std::int64_t gates, std::int64_t hidden) {
    const std::string id = next(op);
    const std::int64_t in = b.shape(x)[2];
    std::vector<TensorId> inputs{x, weight(id + "/input", {gates * hidden, in}, 0.3),
                                 weight(id + "/hidden", {gates * hidden, hidden}, 0.2),
                                 weight(id + "/bias", {gates * hidden}, 0.1)};
    return b.emit(op, inputs, {{"reverse", false}})[0];
  }
  // The sum of two convolutions with normalisation and of x, brought to the same shape.
  TensorId residualBlock(TensorId x, std::int64_t channels, std::int64_t stride) {
    const TensorId inner = relu(normalise(convolution(x, channels, 3, stride, 1, false)));
    const TensorId main = normalise(convolution(inner, channels, 3, 1, 1, false));
    const TensorId shortcut = stride == 1 ? x : normalise(convolution(x, channels, 1, stride, 0, false));
    return relu(sum(main, shortcut));
  }
  TensorId meanOverSpace(TensorId x) {
    return b.add("reduce", {x}, {{"function", std::string("mean")}, {"axes", Integers{2, 3}}, {"keep", false}});
  }
  TensorId tokens(std::int64_t places, std::int64_t width) {
    const TensorId indices = b.input("x", {b.batch(), places}, DataType::i32);
    const TensorId x = b.add("embedding", {indices, weight("tokens/weight", {kClasses, width}, 1)});
    return sum(x, reshape(weight("positions/weight", {places, width}, 1), {1, places, width}));
  }
  TensorId transformerLayer(TensorId x, double dropped) {
    const std::int64_t width = b.shape(x)[-1];
    const auto maybeDropped = [&](TensorId y) { return dropped > 0 ? dropout(y, dropped) : y; };
    const TensorId n = layerNorm(x);
    // No bias for the keys: it moves all scores of a row alike, so its gradient is 0 but for rounding.
    const TensorId q = linear(n, width), k = linear(n, width, false), v = linear(n, width);
    const TensorId mixed = b.add("attention", {q, k, v}, {{"heads", std::int64_t{3}}, {"causal", true}});
    x = sum(x, maybeDropped(linear(mixed, width)));
    return sum(x, maybeDropped(linear(unary(linear(layerNorm(x), 4 * width), "gelu"), width)));
  }
  Program finish(TensorId logits, Shape labelShape) {
    const TensorId y = b.input("y", std::move(labelShape), DataType::i32);
    b.setOrigin("loss");
    b.result("loss", ResultKind::loss, b.add("softmax_cross_entropy", {logits, y}, {{"smoothing", 0.0}}));
    differentiate(b);
    return b.take();
  }

  ProgramBuilder b;

 private:
  std::string next(const std::string& kind) {
    const std::string id = kind + std::to_string(m_count++);
    b.setOrigin(id);
    return id;
  }
  int m_count = 0;
};

}  // namespace

Program smallCnn(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 1, 12, 12}, DataType::f32);
  x = l.relu(l.convolution(x, 16, 3, 1, 0, true));
  x = l.relu(l.convolution(x, 32, 3, 1, 0, true));
  x = l.dropout(l.maxPool(x), 0.25);
  x = l.dropout(l.relu(l.linear(l.flatten(x), 24)), 0.5);
  return l.finish(l.linear(x, kClasses), {batch, 1});
}

Program residualNetwork(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 3, 10, 10}, DataType::f32);
  x = l.maxPool(l.relu(l.normalise(l.convolution(x, 16, 3, 1, 1, false))));
  for (const std::int64_t channels : {16, 32}) x = l.residualBlock(x, channels, channels == 16 ? 1 : 2);
  return l.finish(l.linear(l.meanOverSpace(x), kClasses), {batch, 1});
}

Program thinShortcut(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 1, 16, 16}, DataType::f32);
  x = l.relu(l.convolution(x, 4, 3, 1, 1, false));
  x = l.sum(l.convolution(x, 8, 3, 2, 1, false), l.convolution(x, 8, 1, 2, 0, false));
  return l.finish(l.linear(l.meanOverSpace(l.relu(x)), kClasses), {batch, 1});
}

Program deepResidualNetwork(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 3, 16, 16}, DataType::f32);
  x = l.relu(l.normalise(l.convolution(x, 16, 3, 1, 1, false)));
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block) x = l.residualBlock(x, channels, block == 0 && channels > 16 ? 2 : 1);
  return l.finish(l.linear(l.meanOverSpace(x), kClasses), {batch, 1});
}

Program stackedLstm(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 7, 9}, DataType::f32);
  x = l.recurrent(l.recurrent(x, "lstm", 4, 70), "lstm", 4, 20);
  x = l.b.add(
      "slice", {x},
      {{"axis", std::int64_t{1}}, {"start", std::int64_t{6}}, {"length", std::int64_t{1}}, {"step", std::int64_t{1}}});
  return l.finish(l.linear(l.reshape(x, {batch, 20}), kClasses), {batch, 1});
}

Program gatedRecurrent(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 6, 5}, DataType::f32);
  x = l.recurrent(x, "gru", 3, 18);
  return l.finish(l.linear(x, kClasses), {batch, 6});
}

Program transformerBlock(std::int64_t batch) {
  constexpr std::int64_t kTokens = 50, kWidth = 24;
  Layers l(batch);
  const TensorId x = l.transformerLayer(l.tokens(kTokens, kWidth), 0);
  return l.finish(l.linear(l.layerNorm(x), kClasses), {batch, kTokens});
}

Program deepTransformer(std::int64_t batch) {
  constexpr std::int64_t kTokens = 32, kWidth = 24;
  Layers l(batch);
  TensorId x = l.tokens(kTokens, kWidth);
  for (int layer = 0; layer < 6; ++layer) x = l.transformerLayer(x, 0.1);
  return l.finish(l.linear(l.layerNorm(x), kClasses), {batch, kTokens});
}

Program perceptron(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 30}, DataType::f32);
  x = l.relu(l.linear(x, 70));
  x = l.relu(l.linear(x, 40));
  return l.finish(l.linear(x, kClasses), {batch, 1});
}

Program wideConvolutions(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 3, 10, 10}, DataType::f32);
  x = l.relu(l.convolution(x, 128, 3, 1, 1, true));
  x = l.meanOverSpace(l.relu(l.convolution(x, 144, 3, 2, 1, true)));
  for (int layer = 0; layer < 3; ++layer) x = l.relu(l.linear(x, 500));
  return l.finish(l.linear(x, kClasses), {batch, 1});
}

Program wideRecurrent(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 5, 160}, DataType::f32);
  x = l.recurrent(l.recurrent(x, "lstm", 4, 240), "gru", 3, 256);
  return l.finish(l.linear(x, kClasses), {batch, 5});
}

Program evenNetwork(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 6, 128}, DataType::f32);
  x = l.unary(l.linear(l.recurrent(x, "lstm", 4, 128), 256), "tanh");
  return l.finish(l.linear(x, kClasses), {batch, 6});
}

Program wideLayers(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 700}, DataType::f32);
  x = l.relu(l.linear(x, 330));
  x = l.unary(l.linear(x, 520), "tanh");
  x = l.unary(l.linear(x, 520), "tanh");
  return l.finish(l.linear(x, kClasses), {batch, 1});
}

Program largeParts(std::int64_t batch) {
  Layers l(batch);
  TensorId x = l.b.input("x", {batch, 16, 6, 6}, DataType::f32);
  x = l.relu(l.convolution(x, 64, 3, 1, 1, true));
  x = l.unary(l.convolution(x, 64, 1, 1, 0, true), "tanh");
  x = l.unary(l.linear(l.flatten(x), 256), "tanh");
  return l.finish(l.linear(x, kClasses), {batch, 1});
}

void fill(Executable& executable, std::int64_t classes) {
  for (const Tensor& tensor : executable.program().tensors) {
    if (tensor.role != TensorRole::input) continue;
    const auto bytes = executable.input(tensor.name);
    const Philox random(3, tensor.name);
    const auto count = static_cast<std::uint64_t>(tensor.shape.elements());
    for (std::uint64_t i = 0; i < count; ++i) {
      if (tensor.type == DataType::i32) {
        reinterpret_cast<std::int32_t*>(bytes.data())[i] =
            static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes), i));
      } else {
        reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(random.normal(i));
      }
    }
  }
}

Outcome collect(const Executable& executable, const ParameterStore& store) {
  Outcome outcome;
  outcome["loss"] = {static_cast<float>(executable.scalarResult("loss"))};
  for (const auto& entry : store.entries()) {
    const auto& values = entry->parameter.isState ? entry->value : entry->gradient;
    outcome[(entry->parameter.isState ? "state " : "gradient of ") + entry->parameter.name] = values.values();
  }
  return outcome;
}

Outcome step(Backend& backend, const Program& program, const CompileOptions& options) {
  ParameterStore store(11, backend.makeMemory());
  store.ensure(program.parameters);
  const auto executable = backend.compile(program, store, options);
  fill(*executable, kClasses);
  executable->run({.step = 4, .firstSample = 2, .lossScale = 1.5});
  return collect(*executable, store);
}

}  // namespace loom::networks
