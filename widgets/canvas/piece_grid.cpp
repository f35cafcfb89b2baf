#include "widgets/canvas/piece_grid.h"

namespace loom {

void PieceGrid::put(const WirePiece& piece, bool level) {
  for (int along = cellOf(piece.low); along <= cellOf(piece.high); ++along)
    (level ? m_level : m_upright)[keyOf(cellOf(piece.at), along)].push_back(piece);
}

void PieceGrid::take(const WirePiece& piece, bool level) {
  for (int along = cellOf(piece.low); along <= cellOf(piece.high); ++along) {
    auto& cell = (level ? m_level : m_upright)[keyOf(cellOf(piece.at), along)];
    const auto same = [&](const WirePiece& each) {
      return each.wire == piece.wire && each.at == piece.at && each.low == piece.low && each.high == piece.high;
    };
    if (const auto found = std::find_if(cell.begin(), cell.end(), same); found != cell.end()) cell.erase(found);
  }
}

}  // namespace loom
