#pragma once
// The order of a step's work: turns, one after another, each of as many parts as there are threads, and a part of one
// piece or several. A thread computes the pieces of its own part from the first on, then those of others from the last
// on that nobody has begun yet: a step never waits for a thread that has no core at the moment, and for one that has a
// slow core no longer than a piece takes. What a piece computes does not depend on the thread that computes it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace loom::cpu {

class Turns {
 public:
  struct Claim {
    int part = -1, piece = 0;  // no part: nothing is left
    explicit operator bool() const { return part >= 0; }
  };

  // `pieces`: of each part, by turn; 1 to 32767 each.
  Turns(int parts, const std::vector<int>& pieces);

  // Turns [first, last), while no thread works on any.
  void begin(int first, int last);
  // The turn that is being worked on; all before it are done.
  int now() const { return m_now.load(std::memory_order_acquire); }
  bool over(int turn) const { return turn >= m_last; }
  // A piece of this turn for this thread, of its own part first. `firstIsCallers`: thread 0 alone computes part 0.
  Claim claim(int turn, int thread, bool firstIsCallers);
  // A claimed piece of it is done. True: it was the last, and the next turn has begun, or none if `ends`, asked by the
  // last thread alone before any other goes on, says so.
  template <class Ends>
  bool done(int turn, const Ends& ends) {
    if (m_done.fetch_add(1, std::memory_order_acq_rel) + 1 != piecesUntil(turn)) return false;
    m_now.store(ends() ? m_last : turn + 1, std::memory_order_release);
    return true;
  }

 private:
  // What nobody has claimed yet of one part: the pieces [first, last) of a turn, and all pieces of later turns. One
  // word, so that a claim is one exchange: the turn in bits 32 to 63, `first` in 16 to 31, `last` in 0 to 15.
  struct alignas(64) Left {
    std::atomic<std::uint64_t> word{0};
  };
  int claimPiece(int turn, int part, bool fromTheLast);
  int piecesOf(int turn) const {
    const auto at = static_cast<std::size_t>(turn);
    return static_cast<int>(m_before[at + 1] - m_before[at]);
  }
  // Of the turns from the first up to and with this one, of all parts.
  std::uint32_t piecesUntil(int turn) const {
    const std::uint32_t first = m_before[static_cast<std::size_t>(m_first)];
    return (m_before[static_cast<std::size_t>(turn) + 1] - first) * static_cast<std::uint32_t>(m_parts);
  }

  const int m_parts;
  std::vector<std::uint32_t> m_before;  // pieces of a part in the turns before
  int m_first = 0, m_last = 0;
  const std::unique_ptr<Left[]> m_left;  // by part
  alignas(64) std::atomic<int> m_now{0};
  alignas(64) std::atomic<std::uint32_t> m_claimed{0};  // pieces of all turns since begin()
  alignas(64) std::atomic<std::uint32_t> m_done{0};
};

}  // namespace loom::cpu
