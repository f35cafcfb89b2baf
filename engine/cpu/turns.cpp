#include "engine/cpu/turns.h"

namespace loom::cpu {

Turns::Turns(int parts) : m_parts(parts), m_next(std::make_unique<Next[]>(static_cast<std::size_t>(parts))) {}

void Turns::begin(int first, int last) {
  m_first = first;
  m_last = last;
  for (int part = 0; part < m_parts; ++part)
    m_next[static_cast<std::size_t>(part)].turn.store(first, std::memory_order_relaxed);
  m_claimed.store(0, std::memory_order_relaxed);
  m_done.store(0, std::memory_order_relaxed);
  m_now.store(first, std::memory_order_release);
}

bool Turns::claimPart(int turn, int part) {
  std::atomic<int>& next = m_next[static_cast<std::size_t>(part)].turn;
  int expected = turn;
  if (next.load(std::memory_order_relaxed) != turn ||
      !next.compare_exchange_strong(expected, turn + 1, std::memory_order_acq_rel))
    return false;
  m_claimed.fetch_add(1, std::memory_order_relaxed);
  return true;
}

int Turns::claim(int turn, int thread, bool firstIsCallers) {
  if (claimPart(turn, thread)) return thread;
  // Asked once for all parts: threads that are done do not go through each other's cache lines.
  if (m_claimed.load(std::memory_order_relaxed) >= partsUntil(turn)) return -1;
  for (int i = 1; i < m_parts; ++i) {
    const int part = (thread + i) % m_parts;
    if ((part > 0 || !firstIsCallers) && claimPart(turn, part)) return part;
  }
  return -1;
}

}  // namespace loom::cpu
