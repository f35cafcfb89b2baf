#pragma once
// One call of a plan, run on the host.
#include <cstdint>
#include <string>

#include "engine/cuda/calls.h"
#include "tests/engine/cuda/fake/emulator.h"

namespace loom::cuda::fake {

// Throws Error(internal) where no kernel has this name, or its arguments are of another size.
void expectKernel(const KernelCall& call);
// To its end, by the emulator, as `how` says, or by an interpreter. Workspaces are overwritten.
void run(const Call& call, const emulator::Run& how);

}  // namespace loom::cuda::fake
