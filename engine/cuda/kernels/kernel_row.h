#pragma once
// How kernels are named and started, for those who compile them and those who ask for them.
#include <cstddef>
#include <cstdint>

namespace loom::cuda {

// Blocks of a grid, threads of a block, as CUDA counts them.
struct Extent {
  unsigned x = 1, y = 1, z = 1;
};

struct Launch {
  Extent grid, block;
  unsigned sharedBytes = 0;  // dynamic
};

// One kernel in one element type, "softmax.bf16". `start` begins it with these arguments (a plain struct of
// `argumentBytes`) on a stream of the machine that compiled it; an emulator runs it to its end.
struct KernelRow {
  const char* name;
  std::size_t argumentBytes;
  void (*start)(const Launch& launch, const void* arguments, void* stream);
};

struct KernelTable {
  const KernelRow* rows;
  std::size_t count;
};

}  // namespace loom::cuda
