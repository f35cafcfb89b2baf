#pragma once
// The device's part of pieces.h.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/pieces.h"

namespace loom::cuda {

// The piece's elements [first, end) of its tensor; calls visit4(i) for those that a thread takes four at once, and
// visit(i) for what is left over. Pieces and tensors begin at multiples of 16 bytes.
template <class Visit4, class Visit>
__device__ __forceinline__ void overPiece(const TensorPieces& tensor, const Piece& piece, const Visit4& visit4,
                                          const Visit& visit) {
  const std::int64_t first = piece.part * kPieceElements, end = first + kPieceElements;
  const std::int64_t last = end < tensor.count ? end : tensor.count, whole = last - (last - first) % 4;
  for (std::int64_t i = first + 4 * static_cast<int>(threadIdx.x); i < whole; i += 4 * kPieceThreads) visit4(i);
  if (whole + threadIdx.x < last) visit(whole + threadIdx.x);
}

}  // namespace loom::cuda
