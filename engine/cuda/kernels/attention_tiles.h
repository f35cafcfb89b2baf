#pragma once
// Arguments of the kernels in attention_tiles.cuh: attention without a matrix of scores in memory (Dao et al., 2022,
// arXiv 2205.14135), in bf16 and f16 on tensor cores, in f32 without. Tensors stand as the program has them: N x T x C,
// the heads side by side in C. `packed`: a head's width is whole packs of 16 bytes.
#include <cstdint>

namespace loom::cuda {

inline constexpr int kTileRows = 64;  // queries or keys of a block, 16 of each warp
inline constexpr int kTileThreads = 128;
inline constexpr int kWidestHead = 128, kWidestHeadInF32 = 64;  // else its rows do not stay in registers
// Columns of the keys' and values' gradients that a block holds: a wider head is two blocks' work.
inline constexpr int kTileColumns = 64;

struct AttentionExtents {
  std::int64_t batch = 1, queries = 1, keys = 1, heads = 1, width = 1;
  float scale = 1;  // of scores
  bool causal = false, packed = false;
};

// y = softmax(scale q k^T) v of each head; statistics: the natural logarithm of the sum of e^(scale s), N x heads x T.
struct AttentionForwardArguments {
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* y = nullptr;
  float* statistics = nullptr;
  AttentionExtents of;
};

// dots = dy . y of each query, N x heads x T; T as above, a warp a row.
struct AttentionDotsArguments {
  const void *y = nullptr, *dy = nullptr;
  float* dots = nullptr;
  AttentionExtents of;
};

// dq of a block's queries; or dk and dv (either may be null) of a block's keys.
struct AttentionBackwardArguments {
  const void *q = nullptr, *k = nullptr, *v = nullptr, *dy = nullptr;
  const float *statistics = nullptr, *dots = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  AttentionExtents of;
};

}  // namespace loom::cuda
