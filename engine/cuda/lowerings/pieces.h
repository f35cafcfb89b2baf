#pragma once
// Tables of tensors that are worked on in one launch (kernels/pieces.h).
#include "engine/cuda/kernels/pieces.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

template <class T>
std::vector<std::byte> bytesOfTable(const std::vector<T>& table) {
  const auto bytes = std::as_bytes(std::span(table));
  return {bytes.begin(), bytes.end()};
}

// How tensors with these numbers of elements are cut.
struct Cut {
  std::vector<TensorPieces> tensors;
  std::vector<Piece> pieces;
};
Cut cutOf(const std::vector<std::int64_t>& elements);
// A block a piece.
Launch overPieces(const Cut& cut);

}  // namespace loom::cuda
