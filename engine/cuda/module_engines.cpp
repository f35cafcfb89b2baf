#include "engine/cuda/module_engines.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/device.h"

namespace loom::cuda {
namespace {

constexpr int kRoom = 4096;  // bytes of a library's words

void expect(const LoomCudaFunctions& calls, int failed) {
  if (failed != 0) throw Error(ErrorCode::device, wordsOf(calls));
}

// As LoomCudaFunctions::plan.
std::vector<std::shared_ptr<const ModulePlan>> makePlans(const LoomCudaFunctions& calls, void* device,
                                                         const char* properties, const LoomDnnGraph& graph,
                                                         std::size_t workspaceLimit, int first, int most) {
  std::vector<LoomDnnPlan> made(static_cast<std::size_t>(most));
  int count = 0;
  expect(calls, calls.plan(device, properties, &graph, workspaceLimit, first, most, made.data(), &count));
  std::vector<std::shared_ptr<const ModulePlan>> plans;
  for (int k = 0; k < count; ++k)
    plans.push_back(std::make_shared<const ModulePlan>(calls, made[static_cast<std::size_t>(k)]));
  return plans;
}

void awaitCompute(const LoomCudaFunctions& calls, void* device) {
  expect(calls, calls.synchroniseStream(device, static_cast<int>(Stream::compute)));
}

}  // namespace

std::string wordsOf(const LoomCudaFunctions& calls) {
  std::string text(kRoom, '\0');
  calls.words(text.data(), kRoom);
  text.resize(text.find('\0'));
  return text;
}

std::string librariesOf(const LoomCudaFunctions& calls) {
  std::string text(kRoom, '\0');
  calls.libraries(text.data(), kRoom);
  text.resize(text.find('\0'));
  return text;
}

// What a graph's vectors are flattened into.
class PlainGraph {
 public:
  explicit PlainGraph(const DnnGraph& graph) {
    for (const DnnTensor& one : graph.tensors) m_tensors.push_back(plain(one));
    for (const auto& one : graph.operations)
      m_operations.push_back(std::visit([](const auto& kind) { return plain(kind); }, one));
    value = {m_tensors.data(),
             static_cast<int>(m_tensors.size()),
             m_operations.data(),
             static_cast<int>(m_operations.size()),
             graph.deterministic ? 1 : 0,
             graph.tf32 ? 1 : 0};
  }
  PlainGraph(const PlainGraph&) = delete;
  PlainGraph& operator=(const PlainGraph&) = delete;
  LoomDnnGraph value{};

 private:
  static void put(const std::vector<std::int64_t>& from, std::int64_t* to, std::size_t most) {
    if (from.size() > most)
      throwError(ErrorCode::internal, "a graph for cuDNN has {} axes, but may have {}", from.size(), most);
    std::copy(from.begin(), from.end(), to);
  }
  static LoomDnnTensor plain(const DnnTensor& from) {
    LoomDnnTensor to{.id = from.id,
                     .axes = static_cast<int>(from.extents.size()),
                     .type = from.type,
                     .isVirtual = from.isVirtual ? 1 : 0};
    put(from.extents, to.extents, kLoomMostAxes);
    put(from.strides, to.strides, kLoomMostAxes);
    return to;
  }
  static LoomDnnOperation plain(const DnnConvolution& from) {
    using Kind = DnnConvolution::Kind;
    LoomDnnOperation to{.kind = from.kind == Kind::forward         ? kLoomForward
                                : from.kind == Kind::inputGradient ? kLoomInputGradient
                                                                   : kLoomWeightGradient,
                        .tensors = {from.image, from.weight, from.result},
                        .spatialAxes = static_cast<int>(from.strides.size())};
    put(from.strides, to.strides, kLoomMostAxes - 2);
    put(from.before, to.before, kLoomMostAxes - 2);
    put(from.after, to.after, kLoomMostAxes - 2);
    put(from.dilation, to.dilation, kLoomMostAxes - 2);
    return to;
  }
  static LoomDnnOperation plain(const DnnPointwise& from) {
    using Mode = DnnPointwise::Mode;
    return {.kind = from.mode == Mode::add    ? kLoomAdd
                    : from.mode == Mode::relu ? kLoomRelu
                                              : kLoomIdentity,
            .tensors = {from.x, from.b, from.y}};
  }
  static LoomDnnOperation plain(const DnnAttention& from) {
    return {.kind = kLoomAttention, .tensors = {from.q, from.k, from.v, from.y, from.statistics, from.scale}};
  }

  std::vector<LoomDnnTensor> m_tensors;
  std::vector<LoomDnnOperation> m_operations;
};

ModulePlan::ModulePlan(const LoomCudaFunctions& calls, const LoomDnnPlan& made)
    : m_calls(calls), m_plan(made.plan), m_place(made.place) {
  workspaceBytes = made.workspaceBytes;
  name = made.name;
}

ModulePlan::~ModulePlan() {
  m_calls.releasePlan(m_plan);
}

std::shared_ptr<const DnnPlan> planFor(const LoomCudaFunctions& calls, const std::string& properties,
                                       const DnnGraph& graph, std::size_t workspaceLimit) {
  const PlainGraph plain(graph);
  return makePlans(calls, nullptr, properties.c_str(), plain.value, workspaceLimit, 0, 1).front();
}

GraphEngines::GraphEngines(const LoomCudaFunctions& calls, void* device, const DnnGraph& graph,
                           std::size_t workspaceLimit)
    : m_calls(calls),
      m_device(device),
      m_graph(std::make_unique<PlainGraph>(graph)),
      m_workspaceLimit(workspaceLimit) {}

GraphEngines::~GraphEngines() = default;

std::vector<Engine> GraphEngines::offered(int first, int most) {
  m_plans = makePlans(m_calls, m_device, nullptr, m_graph->value, m_workspaceLimit, first, most);
  std::vector<Engine> engines;
  for (const auto& plan : m_plans) engines.push_back({plan->place(), plan->name});
  return engines;
}

double GraphEngines::seconds(const Engine& engine) {
  double seconds = 0;
  expect(m_calls, m_calls.timePlan(m_device, plan(engine)->plan(), &m_graph->value, &seconds));
  return seconds;
}

void GraphEngines::expectDevice() {
  awaitCompute(m_calls, m_device);
}

std::shared_ptr<const ModulePlan> GraphEngines::plan(const Engine& engine) const {
  return *std::find_if(m_plans.begin(), m_plans.end(), [&](const auto& one) { return one->place() == engine.place; });
}

std::vector<Engine> ProductEngines::offered(int first, int most) {
  std::vector<LoomProductEngine> found(static_cast<std::size_t>(first + most));
  int count = 0;
  expect(m_calls, m_calls.productEngines(m_device, &m_call, first + most, found.data(), &count));
  std::vector<Engine> engines;
  for (int k = first; k < count; ++k) engines.push_back({k, found[static_cast<std::size_t>(k)].name});
  return engines;
}

double ProductEngines::seconds(const Engine& engine) {
  double seconds = 0;
  expect(m_calls, m_calls.timeProduct(m_device, &m_call, engine.place, &seconds));
  return seconds;
}

void ProductEngines::expectDevice() {
  awaitCompute(m_calls, m_device);
}

}  // namespace loom::cuda
