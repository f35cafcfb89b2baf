// loom_cuda.so: CUDA, cuBLASLt and cuDNN behind the table of functions.h.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "engine/cuda/kernels/kernel_tables.h"
#include "engine/cuda/module/gpu.h"
#include "engine/cuda/module/timing.h"

namespace loom::cuda::module {

std::string& lastWords() {
  thread_local std::string words;
  return words;
}

Gpu::Gpu(int device) : index(device) {
  const std::string here = " of GPU " + std::to_string(index);
  enter();
  // Threads that wait for it sleep; where the device is in use already it keeps its ways.
  if (cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync) != cudaSuccess) cudaGetLastError();
  try {
    // What ranks exchange comes first where kernels of several streams could begin: others wait for it.
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange" + here);
    for (int i = 0; i < kStreams; ++i)
      check(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking,
                                         i == static_cast<int>(Stream::exchange) ? greatest : least),
            "cudaStreamCreateWithPriority" + here);
    check(cublasLtCreate(&blas), "cublasLtCreate" + here);
    check(cudnnCreate(&dnn), "cudnnCreate" + here);
  } catch (...) {
    end();
    throw;
  }
  for (const KernelTable& family : kernelTables())
    for (std::size_t i = 0; i < family.count; ++i) kernels.emplace(family.rows[i].name, &family.rows[i]);
}

Gpu::~Gpu() {
  end();
}

void Gpu::end() noexcept {
  cudaSetDevice(index);
  matmuls.clear();
  if (dnn != nullptr) cudnnDestroy(dnn);
  if (blas != nullptr) cublasLtDestroy(blas);
  for (cudaStream_t one : streams)
    if (one != nullptr) cudaStreamDestroy(one);
}

void Gpu::enter() const {
  check(cudaSetDevice(index), "cudaSetDevice of GPU " + std::to_string(index));
}

namespace {

Gpu& entered(void* device) {
  Gpu& gpu = *static_cast<Gpu*>(device);
  gpu.enter();
  return gpu;
}

std::string bytesText(std::size_t bytes) {
  return " of " + std::to_string(bytes) + " bytes";
}

void words(char* text, int room) {
  std::snprintf(text, static_cast<std::size_t>(room), "%s", lastWords().c_str());
}

void libraries(char* text, int room) {
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  const std::size_t dnn = cudnnGetVersion(), blas = cublasLtGetVersion();
  std::snprintf(text, static_cast<std::size_t>(room), "CUDA %d.%d, cuDNN %zu.%zu.%zu, cuBLASLt %zu.%zu.%zu",
                runtime / 1000, runtime / 10 % 100, dnn / 10000, dnn / 100 % 100, dnn % 100, blas / 10000,
                blas / 100 % 100, blas % 100);
}

int devices(int* count) {
  return guarded([&] {
    *count = 0;
    const cudaError_t code = cudaGetDeviceCount(count);
    if (code == cudaErrorNoDevice) {
      cudaGetLastError();
      *count = 0;
      return;
    }
    check(code, "cudaGetDeviceCount");
  });
}

int open(int index, void** device) {
  return guarded([&] { *device = new Gpu(index); });
}
int close(void* device) {
  return guarded([&] { delete static_cast<Gpu*>(device); });
}

int facts(void* device, LoomDeviceFacts* facts) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, gpu.index), "cudaGetDeviceProperties");
    std::snprintf(facts->name, sizeof(facts->name), "%s", properties.name);
    facts->computeCapability = properties.major * 10 + properties.minor;
    facts->multiprocessors = properties.multiProcessorCount;
    check(cudaDeviceGetPCIBusId(facts->pci, sizeof(facts->pci), gpu.index), "cudaDeviceGetPCIBusId");
    check(cudaMemGetInfo(&facts->freeBytes, &facts->memoryBytes), "cudaMemGetInfo");
  });
}

int allocate(void* device, std::size_t bytes, void** at) {
  return guarded([&] {
    entered(device);
    check(cudaMalloc(at, bytes), "cudaMalloc" + bytesText(bytes));
  });
}
int release(void* device, void* at) {
  return guarded([&] {
    entered(device);
    check(cudaFree(at), "cudaFree");
  });
}
int allocatePinned(void* device, std::size_t bytes, void** at) {
  return guarded([&] {
    entered(device);
    check(cudaMallocHost(at, bytes), "cudaMallocHost" + bytesText(bytes));
  });
}
int releasePinned(void* device, void* at) {
  return guarded([&] {
    entered(device);
    check(cudaFreeHost(at), "cudaFreeHost");
  });
}

int launch(void* device, int stream, const char* kernel, const Launch* launch, const void* arguments,
           std::size_t argumentBytes) {
  return guarded([&] {
    Gpu& gpu = entered(device);
    const auto found = gpu.kernels.find(kernel);
    if (found == gpu.kernels.end()) throw Failure(std::string("the module has no kernel '") + kernel + "'");
    const KernelRow& row = *found->second;
    if (row.argumentBytes != argumentBytes)
      throw Failure(std::string("kernel '") + kernel + "' takes" + bytesText(row.argumentBytes) + ", not" +
                    bytesText(argumentBytes));
    row.start(*launch, arguments, gpu.stream(stream));
    check(cudaGetLastError(), std::string("the launch of kernel '") + kernel + "' in " +
                                  std::to_string(launch->grid.x) + " x " + std::to_string(launch->grid.y) + " x " +
                                  std::to_string(launch->grid.z) + " blocks");
  });
}

