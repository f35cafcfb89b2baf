#include "engine/cuda/lowerings/pieces.h"

#include <limits>

#include "engine/base/error.h"

namespace loom::cuda {

Cut cutOf(const std::vector<std::int64_t>& elements) {
  Cut cut;
  for (const std::int64_t count : elements) {
    const std::int64_t pieces = (count + kPieceElements - 1) / kPieceElements;
    if (pieces + static_cast<std::int64_t>(cut.pieces.size()) > std::numeric_limits<std::int32_t>::max())
      throwError(ErrorCode::badArgument, "a step on more than {} elements at once is not possible on a GPU",
                 static_cast<std::int64_t>(cut.pieces.size()) * kPieceElements);
    cut.tensors.push_back({count, static_cast<std::int32_t>(cut.pieces.size()), static_cast<std::int32_t>(pieces)});
    for (std::int64_t part = 0; part < pieces; ++part)
      cut.pieces.push_back({static_cast<std::int32_t>(cut.tensors.size() - 1), static_cast<std::int32_t>(part)});
  }
  return cut;
}

Launch overPieces(const Cut& cut) {
  return {.grid = {static_cast<unsigned>(cut.pieces.size())}, .block = {kPieceThreads}};
}

}  // namespace loom::cuda
