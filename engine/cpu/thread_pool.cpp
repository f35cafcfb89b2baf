#include "engine/cpu/thread_pool.h"

#include <fcntl.h>
#include <immintrin.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace loom::cpu {
namespace {
// How long a thread spins before it sleeps. To wake it takes the others 15 us and itself 30: where it has slept for
// little more it spins longer the next time, where the wait was a long one (a thread without a core) less.
constexpr std::chrono::microseconds kLeastSpin{50}, kMostSpin{250};
constexpr int kPausesBetweenLooksAtTheClock = 32;
constexpr std::uint32_t kOpen = 1u << 31;

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
  using Clock = std::chrono::steady_clock;
  thread_local Clock::duration spin = kLeastSpin;
  const auto begin = Clock::now();
  Clock::duration waited{};
  do {
    for (int i = 0; i < kPausesBetweenLooksAtTheClock; ++i) {  // a `pause` takes 15 to 50 nanoseconds
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old) return now;
      __builtin_ia32_pause();
    }
    waited = Clock::now() - begin;
  } while (waited < spin);
  std::uint32_t now = word.load(std::memory_order_acquire);
  while (now == old) {
    word.wait(old, std::memory_order_acquire);
    now = word.load(std::memory_order_acquire);
  }
  waited = Clock::now() - begin;
  spin = waited < kMostSpin ? std::min<Clock::duration>(waited * 2, kMostSpin)
                            : std::max<Clock::duration>(spin / 2, kLeastSpin);
  return now;
}

ThreadPool::ThreadPool(int threads)
    : m_size(std::max(1, threads)),
      m_active(m_size),
      m_crew(m_size),
      m_delays(std::make_unique<Delay[]>(static_cast<std::size_t>(m_size))) {
  for (int i = 1; i < m_size; ++i) m_threads.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  m_ending = true;
  take(m_size);
  signal();
  for (auto& thread : m_threads) thread.join();
  for (int i = 0; i < m_size; ++i)
    if (const int file = m_delays[static_cast<std::size_t>(i)].file; file >= 0) ::close(file);
}

void ThreadPool::take(int count) {
  m_active.store(count, std::memory_order_release);
  m_active.notify_all();
}

// How many threads but the caller's stood runnable without a core for long in the last `seconds`; none where the
// system does not say.
int ThreadPool::countWaiting(double seconds) {
  int waiting = 0;
  for (int i = 1; i < m_size; ++i) {
    Delay& delay = m_delays[static_cast<std::size_t>(i)];
    char text[96];  // nanoseconds that it ran, and waited, and how often it ran
    const ssize_t length = ::pread(delay.file.load(), text, sizeof text, 0);
    if (length <= 0) continue;
    const char *const end = text + length, *const second = std::find(static_cast<const char*>(text), end, ' ');
    std::uint64_t now = 0;
    if (second != end) std::from_chars(second + 1, end, now);
    const double waited = 1e-9 * static_cast<double>(now - std::exchange(delay.nanoseconds, now));
    if (i < m_crew.size() && waited >= Crew::kWaiting * seconds) ++waiting;
  }
  return waiting;
}

void ThreadPool::adapt(double seconds, double before) {
  std::lock_guard lock(m_mutex);
  if (!m_crew.add(seconds, before)) return;
  const int size = m_crew.size();
  m_crew.decide(countWaiting(m_crew.seconds()));
  if (m_crew.size() != size) take(m_crew.size());
}

void ThreadPool::signal() {
  m_signal.fetch_add(1, std::memory_order_acq_rel);
  m_signal.notify_all();
}

bool ThreadPool::enter() {
  std::uint32_t gate = m_gate.load(std::memory_order_relaxed);
  while ((gate & kOpen) != 0)
    if (m_gate.compare_exchange_weak(gate, gate + 1, std::memory_order_acq_rel)) return true;
  return false;
}

void ThreadPool::leave() {
  if (m_gate.fetch_sub(1, std::memory_order_acq_rel) == 1) m_gate.notify_all();
}

void ThreadPool::work(int index) {
  const DenormalsAreZero flush;
  omp_set_num_threads(1);  // oneDNN primitives run on this thread alone; the pool divides the work
  m_delays[static_cast<std::size_t>(index)].file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  for (;;) {
    for (int active; (active = m_active.load(std::memory_order_acquire)) <= index;)
      m_active.wait(active, std::memory_order_acquire);
    const std::uint32_t seen = m_signal.load(std::memory_order_acquire);
    if (m_ending) return;
    if (enter()) {
      if (index < m_active.load(std::memory_order_acquire)) m_job(m_context, index);
      leave();  // before waiting: the end of a job then need not wake this thread up
    }
    spinThenSleep(m_signal, seen);
  }
}

void ThreadPool::run(bool (*job)(void*, int), void* context) {
  std::lock_guard lock(m_mutex);
  m_job = job;
  m_context = context;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  m_gate.store(kOpen, std::memory_order_release);
  if (m_size > 1) signal();
  {
    const DenormalsAreZero flush;
    for (;;) {
      const std::uint32_t seen = m_signal.load(std::memory_order_acquire);
      if (job(context, 0)) break;
      spinThenSleep(m_signal, seen);
    }
  }
  std::uint32_t inside = m_gate.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (inside != 0) inside = spinThenSleep(m_gate, inside);
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
