#pragma once
// Matrix products in f32 over packed B. B is packed once (weights: once a step) into panels of panelWidth() columns,
// each panel K rows of contiguous numbers, the last one padded with zeros; A is read where it stands, or through
// scratch when its rows are not contiguous. Single-threaded calls over parts of C: the caller divides the work.
#include <cstdint>

namespace loom::cpu {

struct Worker;

struct MatrixView {
  const float* data = nullptr;
  std::int64_t rowStride = 0, columnStride = 1;
  const std::uint16_t* half = nullptr;  // instead of data: in bf16, for gemm_bf16.h alone
};

std::int64_t panelWidth();
// Of panels for few columns (GemmProblem::narrow) and for AVX2's tiles: what panelWidth() is without AVX-512.
constexpr std::int64_t kNarrowPanel = 16;
std::int64_t tileRows();
inline std::int64_t panelsOf(std::int64_t columns, std::int64_t width = panelWidth()) {
  return (columns + width - 1) / width;
}
inline std::int64_t packedFloats(std::int64_t k, std::int64_t columns, std::int64_t width = panelWidth()) {
  return panelsOf(columns, width) * width * k;
}
// Panels [first, last) of the K x N matrix b.
void packPanels(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last);
// The same, all of them, in panels of kNarrowPanel columns.
void packNarrowPanels(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n);

// What will be read after a product: `lines` of `length` floats, `stride` apart, and the same at three more distances.
// It is fetched into the level-2 cache in parts while tiles of C are computed: there, memory has the time to answer.
class Ahead {
 public:
  Ahead(const float* first, std::int64_t stride, std::int64_t lines, std::int64_t length, std::int64_t distance)
      : m_line(first), m_stride(stride), m_lines(lines), m_length(length), m_distance(distance) {}
  // What is left of it, over so many tiles.
  void spread(std::int64_t tiles) { m_parts = (m_lines * ((m_length + kPart - 1) / kPart) + tiles - 1) / tiles; }
  void fetchParts() {
    for (std::int64_t part = 0; part < m_parts && m_lines > 0; ++part) {
      for (int i = 0; i < 4; ++i) __builtin_prefetch(m_line + m_at + i * m_distance, 0, 2);
      m_at += kPart;
      if (m_at < m_length) continue;
      m_at = 0;
      m_line += m_stride;
      --m_lines;
    }
  }

 private:
  static constexpr std::int64_t kPart = 16;  // of a cache line
  const float* m_line;
  std::int64_t m_stride, m_lines, m_length, m_distance, m_parts = 0, m_at = 0;
};

enum class Activation { none, relu, gelu };

// C (M x N, rows ldc apart) = activation(A B + bias), or activation(C + A B + bias) when `accumulate`.
struct GemmProblem {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixView a;
  bool tiled = false;  // A is one block in tiles of tileRows(), as gemm_rows.h says; for gemm() alone
  const float* packed = nullptr;
  bool narrow = false;          // in panels of kNarrowPanel columns; for gemm() alone
  std::int64_t panelSteps = 0;  // of K in each panel, where panels hold more than `k` of them; for gemm() alone
  float* c = nullptr;
  std::int64_t ldc = 0;
  const float* bias = nullptr;  // N
  Activation activation = Activation::none;
  bool accumulate = false;
  float scale = 1;                // of A B
  std::uint16_t* half = nullptr;  // instead of c: C in bf16, for gemm_bf16.h alone; not to be accumulated
  // Another C of the same shape, of whole panels, without scale, bias or activation: A B, or that added or subtracted;
  // for gemm() alone.
  float* also = nullptr;
  bool alsoAccumulate = false, alsoLess = false;
  Ahead* ahead = nullptr;  // null: nothing; for gemm() alone
};

// Floats of scratch that gemm() needs a thread, but for a `tiled` A or one with contiguous rows.
std::int64_t gemmScratch();
// Rows [firstRow, lastRow) and panels [firstPanel, lastPanel) of C.
void gemm(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
          std::int64_t lastPanel, float* scratch);

// The part of C that a worker computes, in whole tiles of `tileRows` rows, so that all finish together.
struct GemmShare {
  std::int64_t firstRow, lastRow, firstPanel, lastPanel;
};
// `byRows`: rather rows than columns where both cost the same.
GemmShare shareOf(const Worker& worker, std::int64_t m, std::int64_t n, std::int64_t tileRows = 6, bool byRows = false);

}  // namespace loom::cpu
