#pragma once
// Programs on this machine's processor: oneDNN for convolutions, own kernels for the rest, one pool of threads for
// both.
#include <memory>

#include "engine/program/backend.h"

namespace loom {

// `threads` = 0: as many as the affinity mask allows. f32, or bf16: convolutions and matrix products of rounded
// numbers, summed in f32; weights and everything else stay f32.
std::unique_ptr<Backend> makeCpuBackend(int threads = 0);

}  // namespace loom
