#include "engine/cpu/core_distance.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace loom::cpu {
namespace {

constexpr int kTries = 5, kTrips = 400;
constexpr long kPatience = 2'000'000;  // looks at the line for one answer: some milliseconds
constexpr int kGivenUp = -1;
constexpr std::size_t kMostOthers = 8;  // evenly among all: sockets and caches come by the dozen of cores

std::vector<int> usableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

class Line {
 public:
  void send(int word) { m_word.store(word, std::memory_order_release); }
  // False: it did not come, or the other side waits no longer.
  bool await(int word) {
    for (long looked = 0; looked < kPatience; ++looked) {
      const int now = m_word.load(std::memory_order_acquire);
      if (now == word) return true;
      if (now == kGivenUp) return false;
    }
    send(kGivenUp);
    return false;
  }

 private:
  alignas(64) std::atomic<int> m_word{0};
};

void stayOn(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

double distanceOf(int here, int there) {
  using Clock = std::chrono::steady_clock;
  Line line;
  std::thread answers([&line, there] {
    stayOn(there);
    for (int trip = 0; trip < kTries * kTrips && line.await(2 * trip + 1); ++trip) line.send(2 * trip + 2);
  });
  double least = 0;
  std::thread asks([&line, &least, here] {
    stayOn(here);
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const Clock::time_point began = Clock::now();
      for (int trip = attempt * kTrips; trip < (attempt + 1) * kTrips; ++trip) {
        line.send(2 * trip + 1);
        if (!line.await(2 * trip + 2)) return;
      }
      const double seconds = std::chrono::duration<double>(Clock::now() - began).count() / kTrips;
      least = least == 0 ? seconds : std::min(least, seconds);
    }
  });
  asks.join();
  answers.join();
  return least;
}

}  // namespace

double coreDistance(int threads) {
  const std::vector<int> cores = usableCores();
  const std::size_t count = std::min(cores.size(), static_cast<std::size_t>(std::max(threads, 0)));
  const std::size_t others = count == 0 ? 0 : std::min(count - 1, kMostOthers);
  double farthest = 0;
  for (std::size_t i = 1; i <= others; ++i)
    farthest = std::max(farthest, distanceOf(cores.front(), cores[i * (count - 1) / others]));
  return farthest;
}

}  // namespace loom::cpu
