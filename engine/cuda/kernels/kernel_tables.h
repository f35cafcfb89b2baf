#pragma once
// All kernels of this room by family; written by CMake for whoever compiles them.
#include <span>

#include "engine/cuda/kernels/kernel_row.h"

namespace loom::cuda {

std::span<const KernelTable> kernelTables();

}  // namespace loom::cuda
