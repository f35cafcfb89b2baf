#include "engine/cpu/crew.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loom::cpu {
namespace {
constexpr double kWindow = 0.25;  // seconds at least
// Before the system has moved other processes to the cores that fewer threads leave free.
constexpr double kSettling = 0.55;  // seconds
constexpr double kFaster = 0.95;    // of the time before is worth a change
constexpr double kClearly = 0.2;    // as much off in two windows decides a trial
constexpr double kChanged = 0.25;   // as much off is another machine than the one of the last trial
// Seconds from a trial with fewer to the next one, and from one with more: the others may have gone.
constexpr double kMostPatience = 60, kMostToGrow = 12;
}  // namespace

bool Crew::add(double seconds, double before) {
  if (m_threads == 1) return false;
  m_seconds += seconds;
  m_earlier += before;
  return m_seconds >= kWindow;
}

Crew::Window Crew::meanOfLast() const {
  Window mean;
  for (const Window& window : m_last) {
    mean.time += window.time / kWindows;
    mean.waiting += window.waiting / kWindows;
  }
  return mean;
}

// A load that ends is no reason: the times before and after would be of two machines.
bool Crew::haveAllWaited() const {
  return std::all_of(m_last.begin(), m_last.end(), [](const Window& window) { return window.waiting > 0; });
}

void Crew::decide(int waiting) {
  const double seconds = std::exchange(m_seconds, 0), earlier = std::exchange(m_earlier, 0);
  const Window window{seconds / earlier, static_cast<double>(waiting)};
  if (m_before != 0)
    judge(window, seconds);
  else
    look(window);
}

void Crew::look(const Window& window) {
  m_last[static_cast<std::size_t>(m_windows++ % kWindows)] = window;
  if (m_pause > 0) --m_pause;
  if (m_windows < kWindows) return;
  const Window mean = meanOfLast();
  const bool mayGrow = m_size < m_threads;
  const bool mayShrink = m_size > 1 && haveAllWaited();
  if (!mayGrow && !mayShrink) m_patience = kLeastPatience;
  const bool goesOn = std::exchange(m_goesOn, false) && (m_growsNext ? mayGrow : mayShrink);
  const bool isLess = mayGrow && mean.time < (1 - kChanged) * m_atTrial;
  const bool isMore = mayShrink && mean.time > (1 + kChanged) * m_atTrial;
  if (m_pause > 0 && !goesOn && !isLess && !isMore) return;
  if (mayGrow && (m_growsNext || isLess || !mayShrink))
    tryMore();
  else if (mayShrink)
    tryFewer(mean.waiting);
}

void Crew::tryMore() {
  tryWith(std::min(2 * m_size, m_threads));
}

// Without those that wait, but not with less than half: where all of them do, it is for each other's cores.
void Crew::tryFewer(double waiting) {
  tryWith(std::max(m_size / 2, m_size - static_cast<int>(std::lround(waiting))));
}

void Crew::tryWith(int size) {
  m_before = std::exchange(m_size, size);
  m_sinceChange = m_sum = 0;
  m_counted = 0;
}

void Crew::judge(const Window& window, double seconds) {
  const bool grew = m_size > m_before;
  m_sinceChange += seconds;
  if (!grew && m_sinceChange < kSettling) return;
  m_sum += window.time;
  const double time = m_sum / ++m_counted, before = meanOfLast().time;
  const bool isClear = m_counted > 1 && std::abs(time - before) > kClearly * before;
  if (m_counted < kWindows && !isClear) return;
  m_goesOn = time < kFaster * before;
  m_growsNext = grew == m_goesOn;
  m_atTrial = m_goesOn ? time : before;
  if (!m_goesOn) m_size = m_before;
  // Of long jobs so many.
  const auto windows = [&](double most) { return std::max(2 * kLeastPatience, static_cast<int>(most / seconds)); };
  m_patience = m_goesOn ? kLeastPatience : std::min(m_patience * (isClear ? 4 : 2), windows(kMostPatience));
  m_pause = std::min(m_patience, windows(m_size < m_threads ? kMostToGrow : kMostPatience));
  m_before = 0;
  m_windows = 0;
}

}  // namespace loom::cpu
