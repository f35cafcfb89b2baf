#include "engine/cuda/module_device.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/base/error.h"
#include "engine/base/module.h"
#include "engine/base/waiting.h"
#include "engine/cuda/call_keys.h"
#include "engine/cuda/kernels/bias.h"
#include "engine/cuda/module_engines.h"
#include "engine/cuda/plan.h"
#include "engine/program/out_of_memory.h"

namespace loom::cuda {
namespace {

constexpr int kEnginesVersion = 1;  // of how engines are asked for and timed
constexpr const char* kCheckVariable = "GRADLOOM_CUDA_CHECK";
constexpr const char* kEnginesVariable = "GRADLOOM_ENGINES";
constexpr const char* kSpinVariable = "GRADLOOM_CUDA_SPIN_US";
constexpr int kSpin = 100;                     // microseconds
constexpr std::int64_t kMostProducts = 32768;  // of one batched call: libraries fail beyond 65,535

bool wantsReadyEngines() {
  const char* const wanted = std::getenv(kEnginesVariable);
  return wanted != nullptr && std::string_view(wanted) == "ready";
}

std::chrono::microseconds spinOfEnvironment() {
  const char* const wanted = std::getenv(kSpinVariable);
  return std::chrono::microseconds(wanted != nullptr ? std::max(0, std::atoi(wanted)) : kSpin);
}

// cuDNN has engines for convolutions alone, in one type; for whatever is joined to them, or comes in another type, it
// compiles one, which takes seconds.
bool needsCompiler(const DnnGraph& graph) {
  return graph.operations.size() > 1 || !std::holds_alternative<DnnConvolution>(graph.operations.front()) ||
         std::any_of(graph.tensors.begin(), graph.tensors.end(),
                     [&](const DnnTensor& one) { return one.type != graph.tensors.front().type; });
}

const LoomCudaFunctions& module() {
  const std::filesystem::path path = cudaModule();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    throwError(ErrorCode::device,
               "CUDA cannot be opened: {}. Install the NVIDIA driver with cuBLAS and cuDNN 9 (libcudnn9), or name the "
               "module in GRADLOOM_CUDA_MODULE; --device cpu trains on the processor",
               ::dlerror());
  const auto entry = reinterpret_cast<LoomCudaEntry>(::dlsym(handle, kLoomCudaEntryName));
  const LoomCudaFunctions* functions = entry != nullptr ? entry() : nullptr;
  if (functions == nullptr || functions->version != kLoomCudaVersion)
    throwError(ErrorCode::device, "{} is not the CUDA module of this version of Gradloom", path.string());
  return *functions;
}

struct ModuleEvent final : Event {
  ModuleEvent(const LoomCudaFunctions& table, void* of) : calls(table), device(of) {
    if (calls.makeEvent(device, &event) != 0) throw Error(ErrorCode::device, wordsOf(calls));
  }
  ~ModuleEvent() override { calls.releaseEvent(device, event); }
  const LoomCudaFunctions& calls;
  void* device;
  void* event = nullptr;
  bool recorded = false;
};

struct ModuleGraph final : Graph {
  ModuleGraph(const LoomCudaFunctions& table, void* of, void* made) : calls(table), device(of), graph(made) {}
  ~ModuleGraph() override { calls.releaseGraph(device, graph); }
  const LoomCudaFunctions& calls;
  void* device;
  void* graph;
};

class ModuleDevice final : public Device {
 public:
  ModuleDevice(const LoomCudaFunctions& calls, void* device, EngineChoiceOptions engines)
      : m_calls(calls),
        m_device(device),
        m_ready(wantsReadyEngines()),
        m_times(engines.times && !m_ready),
        m_choice(machineText(), m_times ? std::move(engines) : EngineChoiceOptions{}),
        m_timing{m_choice, [this](const Graph& graph) {
                   double seconds = 0;
                   check(m_calls.timeGraph(m_device, static_cast<const ModuleGraph&>(graph).graph, &seconds));
                   return seconds;
                 }} {}
  ~ModuleDevice() override {
    m_plans.clear();
    m_calls.close(m_device);
  }

  DeviceFacts facts() const override {
    LoomDeviceFacts known{};
    check(m_calls.facts(m_device, &known));
    return {known.name, known.computeCapability, known.multiprocessors, known.memoryBytes, known.freeBytes, known.pci};
  }

