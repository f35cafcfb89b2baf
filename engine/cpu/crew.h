#pragma once
// How many threads of a pool take part in its jobs. Beside other busy processes threads that meet after each stage wait
// for whichever of them has no core at the moment, and get less done than fewer would (figures in
// tests/bench/README.md). So where some stand waiting for cores the pool is tried without them, later with more again,
// and what is faster stays. It changes nothing about numbers: which thread computes a part does not.
#include <array>

namespace loom::cpu {

class Crew {
 public:
  // Who stands runnable without a core for this share of the time counts as waiting.
  static constexpr double kWaiting = 0.2;

  explicit Crew(int threads) : m_threads(threads), m_size(threads) {}

  int size() const { return m_size; }
  // A job took `seconds`, and one of its first runs took `before`. Answers whether enough jobs were added for decide().
  bool add(double seconds, double before);
  // What the jobs since the last decide() took.
  double seconds() const { return m_seconds; }
  // Chooses size() for the jobs to come. `waiting`: how many of the threads that took part, without the caller's,
  // waited for a core in that time.
  void decide(int waiting);

 private:
  // A window of jobs: how many times as long as the earlier ones they took, and how many threads waited.
  struct Window {
    double time = 0, waiting = 0;
  };
  static constexpr int kWindows = 4;  // that are compared
  static constexpr int kLeastPatience = 8;

  Window meanOfLast() const;
  bool haveAllWaited() const;
  void look(const Window& window);
  void tryMore();
  void tryFewer(double waiting);
  void tryWith(int size);
  void judge(const Window& window, double seconds);

  const int m_threads;
  int m_size;
  double m_seconds = 0, m_earlier = 0;       // of the window so far
  std::array<Window, kWindows> m_last = {};  // with m_size threads or, during a trial, with m_before
  int m_windows = 0;                         // since the size is what it is
  int m_before = 0;                          // the size before the trial; 0: none goes on
  double m_sinceChange = 0;                  // seconds of the trial
  double m_sum = 0;                          // of the times of those of its windows that count
  int m_counted = 0;
  double m_atTrial = 0;             // the time with this size when a trial last ended
  bool m_growsNext = false;         // the trial that comes, where both are possible
  bool m_goesOn = false;            // that way at once: the last trial was won
  int m_pause = 0;                  // windows until the next trial otherwise
  int m_patience = kLeastPatience;  // its length, which trials that are lost make longer
};

}  // namespace loom::cpu
