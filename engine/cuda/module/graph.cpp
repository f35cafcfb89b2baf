// A LoomDnnGraph in the words of cuDNN's backend interface, and the first engines that compute it as it is asked for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "engine/cuda/module/descriptor.h"
#include "engine/cuda/module/gpu.h"
#include "engine/cuda/module/timing.h"

namespace loom::cuda::module {
namespace {

constexpr std::int64_t kAlignment = 16;        // bytes; of every tensor's first number
constexpr std::int64_t kMostCandidates = 128;  // of one mode of the heuristics
// An engine that is compiled when it is asked for takes seconds: once so long has gone by, those that there are
// suffice.
constexpr std::chrono::milliseconds kPatience(1500);

cudnnDataType_t typeOf(DataType type) {
  switch (type) {
    case DataType::f32:
      return CUDNN_DATA_FLOAT;
    case DataType::bf16:
      return CUDNN_DATA_BFLOAT16;
    case DataType::f16:
      return CUDNN_DATA_HALF;
    default:
      throw Failure("a graph with " + std::string(toString(type)) + ": it may hold f32, bf16 and f16");
  }
}

const char* nameOf(LoomDnnKind kind) {
  constexpr const char* names[] = {"convolution", "input gradient", "weight gradient", "add",
                                   "relu",        "identity",       "attention"};
  return names[kind];
}

std::string describe(const LoomDnnGraph& graph) {
  std::string text = "cuDNN's graph of";
  for (int i = 0; i < graph.operationCount; ++i)
    text += std::string(i > 0 ? " + " : " ") + nameOf(graph.operations[i].kind);
  for (int i = 0; i < graph.tensorCount; ++i) {
    const LoomDnnTensor& one = graph.tensors[i];
    text += ", ";
    for (int k = 0; k < one.axes; ++k) text += (k > 0 ? "x" : "") + std::to_string(one.extents[k]);
    text += " " + std::string(toString(one.type));
  }
  return text;
}

Descriptor tensorOf(const LoomDnnTensor& one) {
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, one.id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, typeOf(one.type))
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, one.axes, one.extents)
      .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, one.axes, one.strides)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, one.isVirtual != 0)
      .finalise();
  return made;
}

// A graph's descriptors refer to each other: all of them live as long as it.
struct Graph {
  std::vector<Descriptor> tensors, parts, operations;
  std::optional<Descriptor> graph;

  const Descriptor& tensor(const LoomDnnGraph& from, std::int64_t id) const {
    for (int i = 0; i < from.tensorCount; ++i)
      if (from.tensors[i].id == id) return tensors[static_cast<std::size_t>(i)];
    throw Failure(describe(from) + ": there is no tensor " + std::to_string(id));
  }
};

void addConvolution(Graph& made, const LoomDnnGraph& from, const LoomDnnOperation& one) {
  Descriptor& how = made.parts.emplace_back(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, "a convolution");
  const std::int64_t axes = one.spatialAxes;
  how.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, axes)
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, one.strides)
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, one.before)
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, one.after)
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, one.dilation)
      .finalise();
  // Image, weight, result, the convolution, alpha and beta.
  struct Names {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t image, weight, result, how, alpha, beta;
  };
  constexpr Names names[] = {
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
      {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}};
  const Names& name = names[one.kind];
  constexpr float kOne = 1, kZero = 0;
  Descriptor& operation = made.operations.emplace_back(name.type, nameOf(one.kind));
  operation.set(name.image, made.tensor(from, one.tensors[0]))
      .set(name.weight, made.tensor(from, one.tensors[1]))
      .set(name.result, made.tensor(from, one.tensors[2]))
      .set(name.how, how)
      .set(name.alpha, CUDNN_TYPE_FLOAT, kOne)
      .set(name.beta, CUDNN_TYPE_FLOAT, kZero)
      .finalise();
}

void addPointwise(Graph& made, const LoomDnnGraph& from, const LoomDnnOperation& one) {
  const cudnnPointwiseMode_t mode = one.kind == kLoomAdd    ? CUDNN_POINTWISE_ADD
                                    : one.kind == kLoomRelu ? CUDNN_POINTWISE_RELU_FWD
                                                            : CUDNN_POINTWISE_IDENTITY;
  Descriptor& how = made.parts.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise function");
  how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .finalise();
  Descriptor& operation = made.operations.emplace_back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, nameOf(one.kind));
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, made.tensor(from, one.tensors[0]))
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, made.tensor(from, one.tensors[2]));
  if (one.tensors[1] >= 0) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, made.tensor(from, one.tensors[1]));
  operation.finalise();
}

