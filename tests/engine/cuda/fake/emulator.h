#pragma once
// Kernels on a CPU: a block at a time, a fiber for each of its threads. A warp runs until all of its lanes wait; which
// warp is next, which lane of it, and which block, is a function of the seed and the direction. Two runs of one seed in
// both directions hold any two threads, and any two blocks, in both orders: what depends on it differs.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "engine/cuda/kernels/kernel_row.h"

namespace loom::cuda::emulator {

// __syncthreads and __syncwarp, for tests that leave one out.
struct Barriers {
  std::set<std::string> met;  // "reduce_block.cuh:39"
  std::string leftOut;        // this one nobody waits at
};

// How one kernel is run: what an emulated KernelRow::start takes as its stream.
struct Run {
  std::string kernel;  // for messages
  std::uint64_t seed = 1;
  bool backwards = false;
  Barriers* barriers = nullptr;
};

using Body = void (*)(const void* closure);
// Runs the kernel to its end. Throws Error(internal) that names kernel, block and thread, for a launch that no GPU
// takes, a barrier that not all threads reach, for what a warp does without all of its lanes, and for an address that
// is not there.
void run(const Launch& launch, const void* run, Body body, const void* closure);

// --- For device_language.h, on a fiber.

enum class Meeting { block, warp, shuffle };
// Waits for all threads of the block or the warp. `where` must be the same for all.
struct Place {
  const char* file;
  int line;
};
void meet(Meeting meeting, unsigned mask, Place where);
// Shows `value` to the other lanes; answers where all 32 stand until this thread's next exchange.
const std::uint64_t* exchange(std::uint64_t value, unsigned mask, Place where);
// The same among all threads of the block: how many of them say yes.
int count(bool yes, Place where);
unsigned lane();
// Which block this is, among all that ever ran: shared memory is new in each.
std::uint64_t blockNumber();
[[noreturn]] void fail(std::string&& what);

}  // namespace loom::cuda::emulator
