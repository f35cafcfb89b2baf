#include "engine/cpu/thread_pool.h"

#include <immintrin.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>

namespace loom::cpu {
namespace {
constexpr int kSpins = 3000;  // of `pause`: some 50 microseconds

// On this thread, while it lives: numbers below 1.2e-38 count as zero and are stored as zero. Moments of units that no
// sample wakes decay down to there and stay, and some processors take a hundred cycles and more for each such number.
class DenormalsAreZero {
 public:
  DenormalsAreZero() : m_before(_mm_getcsr()) { _mm_setcsr(m_before | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON); }
  ~DenormalsAreZero() { _mm_setcsr(m_before); }
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

 private:
  const unsigned m_before;
};
}  // namespace

std::uint32_t spinThenSleep(const std::atomic<std::uint32_t>& word, std::uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    const std::uint32_t now = word.load(std::memory_order_acquire);
    if (now != old) return now;
    __builtin_ia32_pause();
  }
  std::uint32_t now = word.load(std::memory_order_acquire);
  while (now == old) {
    word.wait(old, std::memory_order_acquire);
    now = word.load(std::memory_order_acquire);
  }
  return now;
}

bool Barrier::wait() {
  if (m_count == 1) return true;
  const std::uint32_t phase = m_phase.load(std::memory_order_acquire);
  if (m_broken.load(std::memory_order_acquire)) return false;
  if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_count) {
    m_arrived.store(0, std::memory_order_relaxed);
    m_phase.store(phase + 1, std::memory_order_release);
    m_phase.notify_all();
  } else {
    spinThenSleep(m_phase, phase);
  }
  return !m_broken.load(std::memory_order_acquire);
}

void Barrier::breakUp() {
  m_broken.store(true, std::memory_order_release);
  m_phase.fetch_add(1, std::memory_order_acq_rel);
  m_phase.notify_all();
}

void Barrier::reset() {
  m_broken.store(false, std::memory_order_relaxed);
  m_arrived.store(0, std::memory_order_relaxed);
}

ThreadPool::ThreadPool(int threads) : m_size(std::max(1, threads)), m_barrier(m_size) {
  for (int i = 1; i < m_size; ++i) m_threads.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  m_ending = true;
  m_generation.fetch_add(1, std::memory_order_release);
  m_generation.notify_all();
  for (auto& thread : m_threads) thread.join();
}

void ThreadPool::work(int index) {
  const DenormalsAreZero flush;
  omp_set_num_threads(1);  // oneDNN primitives run on this thread alone; the pool divides the work
  std::uint32_t seen = 0;
  for (;;) {
    seen = spinThenSleep(m_generation, seen);
    if (m_ending) return;
    m_job(m_context, index);
    if (m_running.fetch_sub(1, std::memory_order_acq_rel) == 1) m_running.notify_all();
  }
}

void ThreadPool::run(void (*job)(void*, int), void* context) {
  std::lock_guard lock(m_mutex);
  m_job = job;
  m_context = context;
  m_barrier.reset();
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  if (m_size > 1) {
    m_running.store(static_cast<std::uint32_t>(m_size - 1), std::memory_order_relaxed);
    m_generation.fetch_add(1, std::memory_order_release);
    m_generation.notify_all();
  }
  {
    const DenormalsAreZero flush;
    job(context, 0);
  }
  std::uint32_t left = m_running.load(std::memory_order_acquire);
  while (left != 0) left = spinThenSleep(m_running, left);
  omp_set_num_threads(before);
}

int availableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace loom::cpu
