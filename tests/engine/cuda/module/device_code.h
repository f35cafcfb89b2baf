#pragma once
// What nvcc put into a module for GPUs, read from the file itself: no tool of NVIDIA's and no driver is needed.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace loom::cuda {

struct CompiledKernel {
  std::string name;      // "void loom::cuda::softmax<float>(loom::cuda::SoftmaxArguments)"
  int architecture = 0;  // 90 for sm_90
  int registers = 0;     // of a thread
  int stackBytes = 0;    // of a thread, in local memory: what was spilled, and arrays that are indexed
  int sharedBytes = 0;   // of a block, static
  int mostThreads = 0;   // of a block, as __launch_bounds__ says; 0: it says nothing

  // Threads that a multiprocessor of 64 Ki registers and room for 2,048 threads has at once, in blocks of so many.
  int threadsAtOnce(int threadsOfBlock) const;
};

struct DeviceCode {
  std::vector<CompiledKernel> kernels;
  std::set<int> machineCode, ptx;  // architectures
};

// Throws Error(badData) for a file that holds no device code that this can read: compressed by nvcc, say.
DeviceCode readDeviceCode(const std::filesystem::path& module);

}  // namespace loom::cuda
