#include "engine/cpu/kernels/permute.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kBlock = 32;

LOOM_INLINE void transposeSquare(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride) {
  transpose16(from, fromStride, to, toStride);
}
// Numbers of two bytes: as words between.
LOOM_INLINE void transposeSquare(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to,
                                 std::int64_t toStride) {
  alignas(64) float words[2][kLanes * kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) store(words[0] + i * kLanes, loadHalf(from + i * fromStride, kLanes));
  transpose16(words[0], kLanes, words[1], kLanes);
  for (std::int64_t i = 0; i < kLanes; ++i)
    *reinterpret_cast<VecHalfUnaligned*>(to + i * toStride) =
        __builtin_convertvector((VecU)load(words[1] + i * kLanes) >> 16, VecHalf);
}

// to[r * toStride + c] = from[r + c * fromStride]
template <class Number>
LOOM_INLINE void transposeOf(const Number* from, std::int64_t fromStride, Number* to, std::int64_t toStride,
                             std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; r += kLanes) {
    for (std::int64_t c = 0; c < columns; c += kLanes) {
      if (r + kLanes <= rows && c + kLanes <= columns) {
        transposeSquare(from + r + c * fromStride, fromStride, to + r * toStride + c, toStride);
        continue;
      }
      for (std::int64_t i = r; i < std::min(rows, r + kLanes); ++i) {
        for (std::int64_t j = c; j < std::min(columns, c + kLanes); ++j)
          to[i * toStride + j] = from[i + j * fromStride];
      }
    }
  }
}
LOOM_INLINE void transposeBody(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride,
                               std::int64_t rows, std::int64_t columns) {
  transposeOf(from, fromStride, to, toStride, rows, columns);
}
LOOM_INLINE void transposeHalfBody(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to,
                                   std::int64_t toStride, std::int64_t rows, std::int64_t columns) {
  transposeOf(from, fromStride, to, toStride, rows, columns);
}
LOOM_CPU_KERNEL(void, transpose,
                (const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                 std::int64_t columns),
                (from, fromStride, to, toStride, rows, columns))
LOOM_CPU_KERNEL(void, transposeHalf,
                (const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
                 std::int64_t rows, std::int64_t columns),
                (from, fromStride, to, toStride, rows, columns))
void transpose(const std::uint16_t* from, std::int64_t fromStride, std::uint16_t* to, std::int64_t toStride,
               std::int64_t rows, std::int64_t columns) {
  transposeHalf(from, fromStride, to, toStride, rows, columns);
}

}  // namespace

Permutation::Permutation(const Shape& source, const std::vector<int>& order) {
  const int rank = static_cast<int>(source.rank());
  std::vector<std::int64_t> strides(static_cast<std::size_t>(rank), 1);
  for (int i = rank - 2; i >= 0; --i)
    strides[static_cast<std::size_t>(i)] = strides[static_cast<std::size_t>(i) + 1] * source[i + 1];
  // The result's axes, those of extent 1 dropped and neighbours joined that are neighbours in the source too.
  std::vector<Axis> axes;
  for (int axis : order) {
    const Axis next{source[axis], strides[static_cast<std::size_t>(axis)], 0};
    if (next.extent == 1) continue;
    if (!axes.empty() && axes.back().source == next.source * next.extent) {
      axes.back() = {axes.back().extent * next.extent, next.source, 0};
    } else {
      axes.push_back(next);
    }
  }
  std::int64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    axes[i].target = stride;
    stride *= axes[i].extent;
  }
  if (!axes.empty()) {
    m_column = axes.back();
    axes.pop_back();
  }
  if (m_column.source != 1) {
    const auto row = std::find_if(axes.begin(), axes.end(), [](const Axis& axis) { return axis.source == 1; });
    if (row != axes.end()) {
      m_row = *row;
      axes.erase(row);
    }
  }
  m_outer = std::move(axes);
  m_rowBlocks = (m_row.extent + kBlock - 1) / kBlock;
  m_pieces = m_rowBlocks;
  for (const Axis& axis : m_outer) m_pieces *= axis.extent;
}

void Permutation::run(const float* from, float* to, std::int64_t first, std::int64_t last) const {
  move(from, to, first, last);
}
void Permutation::run(const std::uint16_t* from, std::uint16_t* to, std::int64_t first, std::int64_t last) const {
  move(from, to, first, last);
}

template <class Number>
void Permutation::move(const Number* from, Number* to, std::int64_t first, std::int64_t last) const {
  for (std::int64_t piece = first; piece < last; ++piece) {
    std::int64_t rest = piece;
    const std::int64_t row = rest % m_rowBlocks * kBlock;
    rest /= m_rowBlocks;
    const Number* source = from + row * m_row.source;
    Number* target = to + row * m_row.target;
    for (std::size_t i = m_outer.size(); i-- > 0;) {
      const std::int64_t at = rest % m_outer[i].extent;
      rest /= m_outer[i].extent;
      source += at * m_outer[i].source;
      target += at * m_outer[i].target;
    }
    if (m_column.source == 1) {
      std::memcpy(target, source, static_cast<std::size_t>(m_column.extent) * sizeof(Number));
    } else {
      transpose(source, m_column.source, target, m_row.target, std::min(kBlock, m_row.extent - row), m_column.extent);
    }
  }
}

}  // namespace loom::cpu
