#pragma once
// Arguments of the kernels in shaping.cuh. Numbers are moved bit for bit, in units of `unit` bytes (1, 2, 4, 8 or 16):
// all extents and places are counted in units.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

inline constexpr int kMostParts = 8;

// to[place of i in `target`] = from[place of i in `source`] for `count` units i of each part; the second axis of the
// grid chooses the part.
struct CopyArguments {
  struct Part {
    const std::byte* from = nullptr;
    std::byte* to = nullptr;  // where its first unit comes
    std::int64_t count = 0;
    Strided source, target;
  };
  Part parts[kMostParts];
  int unit = 4;
};

// to = 0 but where unit i of it is one of `from`: seen as outer x extent x inner, at start + k step of the extent, k
// from 0 to length - 1.
struct ScatterArguments {
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t count = 0;  // of `to`
  Divisor inner, extent, step;
  std::int64_t start = 0, length = 1;
  int unit = 4;
};

}  // namespace loom::cuda