  std::byte* allocate(std::size_t bytes, std::string_view what) override {
    void* at = nullptr;
    if (m_calls.allocate(m_device, bytes, &at) != 0) {
      const std::string words = wordsOf(m_calls);
      const DeviceFacts here = facts();
      throw OutOfMemory(fmt::format("{} takes {} MiB on {}, of whose {} MiB {} are free: {}", what, bytes >> 20,
                                    here.name, here.memoryBytes >> 20, here.freeBytes >> 20, words),
                        bytes, here.freeBytes);
    }
    return static_cast<std::byte*>(at);
  }
  void release(std::byte* at) noexcept override { m_calls.release(m_device, at); }
  std::byte* allocatePinned(std::size_t bytes) override {
    void* at = nullptr;
    check(m_calls.allocatePinned(m_device, bytes, &at));
    return static_cast<std::byte*>(at);
  }
  void releasePinned(std::byte* at) noexcept override { m_calls.releasePinned(m_device, at); }

  void enqueue(Stream stream, const Call& call, std::span<const Access>, std::string_view origin) override {
    try {
      std::visit([&](const auto& one) { begin(static_cast<int>(stream), one); }, call);
      if (m_checks && !m_capturing) expectDone(stream, call);
    } catch (Error& error) {
      if (!origin.empty()) error.addContext("in layer '" + std::string(origin) + "'");
      throw;
    }
  }
  void upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) override {
    check(m_calls.copy(m_device, static_cast<int>(stream), to, pinned, bytes));
  }
  void download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) override {
    check(m_calls.copy(m_device, static_cast<int>(stream), pinned, from, bytes));
  }

  std::unique_ptr<Event> makeEvent() override { return std::make_unique<ModuleEvent>(m_calls, m_device); }
  void record(Stream stream, Event& event) override {
    auto& mine = static_cast<ModuleEvent&>(event);
    check(m_calls.record(m_device, static_cast<int>(stream), mine.event));
    mine.recorded = true;
  }
  void wait(Stream stream, const Event& event) override {
    check(m_calls.wait(m_device, static_cast<int>(stream), recorded(event)));
  }
  void synchronise(const Event& event) override {
    void* const one = recorded(event);
    if (!waitBesideRanks(0, one) && !isSoonDone(0, one)) check(m_calls.synchroniseEvent(m_device, one));
  }
  void synchronise(Stream stream) override {
    const int one = static_cast<int>(stream);
    if (!waitBesideRanks(one, nullptr) && !isSoonDone(one, nullptr)) check(m_calls.synchroniseStream(m_device, one));
  }

  void beginCapture(Stream stream) override {
    check(m_calls.beginCapture(m_device, static_cast<int>(stream)));
    m_capturing = true;
  }
  bool captures() const override { return !m_checks; }
  std::unique_ptr<Graph> endCapture(Stream stream) override {
    m_capturing = false;
    void* graph = nullptr;
    check(m_calls.endCapture(m_device, static_cast<int>(stream), &graph));
    return std::make_unique<ModuleGraph>(m_calls, m_device, graph);
  }
  void launch(const Graph& graph, Stream stream) override {
    check(m_calls.launchGraph(m_device, static_cast<int>(stream), static_cast<const ModuleGraph&>(graph).graph));
  }