// Since cuDNN 9.13 one operation, which no mask is part of.
void addAttention(Graph& made, const LoomDnnGraph& from, const LoomDnnOperation& one) {
#if CUDNN_VERSION >= 91300
  constexpr cudnnBackendAttributeName_t names[] = {
      CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,     CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
      CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,     CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
      CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC};
  Descriptor& operation = made.operations.emplace_back(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR, nameOf(one.kind));
  for (int k = 0; k < 6; ++k) operation.set(names[k], made.tensor(from, one.tensors[k]));
  operation.finalise();
#else
  (void)made;
  (void)one;
  throw Failure(describe(from) + ": this module was built with a cuDNN that has no such operation");
#endif
}

Graph graphOf(cudnnHandle_t handle, const LoomDnnGraph& from) {
  Graph made;
  for (int i = 0; i < from.tensorCount; ++i) made.tensors.push_back(tensorOf(from.tensors[i]));
  for (int i = 0; i < from.operationCount; ++i) {
    const LoomDnnKind kind = from.operations[i].kind;
    (kind == kLoomAttention        ? addAttention
     : kind <= kLoomWeightGradient ? addConvolution
                                   : addPointwise)(made, from, from.operations[i]);
  }
  std::vector<cudnnBackendDescriptor_t> operations;
  for (const Descriptor& one : made.operations) operations.push_back(one.get());
  Descriptor& graph = made.graph.emplace(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "a graph");
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(operations.size()),
            operations.data());
  if (handle != nullptr) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.finalise();
  return made;
}

// What the heuristics of this mode put forward, best first. Throws where they answer nothing.
std::vector<Descriptor> candidates(const Graph& graph, const Descriptor* properties, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "heuristics");
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *graph.graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (properties != nullptr) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties);
  heuristics.finalise();
  std::vector<Descriptor> found;
  std::vector<cudnnBackendDescriptor_t> places;
  for (std::int64_t i = 0; i < kMostCandidates; ++i) {
    found.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "an engine's configuration");
    places.push_back(found.back().get());
  }
  const std::int64_t count =
      heuristics.read(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMostCandidates, places.data());
  while (static_cast<std::int64_t>(found.size()) > count) found.pop_back();
  return found;
}

struct Engine {
  std::int64_t number = 0;
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool has(cudnnBackendNumericalNote_t note) const {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }
};
Engine engineOf(const Descriptor& configuration) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR, "an engine");
  cudnnBackendDescriptor_t place = engine.get();
  configuration.read(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &place);
  Engine found;
  engine.read(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &found.number);
  found.notes.resize(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  const std::int64_t count = engine.read(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                         CUDNN_NUMERICAL_NOTE_TYPE_COUNT, found.notes.data());
  found.notes.resize(static_cast<std::size_t>(count));
  return found;
}

// Whether the engine computes otherwise than the graph asks: it sums in 16 bits, in an order that differs from run to
// run, or rounds f32 factors.
bool isOther(const LoomDnnGraph& graph, const Engine& engine) {
  if (engine.has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION)) return true;
  if (graph.deterministic != 0 && engine.has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC)) return true;
  if (graph.tf32 != 0 || graph.operations[0].kind == kLoomAttention) return false;
  const LoomDnnOperation& convolution = graph.operations[0];
  const int result = convolution.kind == kLoomForward ? 2 : convolution.kind == kLoomInputGradient ? 0 : 1;
  for (int i = 0; i < graph.tensorCount; ++i) {
    const LoomDnnTensor& one = graph.tensors[i];
    for (int place = 0; place < 3; ++place)
      if (place != result && one.id == convolution.tensors[place] && one.type == DataType::f32)
        return engine.has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || engine.has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  }
  return false;
}

struct ExecutionPlan {
  // What it refers to: shared by all plans of a graph.
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Descriptor> device;
  std::optional<Descriptor> configuration, plan;
};

// What became of the engines that the heuristics put forward.
struct Search {
  const LoomDnnGraph& from;
  std::size_t workspaceLimit;
  int putForward = 0, passedOver = 0, tooLarge = 0, wantDriver = 0;
  std::string refusal;

  void note(const Failure& failure) {
    refusal = failure.what();
    if (refusal.find("PREREQUISITE_MISSING") != refusal.npos) ++wantDriver;
  }
  [[noreturn]] void fail() const {
    throw Failure(describe(from) + ": no engine computes it (of " + std::to_string(putForward) +
                  " that cuDNN puts forward here " + std::to_string(passedOver) + " would round or sum otherwise, " +
                  std::to_string(tooLarge) + " want more than " + std::to_string(workspaceLimit) +
                  " bytes of workspace, " + std::to_string(wantDriver) + " cannot be made without a driver" +
                  (refusal.empty() ? "" : "; the last one refused: " + refusal) + ")");
  }
};

