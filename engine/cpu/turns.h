#pragma once
// The order of a step's work: turns, one after another, each of as many parts as there are threads. A thread computes
// its own part of a turn, then parts that nobody has begun yet, and so a step never waits for a thread that has no core
// at the moment. What a part computes does not depend on the thread that computes it.
#include <atomic>
#include <cstdint>
#include <memory>

namespace loom::cpu {

class Turns {
 public:
  explicit Turns(int parts);

  // Turns [first, last), while no thread works on any.
  void begin(int first, int last);
  // The turn that is being worked on; all before it are done.
  int now() const { return m_now.load(std::memory_order_acquire); }
  bool over(int turn) const { return turn >= m_last; }
  // A part of this turn for this thread, its own first, -1 where none is left. `firstIsCallers`: thread 0 alone computes
  // part 0.
  int claim(int turn, int thread, bool firstIsCallers);
  // A claimed part of it is done. True: it was the last, and the next turn has begun, or none if `ends`, asked by the
  // last thread alone, says so.
  template <class Ends>
  bool done(int turn, const Ends& ends) {
    if (m_done.fetch_add(1, std::memory_order_acq_rel) + 1 != partsUntil(turn)) return false;
    m_now.store(ends() ? m_last : turn + 1, std::memory_order_release);
    return true;
  }

 private:
  struct alignas(64) Next {
    std::atomic<int> turn{0};  // the first of which nobody has claimed this part
  };
  bool claimPart(int turn, int part);
  // Of the turns from the first up to and with this one.
  std::uint32_t partsUntil(int turn) const { return static_cast<std::uint32_t>((turn - m_first + 1) * m_parts); }

  const int m_parts;
  int m_first = 0, m_last = 0;
  const std::unique_ptr<Next[]> m_next;  // by part
  alignas(64) std::atomic<int> m_now{0};
  alignas(64) std::atomic<std::uint32_t> m_claimed{0};  // parts of all turns since begin()
  alignas(64) std::atomic<std::uint32_t> m_done{0};
};

}  // namespace loom::cpu