  // Layers that are alike share a plan, as do a program's compilation and its measurement: some take seconds to make.
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) override {
    if (m_ready && needsCompiler(graph))
      throwError(ErrorCode::device, "a graph of {} operations would have to be compiled, and {} is ready",
                 graph.operations.size(), kEnginesVariable);
    const std::string key = fmt::format("{}within {}", keyOf(graph), workspaceLimit);
    const auto [place, isNew] = m_plans.try_emplace(key);
    Planned& known = place->second;
    if (isNew) {
      try {
        GraphEngines engines(m_calls, m_device, graph, workspaceLimit);
        known.plan = engines.plan(m_choice.choose(key, engines));
      } catch (const DeviceLost&) {
        throw;
      } catch (const Error& error) {
        known.refusal = error.message();
      }
    }
    if (!known.plan) throw Error(ErrorCode::device, known.refusal);
    return known.plan;
  }
  const Timing* timing() override { return m_times ? &m_timing : nullptr; }

 private:
  // What a kernel does wrongly shows when somebody waits for it, long after it was asked for: here at once, by name.
  void expectDone(Stream stream, const Call& call) {
    try {
      synchronise(stream);
    } catch (Error& error) {
      if (error.code() == ErrorCode::device) error.addContext("in " + nameOf(call));
      throw;
    }
  }
  void check(int failed) const {
    if (failed != 0) throw Error(ErrorCode::device, wordsOf(m_calls));
  }
  static void* recorded(const Event& event) {
    const auto& mine = static_cast<const ModuleEvent&>(event);
    if (!mine.recorded) throwError(ErrorCode::internal, "an event is waited for that was never recorded");
    return mine.event;
  }

  void begin(int stream, const KernelCall& call) {
    check(m_calls.launch(m_device, stream, call.kernel.c_str(), &call.launch, call.arguments.data(),
                         call.arguments.size()));
  }
  // Engines are chosen in a program's first step, which is not captured.
  void begin(int stream, const MatmulCall& call) {
    for (std::int64_t first = 0; first < call.batch; first += kMostProducts)
      multiply(stream, call.batch <= kMostProducts ? call : someOf(call, first, kMostProducts));
  }
  void multiply(int stream, const MatmulCall& call) {
    std::string key = keyOf(call);
    auto known = m_products.find(key);
    if (known == m_products.end()) known = m_products.emplace(key, chosen(call, key)).first;
    if (!known->second.apart) return check(m_calls.multiply(m_device, stream, &call, known->second.place));
    const MatmulCall plain = withoutEpilogue(call);
    check(m_calls.multiply(m_device, stream, &plain, known->second.place));
    addBias(stream, call);
  }
  static MatmulCall someOf(const MatmulCall& all, std::int64_t first, std::int64_t most) {
    MatmulCall some = all;
    some.batch = std::min(most, all.batch - first);
    const auto factor = static_cast<std::int64_t>(bytesOf(all.factors)),
               result = static_cast<std::int64_t>(bytesOf(all.result));
    some.a += first * all.strideA * factor;
    some.b += first * all.strideB * factor;
    some.c += first * all.strideC * result;
    if (some.addend != nullptr) some.addend += first * all.strideC * result;
    return some;
  }
  static MatmulCall withoutEpilogue(const MatmulCall& call) {
    MatmulCall plain = call;
    plain.epilogue = MatmulCall::Epilogue::none;
    plain.bias = nullptr;
    return plain;
  }
  // Where the library has no engine with the epilogue that is wanted (it is known for products of one row or column),
  // one without, and an own kernel behind it.
  struct Product {
    int place = 0;  // the engine's
    bool apart = false;
  };
  Product chosen(const MatmulCall& call, const std::string& key) {
    const bool hasEpilogue = call.epilogue != MatmulCall::Epilogue::none;
    const bool hasGaps = call.ldc != call.m || (call.batch > 1 && call.strideC != call.n * call.m);
    try {
      ProductEngines engines(m_calls, m_device, call);
      return {m_choice.choose(key, engines).place, false};
    } catch (const DeviceLost&) {
      throw;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device || !hasEpilogue || hasGaps) throw;
    }
    const MatmulCall plain = withoutEpilogue(call);
    ProductEngines engines(m_calls, m_device, plain);
    return {m_choice.choose(keyOf(plain), engines).place, true};
  }
  void addBias(int stream, const MatmulCall& call) {
    using Epilogue = MatmulCall::Epilogue;
    const AddBiasArguments arguments{.y = call.c,
                                     .bias = call.bias,
                                     .biasAsY = hasBias(call),
                                     .count = call.batch * call.n * call.m,
                                     .columns = call.m,
                                     .relu = call.epilogue == Epilogue::relu || call.epilogue == Epilogue::biasRelu};
    KernelCall kernel{named("add_bias", call.result), overElements(arguments.count, 4),
                      std::vector<std::byte>(sizeof(arguments))};
    std::memcpy(kernel.arguments.data(), &arguments, sizeof(arguments));
    begin(stream, kernel);
  }
  void begin(int stream, const DnnCall& call) {
    std::vector<std::int64_t> ids;
    std::vector<void*> addresses;
    for (const auto& [id, address] : call.tensors) {
      ids.push_back(id);
      addresses.push_back(address);
    }
    check(m_calls.runPlan(m_device, stream, static_cast<const ModulePlan&>(*call.plan).plan(), ids.data(),
                          addresses.data(), static_cast<int>(ids.size()), call.workspace));
  }
  void begin(int stream, const FillCall& call) {
    check(m_calls.fill(m_device, stream, call.to, call.value, call.bytes));
  }
  void begin(int stream, const CopyCall& call) {
    check(m_calls.copy(m_device, stream, call.to, call.from, call.bytes));
  }

  void begin(int stream, const CollectiveCall& call) {
    void* handle = nullptr;
    check(m_calls.streamHandle(m_device, stream, &handle));
    if (std::none_of(m_ranks.begin(), m_ranks.end(), [&](const auto& one) { return one.lock() == call.ranks; }))
      m_ranks.push_back(call.ranks);
    call.ranks->begin(call.what, handle);
  }

  // False where nothing was ever exchanged with ranks that are still joined. A device that waits for a rank that is
  // gone never ends, so the host asks both.
  bool waitBesideRanks(int stream, void* event) {
    std::erase_if(m_ranks, [](const auto& one) { return one.expired(); });
    if (m_ranks.empty()) return false;
    waitFor([&] {
      int done = 0;
      check(m_calls.query(m_device, stream, event, &done));
      if (done == 0)
        for (const auto& one : m_ranks)
          if (const auto ranks = one.lock()) ranks->expectAlive();
      return done != 0;
    });
    return true;
  }

  // Whether it is done within a moment, for which the host does not sleep: to be woken takes as long as a small step.
  bool isSoonDone(int stream, void* event) const {
    if (m_spin.count() == 0) return false;
    const auto until = std::chrono::steady_clock::now() + m_spin;
    do {
      int done = 0;
      check(m_calls.query(m_device, stream, event, &done));
      if (done != 0) return true;
    } while (std::chrono::steady_clock::now() < until);
    return false;
  }

  // Whose engines were timed.
  std::string machineText() const {
    const DeviceFacts here = facts();
    return fmt::format("{}, {} multiprocessors, {} MiB, {}, engines {}", here.name, here.multiprocessors,
                       here.memoryBytes >> 20, librariesOf(m_calls), kEnginesVersion);
  }

  struct Planned {
    std::shared_ptr<const DnnPlan> plan;
    std::string refusal;
  };

  const LoomCudaFunctions& m_calls;
  void* m_device;
  bool m_ready, m_times;
  bool m_checks = std::getenv(kCheckVariable) != nullptr;
  std::chrono::microseconds m_spin = spinOfEnvironment();
  bool m_capturing = false;
  EngineChoice m_choice;
  Timing m_timing;
  std::map<std::string, Planned> m_plans;
  std::map<std::string, Product> m_products;
  std::vector<std::weak_ptr<StreamRanks>> m_ranks;  // that exchanged on its streams
};

}  // namespace

