#pragma once
// The pieces of all ways by where they lie, so that a way asks for those beside it and no others.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace loom {

// A piece of a way that is drawn already: a track (level) or a lane (upright).
struct WirePiece {
  double at;         // y of a track, x of a lane
  double low, high;  // along it
  std::size_t wire;
};

// Pieces by where they lie.
class PieceGrid {
 public:
  void put(const WirePiece& piece, bool level);
  void take(const WirePiece& piece, bool level);
  // Those at most `reach` beside `at` that overlap with (low, high) along; a piece may be met twice.
  template <class Visit>
  bool any(bool level, double at, double reach, double low, double high, Visit visit) const {
    const Cells& cells = level ? m_level : m_upright;
    for (int across = cellOf(at - reach); across <= cellOf(at + reach); ++across)
      for (int along = cellOf(low); along <= cellOf(high); ++along) {
        const auto found = cells.find(keyOf(across, along));
        if (found == cells.end()) continue;
        for (const WirePiece& piece : found->second)
          if (std::abs(piece.at - at) < reach && piece.high > low && piece.low < high && visit(piece)) return true;
      }
    return false;
  }

 private:
  static constexpr double kCell = 256;
  static int cellOf(double at) { return static_cast<int>(std::floor(std::clamp(at / kCell, -1e8, 1e8))); }
  static std::uint64_t keyOf(int across, int along) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(across)) << 32) | static_cast<std::uint32_t>(along);
  }
  using Cells = std::unordered_map<std::uint64_t, std::vector<WirePiece>>;
  Cells m_level, m_upright;
};

}  // namespace loom
