#pragma once
// What an executable does in a step: a list of stages, each in as many parts as the pool has threads, and begun when
// the one before is done.
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "engine/cpu/kernels/stored.h"
#include "engine/program/backend.h"
#include "engine/program/buffer_plan.h"

namespace loom::cpu {

// Numbers in f32 or bf16.
struct StoredRef {
  Ref<std::byte> at;
  bool bf16 = false;

  explicit operator bool() const { return static_cast<bool>(at); }
  Stored get() const { return {at.get(), bf16}; }
};
inline StoredRef inF32(const Ref<float>& ref) {
  return {{ref.slot, ref.offset * static_cast<std::int64_t>(sizeof(float))}, false};
}
using FloatRef = Ref<float>;
using IntRef = Ref<std::int32_t>;

// The state of the step that runs. A stage that finds bad data sets the first fault (by row); the step then ends.
struct StepState {
  StepOptions options;
  std::atomic<bool> failing{false};  // some thread is about to set `report`
  std::atomic<bool> failed{false};
  std::function<void()> report;  // throws the Error; set before `failed`, by one thread
};

struct Worker {
  int index = 0;
  int count = 1;  // of all parts: their pieces
  StepState* step = nullptr;
  int phase = 0;   // of the stage
  int pieces = 1;  // Stage::pieces
  int thread = 0;  // that computes it

  // This piece's share [first, last) of `total`, in multiples of `grain`.
  std::pair<std::int64_t, std::int64_t> share(std::int64_t total, std::int64_t grain = 1) const {
    const std::int64_t grains = (total + grain - 1) / grain;
    const std::int64_t first = grains * index / count * grain, last = grains * (index + 1) / count * grain;
    return {first < total ? first : total, last < total ? last : total};
  }
  // In a catch: the step ends with this exception once the stage is over; with that of the first thread that says so.
  void fail() const;
};

// A stage is run once for every piece of every part, on whatever thread has time for it: `Worker::index` counts them,
// so of a stage whose parts are whole it names the part. It has one phase or more, each begun when all parts of the one
// before are done.
struct Stage {
  std::string kernel;          // "convolution"
  std::string implementation;  // "brgconv:avx512_core", "own:avx512"
  std::string layout;
  std::string origin;
  std::function<void(const Worker&)> run;
  int operation = -1;  // of the program, that it computes or converts for
  double moved = 0;    // bytes read and written by a conversion; 0: it computes its operation
  int phases = 1;
  // Of each part; other threads than its own may compute them. What a thread needs for itself stands by Worker::thread.
  int pieces = 1;
  // Part 0 on the thread that called run(): it alone talks to other ranks.
  bool onCaller = false;
};

}  // namespace loom::cpu
