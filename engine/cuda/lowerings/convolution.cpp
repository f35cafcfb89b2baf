// The three convolutions on cuDNN: activations and weights channels-last throughout. What cuDNN joins with a
// convolution (bias, ReLU) and which types it gives is tried in turn, as plans are made while a program is compiled.
#include <fmt/core.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/call_keys.h"
#include "engine/cuda/lowerings/column_sums.h"
#include "engine/cuda/lowerings/lowerings.h"
#include "engine/cuda/lowerings/product.h"
#include "engine/cuda/lowerings/ways.h"
#include "engine/ops/convolution_geometry.h"

namespace loom::cuda {
namespace {

using Kind = DnnConvolution::Kind;
enum : int { kImage, kWeight, kResult, kSum, kRelu, kBias };  // tensors of a graph; the first three are there always

constexpr std::size_t kWorkspaceLimit = std::size_t{256} << 20;  // bytes

// N, C and two or three spatial axes: one of extent 1 is put before a single one. Channels-last.
DnnTensor dnnTensor(int id, const Shape& shape, DataType type) {
  DnnTensor made{.id = id, .extents = shape.extents(), .type = type};
  if (made.extents.size() == 3) made.extents.insert(made.extents.begin() + 2, 1);
  made.strides.assign(made.extents.size(), 1);
  std::int64_t stride = made.extents[1];
  for (std::size_t axis = made.extents.size(); axis-- > 2;) {
    made.strides[axis] = stride;
    stride *= made.extents[axis];
  }
  made.strides[0] = stride;
  return made;
}

struct Convolution {
  Kind kind;
  ConvolutionGeometry geometry;
  DataType factors;
  bool tf32 = false;
  bool bias = false, relu = false;

  const char* name() const {
    return kind == Kind::forward         ? "convolution"
           : kind == Kind::inputGradient ? "convolution_input_gradient"
                                         : "convolution_weight_gradient";
  }
  std::string toString() const {
    return fmt::format("{} of {} with {}", name(), geometry.inputShape().toString(), geometry.weightShape().toString());
  }

  // What is computed is of type `to`; bias and ReLU, where joined, are applied to sums in f32.
  DnnGraph graph(DataType to, bool joined) const {
    const auto axes = static_cast<std::size_t>(std::max(2, geometry.spatialAxes));
    const auto spatial = [&](const ConvolutionGeometry::Three& three) {
      return std::vector<std::int64_t>(three.end() - static_cast<std::ptrdiff_t>(axes), three.end());
    };
    DnnGraph graph{
        .tensors = {dnnTensor(kImage, geometry.inputShape(), factors),
                    dnnTensor(kWeight, geometry.weightShape(), factors),
                    dnnTensor(kResult, geometry.outputShape(), factors)},
        .operations = {DnnConvolution{kind, spatial(geometry.strides), spatial(geometry.before),
                                      spatial(geometry.after), spatial(geometry.dilation), kImage, kWeight, kResult}},
        .deterministic = true,
        .tf32 = tf32};
    std::size_t last = static_cast<std::size_t>(computedId());  // where the last operation's result stands
    graph.tensors[last].type = to;
    const Shape shape = computedShape();
    const auto followBy = [&](DnnPointwise::Mode mode, int b, int id) {
      graph.tensors[last].isVirtual = true;
      graph.tensors[last].type = DataType::f32;
      graph.operations.push_back(DnnPointwise{mode, graph.tensors[last].id, b, id});
      last = graph.tensors.size();
      graph.tensors.push_back(dnnTensor(id, shape, to));
    };
    if (joined && bias) {
      followBy(DnnPointwise::Mode::add, kBias, kSum);
      std::vector<std::int64_t> channels(shape.rank(), 1);
      channels[1] = shape[1];
      graph.tensors.push_back(dnnTensor(kBias, Shape(std::move(channels)), to));
    }
    if (joined && relu) followBy(DnnPointwise::Mode::relu, -1, kRelu);
    return graph;
  }

