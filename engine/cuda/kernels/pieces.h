#pragma once
// Many tensors in one launch: each is cut into pieces, one for a block; which piece is whose stands in tables on the
// device.
#include <cstdint>

namespace loom::cuda {

inline constexpr int kPieceThreads = 256;             // of a block
inline constexpr std::int64_t kPieceElements = 4096;  // four packs of 16 bytes for each of them

// Pieces [firstPiece, firstPiece + pieces) are a tensor's, in order.
struct TensorPieces {
  std::int64_t count = 0;  // elements
  std::int32_t firstPiece = 0, pieces = 0;
};
struct Piece {
  std::int32_t tensor = 0, part = 0;  // elements [part kPieceElements, ...) of it
};

}  // namespace loom::cuda
