#pragma once
// How a tensor whose extents are partly 1 is repeated over a larger one, both in memory order.
#include <cstdint>
#include <vector>

#include "engine/base/shape.h"

namespace loom::cpu {

struct Broadcast {
  enum class Kind {
    same,     // nothing is repeated
    scalar,   // one number
    rows,     // one row of `columns` numbers for every row
    general,  // row r begins at offsetOf(r)
  } kind = Kind::same;
  std::int64_t rows = 1, columns = 1;
  bool follows = true;  // general: the smaller tensor steps along the last axis too; else one number serves a row
  std::vector<std::int64_t> extents, strides;  // general: all axes but the last

  std::int64_t offsetOf(std::int64_t row) const;
};

Broadcast broadcastOver(const Shape& large, const Shape& small);

}  // namespace loom::cpu
