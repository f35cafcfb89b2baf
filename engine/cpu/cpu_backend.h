#pragma once
// Programs on this machine's processor: oneDNN for convolutions, own kernels for the rest, one pool of threads for
// both.
#include <memory>

#include "engine/cpu/ways.h"
#include "engine/program/backend.h"

namespace loom {

// `threads` = 0: as many as the affinity mask allows. f32, or bf16: convolutions and matrix products of rounded
// numbers, summed in f32; weights and everything else stay f32.
std::unique_ptr<Backend> makeCpuBackend(int threads = 0, const CpuWays& ways = {});

// What a step of the program asks of the processor, from the plan that would run. Nothing is allocated for it.
StepCost stepCost(Program program, const CompileOptions& options);

// What the speed of its kernels goes by beside the processor itself.
struct ProcessorFacts {
  int threads = 1;
  std::string instructions, library;  // "avx512", "oneDNN 2.6.3"
};
ProcessorFacts processorFacts(int threads = 0);

// Whether, at the moment, some of the cores of that many threads share no third-level cache, so that what one wrote
// comes to the other five times as slowly: by a measurement of some milliseconds. A virtual machine's cores move.
bool coresAreApart(int threads = 0);

}  // namespace loom
