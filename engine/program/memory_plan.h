#pragma once
// Where every intermediate tensor of a program lives in one arena: decided from lifetimes before the first step, so
// that a step allocates nothing. Independent of the machine: a backend says how many bytes its layout of a tensor
// takes.
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "engine/program/program.h"

namespace loom {

// Something that needs `bytes` while operations first...last run (both included).
struct ArenaItem {
  std::size_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

struct ArenaLayout {
  std::vector<std::size_t> offsets;  // by item; multiples of the alignment
  std::size_t bytes = 0;             // of the arena
  std::size_t peak = 0;              // most bytes alive at once: no layout can be smaller
};

// Items that are alive at the same time never overlap. Greedy by size, best fit (Pisarchyk and Lee, "Efficient memory
// management for deep neural net inference", 2020): within a few per cent of the peak on real networks.
ArenaLayout layOutArena(std::span<const ArenaItem> items, std::size_t alignment = 64);

struct MemoryOptions {
  std::size_t alignment = 64;
  bool inPlace = true;  // let an output take the memory of an input that dies there (OpDefinition::reusable)
  bool views = true;    // let a view share its input's memory (OpDefinition::isView); else it is a copy
  // Bytes of a tensor in the backend's layout; absent = row-major in the tensor's type.
  std::function<std::size_t(TensorId)> bytes;
  // Working memory of an operation, by its index; absent = none.
  std::function<std::size_t(std::size_t)> scratch;
  // Whether this output of this operation may take the memory of this input; absent = what the op allows.
  std::function<bool(std::size_t operation, TensorId input)> mayReuse;
};

struct Placement {
  // Whose memory it is: the tensor itself; for a view, the tensor that it is a view of (which may be an input or
  // parameter outside the arena); kNoTensor = the tensor is never used.
  TensorId root = kNoTensor;
  bool inArena = false;    // false: input, scalar, parameter, state, constant, or a view of one
  std::size_t offset = 0;  // in the arena
  std::size_t bytes = 0;
  std::int32_t first = 0;  // operation that writes it
  std::int32_t last = 0;   // operation that reads it last; the program's length for a result
};

struct MemoryPlan {
  std::vector<Placement> tensors;           // by TensorId
  std::vector<std::size_t> scratchOffsets;  // by operation
  std::size_t arenaBytes = 0;
  std::size_t peakBytes = 0;  // the least possible for these lifetimes
  std::size_t sumBytes = 0;   // without any sharing
};

MemoryPlan planMemory(const Program& program, const MemoryOptions& options = {});

}  // namespace loom
