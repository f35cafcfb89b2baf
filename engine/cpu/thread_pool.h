#pragma once
// Threads that run one job together, the caller among them. A thread that waits spins for some ten microseconds and
// then sleeps on a futex: barriers cost nothing on a quiet machine, and a busy one gets its cores back.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace loom::cpu {

// Waits until `word` differs from `old`; answers the new value.
std::uint32_t spinThenSleep(const std::atomic<std::uint32_t>& word, std::uint32_t old);

// All of `count` threads meet. Reusable at once.
class Barrier {
 public:
  explicit Barrier(int count) : m_count(count) {}
  // False: a thread that will not come has broken the barrier up.
  bool wait();
  // Lets all who wait go, and whoever comes later, until reset().
  void breakUp();
  // While nobody waits.
  void reset();

 private:
  const int m_count;
  std::atomic<bool> m_broken{false};
  alignas(64) std::atomic<int> m_arrived{0};
  alignas(64) std::atomic<std::uint32_t> m_phase{0};
};

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return m_size; }
  Barrier& barrier() { return m_barrier; }
  // Calls job(context, index) on every thread, index 0 on the caller's; returns when all have ended. One job at a time:
  // a second caller waits. The job must not throw. Allocates nothing. The barrier is whole at its start. Within the job
  // denormal numbers count as zero and are stored as zero, on the caller's thread too; afterwards its own mode is back.
  void run(void (*job)(void* context, int index), void* context);

 private:
  void work(int index);
  const int m_size;
  Barrier m_barrier;  // for the job's own use
  std::mutex m_mutex;
  void (*m_job)(void*, int) = nullptr;
  void* m_context = nullptr;
  alignas(64) std::atomic<std::uint32_t> m_generation{0};
  alignas(64) std::atomic<std::uint32_t> m_running{0};
  std::atomic<bool> m_ending{false};
  std::vector<std::thread> m_threads;
};

// As many as the affinity mask allows.
int availableThreads();

}  // namespace loom::cpu
