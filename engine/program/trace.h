#pragma once
// What happened when, in the format of browsers' trace viewers (chrome://tracing, Perfetto). Memory is taken once; what
// does not fit any more is dropped, so a trace shows the first steps of a run. Any thread; recording takes no lock.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace loom {

class Trace {
 public:
  using Clock = std::chrono::system_clock;  // comparable between processes of one machine
  enum class Lane { compute, communication, data };
  static constexpr std::size_t kNameLength = 39;  // of which are kept

  explicit Trace(std::size_t capacity = 200000) : m_events(capacity) {}
  // Keeps the beginnings of `name` and `detail`, which a program that ends may take with it. `bytes` < 0 = none.
  void add(Lane lane, const char* name, const char* detail, Clock::time_point begin, Clock::time_point end,
           std::int64_t bytes = -1);
  std::size_t recorded() const { return std::min(m_next.load(std::memory_order_relaxed), m_events.size()); }
  // What was recorded from the `from`-th on: tell(lane, name, detail, seconds). Between two steps alone.
  template <class Tell>
  void each(std::size_t from, const Tell& tell) const {
    for (std::size_t i = from; i < recorded(); ++i)
      tell(m_events[i].lane, m_events[i].name, m_events[i].detail,
           std::chrono::duration<double>(m_events[i].end - m_events[i].begin).count());
  }
  void restart() { m_next.store(0, std::memory_order_relaxed); }  // what was recorded is overwritten
  void end() { m_events = {}; }                                   // nothing is recorded any more
  bool full() const { return m_next.load(std::memory_order_relaxed) >= m_events.size(); }
  // The events of this process as elements of "traceEvents", without the brackets around them.
  std::string events(int rank, const std::string& host) const;
  // A whole file from the events() of all ranks.
  static std::string file(const std::vector<std::string>& ofRanks);

 private:
  struct Event {
    char name[kNameLength + 1] = {}, detail[80] = {};
    Clock::time_point begin, end;
    std::int64_t bytes = -1;
    Lane lane = Lane::compute;
  };
  std::vector<Event> m_events;
  std::atomic<std::size_t> m_next{0};
};

}  // namespace loom