std::filesystem::path cudaModule() {
  return moduleNamed("loom_cuda.so", "GRADLOOM_CUDA_MODULE");
}

std::shared_ptr<Device> openCudaDevice(int localRank, EngineChoiceOptions engines) {
  const LoomCudaFunctions& calls = module();
  int count = 0;
  if (calls.devices(&count) != 0)
    throwError(
        ErrorCode::device,
        "no GPU can be used: {}. Install the NVIDIA driver, or a newer one; --device cpu trains on the processor",
        wordsOf(calls));
  if (count == 0)
    throwError(ErrorCode::device,
               "this machine has no GPU that CUDA can use (see nvidia-smi, and CUDA_VISIBLE_DEVICES); --device cpu "
               "trains on the processor");
  const int index = localRank % count;
  void* device = nullptr;
  if (calls.open(index, &device) != 0)
    throwError(ErrorCode::device, "GPU {} cannot be opened: {}", index, wordsOf(calls));
  return std::make_shared<ModuleDevice>(calls, device, std::move(engines));
}

std::shared_ptr<const DnnPlan> planWithoutDevice(const std::string& properties, const DnnGraph& graph,
                                                 std::size_t workspaceLimit) {
  return planFor(module(), properties, graph, workspaceLimit);
}

std::string cudaLibraries() {
  return librariesOf(module());
}

}  // namespace loom::cuda
