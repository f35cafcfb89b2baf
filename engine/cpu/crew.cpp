#include "engine/cpu/crew.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace loom::cpu {
namespace {
constexpr double kWindow = 0.25;  // seconds at least
// Before the system has moved other processes to the cores that fewer threads leave free.
constexpr double kSettling = 0.55;      // seconds
constexpr double kBusy = 0.1;           // threads that wait for longer than this share of the time may be too many
constexpr double kFaster = 0.95;        // of the time before is worth a change
constexpr double kClearly = 0.2;        // as much off is no chance
constexpr double kMostPatience = 12.0;  // seconds
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
    mean.waited += window.waited / kWindows;
  }
  return mean;
}

void Crew::decide(double waited) {
  const double seconds = std::exchange(m_seconds, 0), earlier = std::exchange(m_earlier, 0);
  const Window window{seconds / earlier, waited};
  if (m_before != 0) return judge(window, seconds);
  // Long jobs are tried every so many of them.
  const int most = std::max(kLeastPatience, static_cast<int>(kMostPatience / seconds));
  m_pause = std::min(m_pause, most);
  m_patience = std::min(m_patience, most);
  look(window);
}

void Crew::look(const Window& window) {
  m_last[static_cast<std::size_t>(m_windows++ % kWindows)] = window;
  if (m_pause > 0) --m_pause;
  if (m_windows < kWindows) return;
  const Window mean = meanOfLast();
  const bool mayGrow = m_size < m_threads;
  const bool mayShrink = m_size > 1 && mean.waited >= kBusy;
  if (!mayGrow && !mayShrink) m_patience = kLeastPatience;
  const bool areOthersGone = mayGrow && mean.time < (1 - kClearly) * m_atTrial;
  if (m_pause > 0 && !areOthersGone) return;
  if (mayGrow && (m_growsNext || !mayShrink || areOthersGone))
    tryWith(std::min(2 * m_size, m_threads));
  else if (mayShrink)
    tryWith(m_size / 2);
}

void Crew::tryWith(int size) {
  m_growsNext = size < m_size;  // the other way the next time
  m_before = std::exchange(m_size, size);
  m_sinceChange = m_sum = 0;
  m_counted = 0;
}

void Crew::judge(const Window& window, double seconds) {
  m_sinceChange += seconds;
  if (m_size < m_before && m_sinceChange < kSettling) return;
  m_sum += window.time;
  const double time = m_sum / ++m_counted, before = meanOfLast().time;
  const bool isClear = m_counted > 1 && std::abs(time - before) > kClearly * before;
  if (m_counted < kWindows && !isClear) return;
  const bool isFaster = time < kFaster * before;
  m_atTrial = isFaster ? time : before;
  m_patience = isFaster ? kLeastPatience : 2 * m_patience;
  m_pause = m_patience;
  if (!isFaster) m_size = m_before;
  m_before = 0;
  m_windows = 0;
}

}  // namespace loom::cpu