// Null for an engine that is not wanted. Throws what cuDNN refuses.
std::unique_ptr<ExecutionPlan> planOf(Search& search, const ExecutionPlan& shared, cudnnHandle_t handle,
                                      Descriptor configuration, LoomDnnPlan& made) {
  const Engine engine = engineOf(configuration);
  if (isOther(search.from, engine)) {
    ++search.passedOver;
    return nullptr;
  }
  Descriptor one(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan");
  one.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (shared.device)
    one.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *shared.device);
  else
    one.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
  one.finalise();
  std::int64_t workspace = 0;
  one.read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &workspace);
  if (static_cast<std::size_t>(workspace) > search.workspaceLimit) {
    ++search.tooLarge;
    return nullptr;
  }
  made.workspaceBytes = static_cast<std::size_t>(workspace);
  std::snprintf(made.name, sizeof(made.name), "engine %lld", static_cast<long long>(engine.number));
  auto plan = std::make_unique<ExecutionPlan>(ExecutionPlan{shared.graph, shared.device, {}, {}});
  plan->configuration.emplace(std::move(configuration));
  plan->plan.emplace(std::move(one));
  made.plan = plan.get();
  return plan;
}

std::int64_t bytesOf(const LoomDnnTensor& tensor) {
  std::int64_t last = 0;
  for (int k = 0; k < tensor.axes; ++k) last += (tensor.extents[k] - 1) * tensor.strides[k];
  return (last + 1) * static_cast<std::int64_t>(loom::bytesOf(tensor.type));
}

}  // namespace

int planGraph(Gpu* gpu, const char* properties, const LoomDnnGraph& from, std::size_t workspaceLimit, int first,
              int most, LoomDnnPlan* made) {
  const cudnnHandle_t handle = gpu == nullptr ? nullptr : gpu->dnn;
  ExecutionPlan shared;
  if (gpu == nullptr) {
    shared.device = std::make_shared<Descriptor>(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "a device's properties");
    shared.device
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
              static_cast<std::int64_t>(std::strlen(properties)) + 1, properties)
        .finalise();
  }
  shared.graph = std::make_shared<Graph>(graphOf(handle, from));
  Search search{from, workspaceLimit};
  std::vector<std::unique_ptr<ExecutionPlan>> plans;
  const auto began = std::chrono::steady_clock::now();
  const auto isEnough = [&] {
    return static_cast<int>(plans.size()) == most ||
           (!plans.empty() && std::chrono::steady_clock::now() - began > kPatience);
  };
  int place = 0;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    if (!plans.empty()) break;
    std::vector<Descriptor> found;
    try {
      found = candidates(*shared.graph, shared.device.get(), mode);
    } catch (const Failure& error) {
      search.note(error);
      continue;
    }
    search.putForward += static_cast<int>(found.size());
    for (Descriptor& configuration : found) {
      const int here = place++;
      if (here < first || isEnough()) continue;
      try {
        LoomDnnPlan& next = made[plans.size()];
        next.place = here;
        if (auto plan = planOf(search, shared, handle, std::move(configuration), next))
          plans.push_back(std::move(plan));
      } catch (const Failure& error) {
        search.note(error);
      }
    }
  }
  if (plans.empty()) search.fail();
  const int count = static_cast<int>(plans.size());
  for (auto& plan : plans) plan.release();
  return count;
}

void releasePlan(void* plan) {
  delete static_cast<ExecutionPlan*>(plan);
}

void runPlan(Gpu& gpu, cudaStream_t stream, void* plan, const std::int64_t* ids, void* const* addresses, int count,
             void* workspace) {
  check(cudnnSetStream(gpu.dnn, stream), "cudnnSetStream");
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, "a graph's addresses");
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids)
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, addresses)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace)
      .finalise();
  check(cudnnBackendExecute(gpu.dnn, static_cast<ExecutionPlan*>(plan)->plan->get(), pack.get()),
        "cudnnBackendExecute");
}

double timePlan(Gpu& gpu, void* plan, const LoomDnnGraph& graph) {
  const cudaStream_t stream = gpu.stream(static_cast<int>(Stream::compute));
  std::vector<std::unique_ptr<TrialMemory>> blocks;
  std::vector<std::int64_t> ids;
  std::vector<void*> addresses;
  for (int i = 0; i < graph.tensorCount; ++i) {
    const LoomDnnTensor& one = graph.tensors[i];
    if (one.isVirtual != 0) continue;
    blocks.push_back(std::make_unique<TrialMemory>(static_cast<std::size_t>(bytesOf(one)), stream));
    ids.push_back(one.id);
    addresses.push_back(blocks.back()->get());
  }
  std::int64_t room = 0;
  static_cast<ExecutionPlan*>(plan)->plan->read(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &room);
  const TrialMemory workspace(static_cast<std::size_t>(room), stream);
  return secondsOf(stream, [&] {
    runPlan(gpu, stream, plan, ids.data(), addresses.data(), static_cast<int>(ids.size()), workspace.get());
  });
}

}  // namespace loom::cuda::module