  int computedId() const { return kind == Kind::forward ? kResult : kind == Kind::inputGradient ? kImage : kWeight; }
  Shape computedShape() const {
    return kind == Kind::forward         ? geometry.outputShape()
           : kind == Kind::inputGradient ? geometry.inputShape()
                                         : geometry.weightShape();
  }
};

struct Attempt {
  DataType to;
  bool joined;
  bool operator==(const Attempt&) const = default;
};
struct Planned {
  std::shared_ptr<const DnnPlan> plan;
  Attempt as;
};

// Of the attempts those that the device has an engine for: the first, or all where it times them. Throws what it said
// of the last.
std::vector<Planned> planOf(Plan& plan, const Convolution& convolution, std::initializer_list<Attempt> attempts) {
  std::vector<Planned> found;
  for (const Attempt& one : attempts) {
    if (!found.empty() && plan.device().timing() == nullptr) break;
    if (std::any_of(found.begin(), found.end(), [&](const Planned& known) { return known.as == one; })) continue;
    try {
      found.push_back({plan.device().plan(convolution.graph(one.to, one.joined), kWorkspaceLimit), one});
    } catch (const DeviceLost&) {
      throw;
    } catch (Error& error) {
      if (error.code() == ErrorCode::device && (!found.empty() || &one != attempts.end() - 1)) continue;
      error.addContext(convolution.toString());
      throw;
    }
  }
  return found;
}

struct Place {
  int id;
  Operand operand;
};

void emit(Plan& plan, const Convolution& convolution, const Planned& planned, std::vector<Place> reads, Place write) {
  const Operand workspace = planned.plan->workspaceBytes > 0 ? plan.scratch(planned.plan->workspaceBytes) : Operand{};
  Stage stage{.kernel = convolution.name(),
              .implementation = "cudnn " + planned.plan->name,
              .layout = "channels-last",
              .writes = {write.operand, workspace.moving(0)},
              .multiplyAdds = convolution.geometry.multiplyAdds(),
              .kind = StageKind::convolution,
              .factors = convolution.factors,
              .tf32 = convolution.tf32};
  if (convolution.tf32) stage.kernel += " in tf32";
  if (convolution.factors != DataType::f32) stage.kernel += fmt::format(" in {}", toString(convolution.factors));
  if (planned.as.joined && convolution.bias) stage.kernel += " + bias";
  if (planned.as.joined && convolution.relu) stage.kernel += " + relu";
  for (const Place& one : reads) stage.reads.push_back(one.operand);
  stage.bind = [graphPlan = planned.plan, reads = std::move(reads), write, workspace]() -> Call {
    DnnCall call{.plan = graphPlan, .workspace = workspace.address()};
    for (const Place& one : reads) call.tensors.emplace_back(one.id, one.operand.address());
    call.tensors.emplace_back(write.id, write.operand.address());
    return call;
  };
  plan.stage(std::move(stage));
}

// The same into `to`, rounded on the way where the plan could not but give the type of factors.
void emitInto(Plan& plan, const Convolution& convolution, const Planned& planned, std::vector<Place> reads,
              const Operand& to) {
  const int id = convolution.computedId();
  if (planned.as.to == to.type) return emit(plan, convolution, planned, std::move(reads), {id, to});
  const Operand rounded = scratchOf(plan, static_cast<std::int64_t>(to.bytes / bytesOf(to.type)), planned.as.to);
  emit(plan, convolution, planned, std::move(reads), {id, rounded});
  emitConversion(plan, rounded, to);
}

// By the attempt that is fastest.
template <class Emit>
void takeFastest(Plan& plan, const Convolution& convolution, const std::vector<Planned>& planned, const Emit& emit) {
  std::vector<Way> ways;
  for (const Planned& one : planned)
    ways.push_back(
        {fmt::format("{} in {}, {}", one.as.joined ? "joined" : "apart", toString(one.as.to), one.plan->name),
         [&](Plan& to) { emit(to, one); }});
  const Attempt& first = planned.front().as;
  emitFastest(plan, keyOf(convolution.graph(first.to, first.joined)), ways);
}

Layout layoutFor(const Plan& plan, TensorId id) {
  return channelsLast(plan.shape(id).rank());
}
Operand readFactor(Plan& plan, TensorId id) {
  return plan.read(id, layoutFor(plan, id), plan.factors());
}

// The image (forward) or its gradient, `from` and `weight` being what is multiplied, with bias and ReLU.
void lowerToImage(Plan& plan, Convolution convolution, Place from, TensorId weight, TensorId bias, TensorId to) {
  const DataType type = plan.tensor(to).type;
  convolution.factors = plan.factors();
  convolution.tf32 = plan.roundsToTf32(plan.factors());
  convolution.bias = bias != kNoTensor;
  const bool more = convolution.bias || convolution.relu;
  const auto planned = more ? planOf(plan, convolution, {{type, true}, {type, false}, {convolution.factors, false}})
                            : planOf(plan, convolution, {{type, false}, {convolution.factors, false}});
  const Operand w = readFactor(plan, weight);
  const Operand y = plan.write(to, layoutFor(plan, to));
  takeFastest(plan, convolution, planned, [&](Plan& made, const Planned& one) {
    std::vector<Place> reads{from, {kWeight, w}};
    if (one.as.joined) {
      if (convolution.bias) reads.push_back({kBias, made.read(bias, plainLayout(1), type)});
      return emit(made, convolution, one, std::move(reads), {convolution.relu ? kRelu : kSum, y});
    }
    emitInto(made, convolution, one, std::move(reads), y);
    if (!more) return;
    const std::int64_t channels = made.shape(to)[1];
    emitAddBias(made, y, made.shape(to).elements() / channels, channels, made.read(bias), convolution.relu);
  });
}

void lowerConvolution(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], w = operation.inputs[1];
  const TensorId b = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  lowerToImage(plan,
               {.kind = Kind::forward,
                .geometry = convolutionGeometry(plan.shape(x), plan.shape(w), operation.attributes),
                .relu = plan.fused().relu},
               {kImage, readFactor(plan, x)}, w, b, plan.fused().output);
}

void lowerInputGradient(Plan& plan, const Operation& operation) {
  const TensorId dy = operation.inputs[0], w = operation.inputs[1], dx = operation.outputs[0];
  const TensorId b = operation.inputs.size() > 2 ? operation.inputs[2] : kNoTensor;
  lowerToImage(plan,
               {.kind = Kind::inputGradient,
                .geometry = convolutionGeometry(plan.shape(dx), plan.shape(w), operation.attributes)},
               {kResult, readFactor(plan, dy)}, w, b, dx);
}

// Summed and, where there is an engine for it, written in f32; else rounded once, and delivered as it is.
void lowerWeightGradient(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0], dy = operation.inputs[1], dw = operation.outputs[0];
  const Convolution convolution{.kind = Kind::weightGradient,
                                .geometry = convolutionGeometry(plan.shape(x), plan.shape(dw), operation.attributes),
                                .factors = plan.factors(),
                                .tf32 = plan.roundsToTf32(plan.factors())};
  const auto planned = planOf(plan, convolution, {{plan.tensor(dw).type, false}, {convolution.factors, false}});
  const Operand image = readFactor(plan, x), gradient = readFactor(plan, dy);
  takeFastest(plan, convolution, planned, [&](Plan& made, const Planned& one) {
    emit(made, convolution, one, {{kImage, image}, {kResult, gradient}},
         {kWeight, made.write(dw, layoutFor(made, dw), one.as.to)});
  });
}

}  // namespace

LoweringRows convolutionRows() {
  static const LoweringRow rows[] = {
      {"convolution", lowerConvolution, {.relu = true}, {{0}, true}},
      {"convolution_input_gradient", lowerInputGradient, {}, {{0}, true}},
      {"convolution_weight_gradient", lowerWeightGradient, {}, {{0, 1}}},
  };
  return rows;
}

}  // namespace loom::cuda
