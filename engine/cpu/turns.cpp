#include "engine/cpu/turns.h"

namespace loom::cpu {
namespace {

struct Pieces {
  int turn, first, last;
};
std::uint64_t wordOf(const Pieces& p) {
  return static_cast<std::uint64_t>(p.turn) << 32 | static_cast<std::uint64_t>(p.first) << 16 |
         static_cast<std::uint64_t>(p.last);
}
Pieces piecesIn(std::uint64_t word) {
  return {static_cast<int>(word >> 32), static_cast<int>(word >> 16 & 0xffff), static_cast<int>(word & 0xffff)};
}

}  // namespace

Turns::Turns(int parts, const std::vector<int>& pieces)
    : m_parts(parts), m_before(1, 0), m_left(std::make_unique<Left[]>(static_cast<std::size_t>(parts))) {
  for (int count : pieces) m_before.push_back(m_before.back() + static_cast<std::uint32_t>(count));
}

void Turns::begin(int first, int last) {
  m_first = first;
  m_last = last;
  for (int part = 0; part < m_parts && first < last; ++part)
    m_left[static_cast<std::size_t>(part)].word.store(wordOf({first, 0, piecesOf(first)}), std::memory_order_relaxed);
  m_claimed.store(0, std::memory_order_relaxed);
  m_done.store(0, std::memory_order_relaxed);
  m_now.store(first, std::memory_order_release);
}

int Turns::claimPiece(int turn, int part, bool fromTheLast) {
  std::atomic<std::uint64_t>& word = m_left[static_cast<std::size_t>(part)].word;
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  for (;;) {
    Pieces left = piecesIn(seen);
    // A turn before is done: the first who asks finds nothing claimed of this one.
    if (left.turn < turn) left = {turn, 0, piecesOf(turn)};
    if (left.turn > turn || left.first == left.last) return -1;
    const int piece = fromTheLast ? --left.last : left.first++;
    if (!word.compare_exchange_weak(seen, wordOf(left), std::memory_order_acq_rel)) continue;
    m_claimed.fetch_add(1, std::memory_order_relaxed);
    return piece;
  }
}

Turns::Claim Turns::claim(int turn, int thread, bool firstIsCallers) {
  if (const int piece = claimPiece(turn, thread, false); piece >= 0) return {thread, piece};
  // Asked once for all parts: threads that are done do not go through each other's cache lines.
  if (m_claimed.load(std::memory_order_relaxed) >= piecesUntil(turn)) return {};
  for (int i = 1; i < m_parts; ++i) {
    const int part = (thread + i) % m_parts;
    if (part == 0 && firstIsCallers) continue;
    if (const int piece = claimPiece(turn, part, true); piece >= 0) return {part, piece};
  }
  return {};
}

}  // namespace loom::cpu
