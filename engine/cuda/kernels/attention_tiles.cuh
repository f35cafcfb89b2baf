// Attention by tiles of queries and keys: scores live in a warp's registers alone, and the softmax is mended as larger
// ones come (Milakov and Gimelshein, 2018). Gradients compute the scores again from the statistics, once for the tiles
// of dq and once for those of dk and dv, so that nothing is added up by atomics and the same bits come out each time. A
// block has 64 rows, 16 for each of its warps.
#include "engine/cuda/kernels/attention_tiles.h"
#include "engine/cuda/kernels/tiles.cuh"

namespace loom::cuda {

template <class Type, int kColumns>
struct HeadOf {
  using T = Type;
  using Number = typename InTiles<T>::Number;
  static constexpr int kWidth = kColumns;  // at least the head's; the rest are zeros
  static constexpr int kPacksOfRow = kTileStride<kWidth, Number> / Pack<Number>::kCount;
  // Rows that a block has beside its own at a time, forward and backward: what registers and 48 KiB hold.
  static constexpr bool kIsWide = kWidth * sizeof(T) > 64 * sizeof(Half);
  static constexpr int kForward = (kIsWide ? 64 : 128) / static_cast<int>(sizeof(T)), kBackward = kIsWide ? 16 : 32;
};

inline constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// A block's sample and head, and which of its tiles.
struct TileOfHead {
  std::int64_t sample, head, matrix;
  int first, part;
};
__device__ __forceinline__ TileOfHead tileOfBlock(const AttentionExtents& of, std::int64_t rows, int parts) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t block = blockIdx.x, tile = block / parts, matrix = tile / tiles;
  return {matrix / of.heads, matrix % of.heads, matrix, static_cast<int>(tile % tiles) * kTileRows,
          static_cast<int>(block % parts)};
}

// Where column 0 of the head stands in row `row` of N x rows x C.
__device__ __forceinline__ std::int64_t placeOfRow(const AttentionExtents& of, const TileOfHead& tile,
                                                   std::int64_t rows, int row) {
  return ((tile.sample * rows + row) * of.heads + tile.head) * of.width;
}

// kRows rows from `first` on; zeros beyond the last row and the head's width.
template <class Head, int kRows>
__device__ __forceinline__ void loadTile(typename Head::Number* tile, const void* from, const AttentionExtents& of,
                                         const TileOfHead& head, int rows, int first) {
  using Number = typename Head::Number;
  constexpr int kEach = Pack<Number>::kCount, kPacks = Head::kWidth / kEach;
  const Number* const data = static_cast<const Number*>(from);
  LOOM_UNROLL_TWICE for (int i = static_cast<int>(threadIdx.x); i < kRows * kPacks; i += kTileThreads) {
    const int row = i / kPacks, column = i % kPacks * kEach;
    Pack<Number> pack = {};
    if (first + row < rows && column < of.width) {
      const Number* const at = data + placeOfRow(of, head, rows, first + row) + column;
      if (of.packed)
        pack = *reinterpret_cast<const Pack<Number>*>(at);
      else
        LOOM_UNROLL for (int k = 0; k < kEach; ++k) if (column + k < of.width) pack.at[k] = at[k];
    }
    *reinterpret_cast<Pack<Number>*>(tile + row * kTileStride<Head::kWidth, Number> + column) = pack;
  }
}

// Two neighbours, at a multiple of both where `together`; else only as many as are still of the head.
template <class T>
__device__ __forceinline__ void storeTwo(Half* at, int left, bool together, float first, float second) {
  const unsigned pair = packed<T>(first, second);
  if (together) {
    if (left > 0) putPair(at, pair);
    return;
  }
  if (left > 0) at[0] = static_cast<Half>(pair);
  if (left > 1) at[1] = static_cast<Half>(pair >> 16);
}
template <class T>
__device__ __forceinline__ void storeTwo(float* at, int left, bool together, float first, float second) {
  if (together) {
    if (left > 0) *reinterpret_cast<Few<float, 2>*>(at) = {{first, second}};
    return;
  }
  if (left > 0) at[0] = first;
  if (left > 1) at[1] = second;
}

