#pragma once
// A thread for what may take its time; one task after another, in the order in which they came.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace loom {

class Worker {
 public:
  Worker() = default;
  ~Worker();  // what waits is still done, unless it was dropped
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(std::string name, std::function<void()> task);
  void drain();  // waits until everything is done
  void drop();   // what has not begun will not

  struct Busy {
    std::string name;
    std::chrono::seconds since;
    std::size_t waiting;
  };
  // The task that is being worked on, where it takes longer than `least`.
  std::optional<Busy> busy(std::chrono::milliseconds least) const;

 private:
  struct Task {
    std::string name;
    std::function<void()> run;
  };
  void serve();
  mutable std::mutex m_mutex;
  std::condition_variable m_wake, m_idle;
  std::deque<Task> m_tasks;  // the first one is being worked on
  std::chrono::steady_clock::time_point m_begun{};
  bool m_working = false, m_ending = false;
  std::thread m_thread;
};

}  // namespace loom