int multiplyOf(void* device, int stream, const MatmulCall* call, int engine) {
  return guarded([&] {
    Gpu& gpu = entered(device);
    multiply(gpu, gpu.stream(stream), *call, engine);
  });
}
int productEnginesOf(void* device, const MatmulCall* call, int most, LoomProductEngine* found, int* count) {
  return guarded([&] { *count = productEngines(entered(device), *call, most, found); });
}
int timeProductOf(void* device, const MatmulCall* call, int engine, double* seconds) {
  return guarded([&] { *seconds = timeProduct(entered(device), *call, engine); });
}

int plan(void* device, const char* properties, const LoomDnnGraph* graph, std::size_t workspaceLimit, int first,
         int most, LoomDnnPlan* made, int* count) {
  return guarded([&] {
    *count = planGraph(device == nullptr ? nullptr : &entered(device), properties, *graph, workspaceLimit, first, most,
                       made);
  });
}
int timePlanOf(void* device, void* plan, const LoomDnnGraph* graph, double* seconds) {
  return guarded([&] { *seconds = timePlan(entered(device), plan, *graph); });
}
int releasePlanOf(void* plan) {
  return guarded([&] { releasePlan(plan); });
}
int runPlanOf(void* device, int stream, void* plan, const std::int64_t* ids, void* const* addresses, int count,
              void* workspace) {
  return guarded([&] {
    Gpu& gpu = entered(device);
    runPlan(gpu, gpu.stream(stream), plan, ids, addresses, count, workspace);
  });
}

int fill(void* device, int stream, void* to, int value, std::size_t bytes) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaMemsetAsync(to, value, bytes, gpu.stream(stream)), "cudaMemsetAsync" + bytesText(bytes));
  });
}
int copy(void* device, int stream, void* to, const void* from, std::size_t bytes) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, gpu.stream(stream)),
          "cudaMemcpyAsync" + bytesText(bytes));
  });
}

int makeEvent(void* device, void** event) {
  return guarded([&] {
    entered(device);
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming | cudaEventBlockingSync), "cudaEventCreateWithFlags");
    *event = made;
  });
}
int releaseEvent(void* device, void* event) {
  return guarded([&] {
    entered(device);
    check(cudaEventDestroy(static_cast<cudaEvent_t>(event)), "cudaEventDestroy");
  });
}
int record(void* device, int stream, void* event) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaEventRecord(static_cast<cudaEvent_t>(event), gpu.stream(stream)), "cudaEventRecord");
  });
}
int wait(void* device, int stream, void* event) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaStreamWaitEvent(gpu.stream(stream), static_cast<cudaEvent_t>(event), 0), "cudaStreamWaitEvent");
  });
}
int synchroniseEvent(void* device, void* event) {
  return guarded([&] {
    entered(device);
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
  });
}
int synchroniseStream(void* device, int stream) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaStreamSynchronize(gpu.stream(stream)), "cudaStreamSynchronize");
  });
}

int query(void* device, int stream, void* event, int* done) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    const cudaError_t state =
        event != nullptr ? cudaEventQuery(static_cast<cudaEvent_t>(event)) : cudaStreamQuery(gpu.stream(stream));
    *done = state == cudaSuccess ? 1 : 0;
    if (state == cudaErrorNotReady)
      cudaGetLastError();
    else
      check(state, event != nullptr ? "cudaEventQuery" : "cudaStreamQuery");
  });
}

// Thread-local: what other threads allocate or ask does not break it.
int beginCapture(void* device, int stream) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaStreamBeginCapture(gpu.stream(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  });
}
int endCapture(void* device, int stream, void** graph) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(gpu.stream(stream), &captured), "cudaStreamEndCapture");
    cudaGraphExec_t made = nullptr;
    // Each kernel keeps the priority of the stream that it was captured in: else exchanges between ranks would lose
    // theirs to the stream that the graph is launched in.
    const cudaError_t code = cudaGraphInstantiate(&made, captured, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(captured);
    check(code, "cudaGraphInstantiate");
    *graph = made;
  });
}
int launchGraph(void* device, int stream, void* graph) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), gpu.stream(stream)), "cudaGraphLaunch");
  });
}
int releaseGraph(void* device, void* graph) {
  return guarded([&] {
    entered(device);
    check(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)), "cudaGraphExecDestroy");
  });
}

int timeGraph(void* device, void* graph, double* seconds) {
  return guarded([&] {
    const Gpu& gpu = entered(device);
    const cudaStream_t stream = gpu.stream(static_cast<int>(Stream::compute));
    *seconds = secondsOf(stream, [&] {
      check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), stream), "cudaGraphLaunch of a trial");
    });
  });
}

int streamHandle(void* device, int stream, void** handle) {
  return guarded([&] { *handle = entered(device).stream(stream); });
}

const LoomCudaFunctions kFunctions = {kLoomCudaVersion,
                                      words,
                                      libraries,
                                      devices,
                                      open,
                                      close,
                                      facts,
                                      allocate,
                                      release,
                                      allocatePinned,
                                      releasePinned,
                                      launch,
                                      multiplyOf,
                                      productEnginesOf,
                                      timeProductOf,
                                      plan,
                                      releasePlanOf,
                                      timePlanOf,
                                      runPlanOf,
                                      fill,
                                      copy,
                                      makeEvent,
                                      releaseEvent,
                                      record,
                                      wait,
                                      synchroniseEvent,
                                      synchroniseStream,
                                      query,
                                      beginCapture,
                                      endCapture,
                                      launchGraph,
                                      releaseGraph,
                                      timeGraph,
                                      streamHandle};

}  // namespace
}  // namespace loom::cuda::module

extern "C" __attribute__((visibility("default"))) const LoomCudaFunctions* loomCudaFunctions() {
  return &loom::cuda::module::kFunctions;
}