// Rows `row` and `row` + 8 of a warp's fragments, times `by` of each; `column` is the first one's in the head.
template <class Head, int kFragments>
__device__ __forceinline__ void storeRows(void* to, const AttentionExtents& of, const TileOfHead& head, int rows,
                                          int row, int column, const float (&d)[kFragments][4], const float (&by)[2]) {
  using T = typename Head::T;
  LOOM_UNROLL for (int half = 0; half < 2; ++half) {
    if (row + 8 * half >= rows) continue;
    auto* const at = static_cast<typename Head::Number*>(to) + placeOfRow(of, head, rows, row + 8 * half);
    LOOM_UNROLL for (int c = 0; c < kFragments; ++c) {
      const int place = column + columnOfFragment<T>(c);
      storeTwo<T>(at + place, static_cast<int>(of.width) - place, of.packed, d[c][2 * half] * by[half],
                  d[c][2 * half + 1] * by[half]);
    }
  }
}

// Of the four lanes that share rows.
__device__ __forceinline__ float rowMax(float value) {
  value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, 1));
  return fmaxf(value, __shfl_xor_sync(kWholeWarp, value, 2));
}
__device__ __forceinline__ float rowSum(float value) {
  value += __shfl_xor_sync(kWholeWarp, value, 1);
  return value + __shfl_xor_sync(kWholeWarp, value, 2);
}

