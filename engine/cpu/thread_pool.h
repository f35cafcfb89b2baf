#pragma once
// Threads that work on one job, the caller among them. A thread that waits spins for 50 microseconds, or for up to 250
// where it waited so long before, and then sleeps on a futex: meeting costs nothing on a quiet machine, and a busy one
// gets its cores back. Nobody waits for a thread that the machine has no core for: it takes part in a job when it
// comes, if there is anything left of it.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/cpu/crew.h"

namespace loom::cpu {

// Waits until `word` differs from `old`; answers the new value.
std::uint32_t spinThenSleep(const std::atomic<std::uint32_t>& word, std::uint32_t old);

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return m_size; }
  // Calls job(context, index), index 0 on the caller's thread, and again after each signal(), until it answers on the
  // caller's that the work is over; returns when no thread is in it any more. It answers false where there is nothing
  // to do at the moment. A thread that comes too late is not called. One job at a time: a second caller waits. The job
  // must not throw. Allocates nothing. Within the job denormal numbers count as zero and are stored as zero, on the
  // caller's thread too; afterwards its own mode is back.
  void run(bool (*job)(void* context, int index), void* context);
  // From the next job on threads 0 to `count` - 1 alone take part; the others sleep. Not while a job runs.
  void take(int count);
  // After a job: the seconds that it took, and that one and the same earlier run of it took. On a busy machine fewer
  // threads take part from now on where that is faster, and more again when it is not (crew.h).
  void adapt(double seconds, double before);
  // From within a job: there is something to do again, or the work is over.
  void signal();

 private:
  void work(int index);
  bool enter();
  void leave();
  int countWaiting(double seconds);
  const int m_size;
  std::mutex m_mutex;
  bool (*m_job)(void*, int) = nullptr;
  void* m_context = nullptr;
  alignas(64) std::atomic<std::uint32_t> m_signal{0};
  alignas(64) std::atomic<std::uint32_t> m_gate{0};  // kOpen while there is a job, and how many threads are in it
  std::atomic<bool> m_ending{false};
  std::atomic<int> m_active;  // threads that take part
  Crew m_crew;
  // What a thread stood runnable without a core: where the system says it (-1: it does not), and as last asked.
  struct Delay {
    std::atomic<int> file{-1};
    std::uint64_t nanoseconds = 0;
  };
  const std::unique_ptr<Delay[]> m_delays;  // by thread; of the caller's nothing
  std::vector<std::thread> m_threads;
};

// As many as the affinity mask allows.
int availableThreads();

}  // namespace loom::cpu
