#pragma once
// Copies numbers of 4 or 2 bytes into another order of axes.
#include <cstdint>
#include <vector>

#include "engine/base/shape.h"

namespace loom::cpu {

class Permutation {
 public:
  // Axis i of the result is axis order[i] of a row-major source of this shape.
  Permutation(const Shape& source, const std::vector<int>& order);
  // Independent parts into which the work may be divided.
  std::int64_t pieces() const { return m_pieces; }
  void run(const float* from, float* to, std::int64_t first, std::int64_t last) const;
  void run(const std::uint16_t* from, std::uint16_t* to, std::int64_t first, std::int64_t last) const;

 private:
  template <class Number>
  void move(const Number* from, Number* to, std::int64_t first, std::int64_t last) const;
  struct Axis {
    std::int64_t extent, source, target;  // strides in elements
  };
  std::vector<Axis> m_outer;
  Axis m_row{1, 1, 1};     // contiguous in the source (a transposition), or extent 1
  Axis m_column{1, 1, 1};  // contiguous in the result
  std::int64_t m_rowBlocks = 1;
  std::int64_t m_pieces = 1;
};

}  // namespace loom::cpu