#define LOOM_TILE(name, rows)                                       \
  LOOM_SHARED(Pack<Number>, name##Packs, (rows)*Head::kPacksOfRow); \
  Number* const name = reinterpret_cast<Number*>(name##Packs)

template <class Head>
__global__ void __launch_bounds__(kTileThreads, 4) attentionForward(AttentionForwardArguments a) {
  using T = typename Head::T;
  using Number = typename Head::Number;
  constexpr int kWidth = Head::kWidth, kKeys = Head::kForward;
  LOOM_TILE(queryTile, kTileRows);
  LOOM_TILE(keyTile, kKeys);
  LOOM_TILE(valueTile, kKeys);
  const AttentionExtents& of = a.of;
  const TileOfHead head = tileOfBlock(of, of.queries, 1);
  const int warpRow = static_cast<int>(threadIdx.x) / 32 * 16;
  const int row = head.first + warpRow + groupOfLane(), queries = static_cast<int>(of.queries),
            keys = static_cast<int>(of.keys);
  const float scale = of.scale * kLog2E;  // powers are of two
  loadTile<Head, kTileRows>(queryTile, a.q, of, head, queries, head.first);
  float out[kWidth / 8][4] = {}, highest[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  const int last = head.first + kTileRows, seen = of.causal && last < keys ? last : keys;
  for (int first = 0; first < seen; first += kKeys) {
    __syncthreads();
    loadTile<Head, kKeys>(keyTile, a.k, of, head, keys, first);
    loadTile<Head, kKeys>(valueTile, a.v, of, head, keys, first);
    __syncthreads();
    float s[kKeys / 8][4] = {};
    multiplyTransposed<T, kWidth>(s, queryTile, warpRow, keyTile);
    float top[2] = {highest[0], highest[1]};
    LOOM_UNROLL for (int j = 0; j < kKeys / 8; ++j) LOOM_UNROLL for (int e = 0; e < 4; ++e) {
      const int key = first + 8 * j + 2 * placeOfLane() + e % 2;
      const bool hidden = key >= keys || (of.causal && key > row + 8 * (e / 2));
      s[j][e] = hidden ? -INFINITY : scale * s[j][e];
      top[e / 2] = fmaxf(top[e / 2], s[j][e]);
    }
    LOOM_UNROLL for (int half = 0; half < 2; ++half) {
      top[half] = rowMax(top[half]);
      const float shrunk = exp2f(highest[half] - top[half]);
      highest[half] = top[half];
      sum[half] *= shrunk;
      LOOM_UNROLL for (int c = 0; c < kWidth / 8; ++c) {
        out[c][2 * half] *= shrunk;
        out[c][2 * half + 1] *= shrunk;
      }
    }
    LOOM_UNROLL for (int j = 0; j < kKeys / 8; ++j) LOOM_UNROLL for (int e = 0; e < 4; ++e) {
      s[j][e] = exp2f(s[j][e] - highest[e / 2]);
      sum[e / 2] += s[j][e];
    }
    multiplyFragments<T, kWidth>(out, s, valueTile, 0);
  }
  float by[2];
  LOOM_UNROLL for (int half = 0; half < 2; ++half) {
    const float all = rowSum(sum[half]);
    by[half] = 1 / all;
    if (placeOfLane() == 0 && row + 8 * half < queries)
      a.statistics[head.matrix * queries + row + 8 * half] = (highest[half] + log2f(all)) * kLn2;
  }
  storeRows<Head>(a.y, of, head, queries, row, 0, out, by);
}

template <class T>
__global__ void __launch_bounds__(256) attentionDots(AttentionDotsArguments a) {
  const AttentionExtents& of = a.of;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t rows = of.batch * of.heads * of.queries;
  for (std::int64_t row = firstOfThread() / 32; row < rows; row += threadsOfGrid() / 32) {
    const std::int64_t matrix = row / of.queries;
    const TileOfHead head{matrix / of.heads, matrix % of.heads, matrix, 0, 0};
    const std::int64_t at = placeOfRow(of, head, of.queries, static_cast<int>(row % of.queries));
    const T *const y = static_cast<const T*>(a.y) + at, *const dy = static_cast<const T*>(a.dy) + at;
    float dot = 0;
    for (std::int64_t c = lane; c < of.width; c += 32) dot += toFloat(y[c]) * toFloat(dy[c]);
    dot = warpSum(dot);
    if (lane == 0) a.dots[row] = dot;
  }
}

template <class Head>
__global__ void __launch_bounds__(kTileThreads, 4) attentionToQueries(AttentionBackwardArguments a) {
  using T = typename Head::T;
  using Number = typename Head::Number;
  constexpr int kWidth = Head::kWidth, kKeys = Head::kBackward;
  LOOM_TILE(queryTile, kTileRows);
  LOOM_TILE(slopeTile, kTileRows);
  LOOM_TILE(keyTile, kKeys);
  LOOM_TILE(valueTile, kKeys);
  const AttentionExtents& of = a.of;
  const TileOfHead head = tileOfBlock(of, of.queries, 1);
  const int warpRow = static_cast<int>(threadIdx.x) / 32 * 16;
  const int row = head.first + warpRow + groupOfLane(), queries = static_cast<int>(of.queries),
            keys = static_cast<int>(of.keys);
  const float scale = of.scale * kLog2E;
  loadTile<Head, kTileRows>(queryTile, a.q, of, head, queries, head.first);
  loadTile<Head, kTileRows>(slopeTile, a.dy, of, head, queries, head.first);
  float logSum[2] = {}, dot[2] = {};
  LOOM_UNROLL for (int half = 0; half < 2; ++half) if (row + 8 * half < queries) {
    logSum[half] = a.statistics[head.matrix * queries + row + 8 * half] * kLog2E;
    dot[half] = a.dots[head.matrix * queries + row + 8 * half];
  }
  float dq[kWidth / 8][4] = {};
  const int last = head.first + kTileRows, seen = of.causal && last < keys ? last : keys;
  for (int first = 0; first < seen; first += kKeys) {
    __syncthreads();
    loadTile<Head, kKeys>(keyTile, a.k, of, head, keys, first);
    loadTile<Head, kKeys>(valueTile, a.v, of, head, keys, first);
    __syncthreads();
    float s[kKeys / 8][4] = {}, dp[kKeys / 8][4] = {};
    multiplyTransposed<T, kWidth>(s, queryTile, warpRow, keyTile);
    multiplyTransposed<T, kWidth>(dp, slopeTile, warpRow, valueTile);
    LOOM_UNROLL for (int j = 0; j < kKeys / 8; ++j) LOOM_UNROLL for (int e = 0; e < 4; ++e) {
      const int key = first + 8 * j + 2 * placeOfLane() + e % 2;
      const bool hidden = key >= keys || (of.causal && key > row + 8 * (e / 2));
      const float p = exp2f(scale * s[j][e] - logSum[e / 2]);
      s[j][e] = hidden ? 0.0f : p * (dp[j][e] - dot[e / 2]) * of.scale;
    }
    multiplyFragments<T, kWidth>(dq, s, keyTile, 0);
  }
  const float by[2] = {1, 1};
  storeRows<Head>(a.dq, of, head, queries, row, 0, dq, by);
}

// Scores are transposed here: a row a key.
template <class Head>
__global__ void __launch_bounds__(kTileThreads, 4) attentionToKeys(AttentionBackwardArguments a) {
  using T = typename Head::T;
  using Number = typename Head::Number;
  constexpr int kWidth = Head::kWidth, kColumns = kWidth < kTileColumns ? kWidth : kTileColumns,
                kQueries = Head::kBackward;
  LOOM_TILE(keyTile, kTileRows);
  LOOM_TILE(valueTile, kTileRows);
  LOOM_TILE(queryTile, kQueries);
  LOOM_TILE(slopeTile, kQueries);
  LOOM_SHARED(float, logSums, kQueries);
  LOOM_SHARED(float, dots, kQueries);
  const AttentionExtents& of = a.of;
  const TileOfHead head = tileOfBlock(of, of.keys, kWidth / kColumns);
  const int warpRow = static_cast<int>(threadIdx.x) / 32 * 16, column = head.part * kColumns;
  const int row = head.first + warpRow + groupOfLane(), queries = static_cast<int>(of.queries),
            keys = static_cast<int>(of.keys);
  const float scale = of.scale * kLog2E;
  loadTile<Head, kTileRows>(keyTile, a.k, of, head, keys, head.first);
  loadTile<Head, kTileRows>(valueTile, a.v, of, head, keys, head.first);
  float dk[kColumns / 8][4] = {}, dv[kColumns / 8][4] = {};
  for (int first = of.causal ? head.first : 0; first < queries; first += kQueries) {
    __syncthreads();
    loadTile<Head, kQueries>(queryTile, a.q, of, head, queries, first);
    loadTile<Head, kQueries>(slopeTile, a.dy, of, head, queries, first);
    if (threadIdx.x < kQueries) {
      const int query = first + static_cast<int>(threadIdx.x);
      const std::int64_t at = head.matrix * queries + query;
      logSums[threadIdx.x] = query < queries ? a.statistics[at] * kLog2E : 0.0f;
      dots[threadIdx.x] = query < queries ? a.dots[at] : 0.0f;
    }
    __syncthreads();
    float s[kQueries / 8][4] = {}, dp[kQueries / 8][4] = {};
    multiplyTransposed<T, kWidth>(s, keyTile, warpRow, queryTile);
    multiplyTransposed<T, kWidth>(dp, valueTile, warpRow, slopeTile);
    LOOM_UNROLL for (int j = 0; j < kQueries / 8; ++j) LOOM_UNROLL for (int e = 0; e < 4; ++e) {
      const int place = 8 * j + 2 * placeOfLane() + e % 2;
      const int query = first + place;
      const bool hidden = query >= queries || (of.causal && row + 8 * (e / 2) > query);
      const float p = hidden ? 0.0f : exp2f(scale * s[j][e] - logSums[place]);
      dp[j][e] = hidden ? 0.0f : p * (dp[j][e] - dots[place]) * of.scale;
      s[j][e] = p;
    }
    multiplyFragments<T, kWidth>(dv, s, slopeTile, column);
    multiplyFragments<T, kWidth>(dk, dp, queryTile, column);
  }
  const float by[2] = {1, 1};
  if (a.dk != nullptr) storeRows<Head>(a.dk, of, head, keys, row, column, dk, by);
  if (a.dv != nullptr) storeRows<Head>(a.dv, of, head, keys, row, column, dv, by);
}

#undef LOOM_TILE

using F32Of32 = HeadOf<float, 32>;
using F32Of64 = HeadOf<float, 64>;
using Bf16Of32 = HeadOf<bf16, 32>;
using Bf16Of64 = HeadOf<bf16, 64>;
using Bf16Of128 = HeadOf<bf16, 128>;
using F16Of32 = HeadOf<f16, 32>;
using F16Of64 = HeadOf<f16, 64>;
using F16Of128 = HeadOf<f16, 128>;

#define LOOM_ATTENTION(rowName, kernel, Arguments)                        \
  LOOM_KERNEL_ONE(rowName "_32.f32", kernel<F32Of32>, Arguments),         \
      LOOM_KERNEL_ONE(rowName "_64.f32", kernel<F32Of64>, Arguments),     \
      LOOM_KERNEL_ONE(rowName "_32.bf16", kernel<Bf16Of32>, Arguments),   \
      LOOM_KERNEL_ONE(rowName "_64.bf16", kernel<Bf16Of64>, Arguments),   \
      LOOM_KERNEL_ONE(rowName "_128.bf16", kernel<Bf16Of128>, Arguments), \
      LOOM_KERNEL_ONE(rowName "_32.f16", kernel<F16Of32>, Arguments),     \
      LOOM_KERNEL_ONE(rowName "_64.f16", kernel<F16Of64>, Arguments),     \
      LOOM_KERNEL_ONE(rowName "_128.f16", kernel<F16Of128>, Arguments)

LOOM_KERNELS(attention_tiles, LOOM_ATTENTION("attention_forward", attentionForward, AttentionForwardArguments),
             LOOM_KERNEL("attention_dots", attentionDots, AttentionDotsArguments),
             LOOM_ATTENTION("attention_to_queries", attentionToQueries, AttentionBackwardArguments),
             LOOM_ATTENTION("attention_to_keys", attentionToKeys, AttentionBackwardArguments))

}  // namespace loom::cuda
