#pragma once
// What the module loom_cuda.so, which alone is linked with CUDA, cuBLASLt and cuDNN, offers: plain functions over plain
// data. Every function answers 0, or 1 where it failed; words() then says what was asked of which library and what that
// said. `device` is what open() made; streams are numbered as in Stream (device.h); the thread is that of open().
#include <stddef.h>
#include <stdint.h>

#include "engine/base/data_type.h"
#include "engine/cuda/kernels/kernel_row.h"

namespace loom::cuda {
struct MatmulCall;
}

extern "C" {

enum { kLoomMostAxes = 5, kLoomMostOperations = 8 };

struct LoomDeviceFacts {
  char name[256];
  int computeCapability;  // 90 for 9.0
  int multiprocessors;
  size_t memoryBytes, freeBytes;
  char pci[32];  // "0000:3B:00.0"
};

// A DnnGraph (calls.h) without its vectors.
struct LoomDnnTensor {
  int64_t id;
  int axes;
  int64_t extents[kLoomMostAxes], strides[kLoomMostAxes];
  loom::DataType type;
  int isVirtual;
};
enum LoomDnnKind {
  kLoomForward,
  kLoomInputGradient,
  kLoomWeightGradient,
  kLoomAdd,
  kLoomRelu,
  kLoomIdentity,
  kLoomAttention
};
struct LoomDnnOperation {
  LoomDnnKind kind;
  int64_t tensors[6];  // image, weight, result; or x, b (-1: none), y; or q, k, v, y, statistics, scale
  int spatialAxes;
  int64_t strides[3], before[3], after[3], dilation[3];
};
struct LoomDnnGraph {
  const LoomDnnTensor* tensors;
  int tensorCount;
  const LoomDnnOperation* operations;
  int operationCount;
  int deterministic, tf32;
};
struct LoomDnnPlan {
  void* plan;
  size_t workspaceBytes;
  int place;  // among all engines that the heuristics put forward
  char name[64];
};
// A way to compute a product, best first.
struct LoomProductEngine {
  char name[64];
};

struct LoomCudaFunctions {
  int version;  // of this table: kLoomCudaVersion
  // Of the calling thread's last failure.
  void (*words)(char* text, int room);
  // "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0", for bug reports.
  void (*libraries)(char* text, int room);
  // 0 where the driver knows none, too; a failure where there is no driver, or one that is too old.
  int (*devices)(int* count);
  int (*open)(int index, void** device);
  int (*close)(void* device);
  int (*facts)(void* device, LoomDeviceFacts* facts);

  int (*allocate)(void* device, size_t bytes, void** at);
  int (*release)(void* device, void* at);
  int (*allocatePinned)(void* device, size_t bytes, void** at);
  int (*releasePinned)(void* device, void* at);

  int (*launch)(void* device, int stream, const char* kernel, const loom::cuda::Launch* launch, const void* arguments,
                size_t argumentBytes);
  // By the engine that is at this place of what productEngines() answers.
  int (*multiply)(void* device, int stream, const loom::cuda::MatmulCall* call, int engine);
  int (*productEngines)(void* device, const loom::cuda::MatmulCall* call, int most, LoomProductEngine* found,
                        int* count);
  // Into memory of its own: only a, b, bias and the workspace must be there. Waits for the compute stream.
  int (*timeProduct)(void* device, const loom::cuda::MatmulCall* call, int engine, double* seconds);
  // At most so many, from the engine at place `first` on; fewer where making them takes seconds, at least one or a
  // failure. Of the device; or, where `device` is null, of the one that these properties (cuDNN's JSON) tell of, to
  // know what such a one would do: those plans cannot be run.
  int (*plan)(void* device, const char* properties, const LoomDnnGraph* graph, size_t workspaceLimit, int first,
              int most, LoomDnnPlan* made, int* count);
  int (*releasePlan)(void* plan);
  // In memory of its own, which must be free. Waits for the compute stream.
  int (*timePlan)(void* device, void* plan, const LoomDnnGraph* graph, double* seconds);
  int (*runPlan)(void* device, int stream, void* plan, const int64_t* ids, void* const* addresses, int count,
                 void* workspace);
  int (*fill)(void* device, int stream, void* to, int value, size_t bytes);
  int (*copy)(void* device, int stream, void* to, const void* from, size_t bytes);  // between any two kinds of memory

  int (*makeEvent)(void* device, void** event);
  int (*releaseEvent)(void* device, void* event);
  int (*record)(void* device, int stream, void* event);
  int (*wait)(void* device, int stream, void* event);
  int (*synchroniseEvent)(void* device, void* event);
  int (*synchroniseStream)(void* device, int stream);
  // Whether the event is past or, where it is null, all that the stream has is done; nobody waits.
  int (*query)(void* device, int stream, void* event, int* done);

  int (*beginCapture)(void* device, int stream);
  int (*endCapture)(void* device, int stream, void** graph);
  int (*launchGraph)(void* device, int stream, void* graph);
  int (*releaseGraph)(void* device, void* graph);
  // Of a launch on the compute stream, for which it waits.
  int (*timeGraph)(void* device, void* graph, double* seconds);

  // The driver's handle of a stream, for libraries of other modules.
  int (*streamHandle)(void* device, int stream, void** handle);
};

enum { kLoomCudaVersion = 4 };
// The one symbol of the module.
typedef const LoomCudaFunctions* (*LoomCudaEntry)();
inline const char* const kLoomCudaEntryName = "loomCudaFunctions";

}  // extern "C"
