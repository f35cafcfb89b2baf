#include "engine/comm/reductions/host_reduction.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <map>

#include "engine/base/host.h"

namespace loom {
namespace {

constexpr std::size_t kChunk = std::size_t{1}
                               << 19;  // floats summed at once: what a few ranks hold of it stays in the cache
constexpr std::size_t kLine = 16;      // floats of a cache line: shares begin on one
constexpr int kSpins = 200;

struct Places {
  int host = 0, index = 0, hosts = 0;
  bool even = true;  // every host has equally many ranks, and more than one
};

Places placesOf(const std::vector<std::string>& machines, std::size_t rank) {
  Places places;
  std::map<std::string, std::pair<int, int>> seen;  // number of the host, ranks on it
  for (std::size_t r = 0; r < machines.size(); ++r) {
    auto& [host, ranks] = seen.try_emplace(machines[r], static_cast<int>(seen.size()), 0).first->second;
    if (r == rank) places.host = host, places.index = ranks;
    ++ranks;
  }
  places.hosts = static_cast<int>(seen.size());
  for (const auto& [name, host] : seen) places.even &= host.second == seen.begin()->second.second && host.second > 1;
  return places;
}

}  // namespace

std::string machineOfRank() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return hostName() + "|" + boot;
}

struct HostReduction::Shared {
  alignas(64) std::atomic<std::uint32_t> arrived;
  alignas(64) std::atomic<std::uint32_t> phase;
  alignas(64) float floats[1];  // the result, then each rank's chunk
};

std::unique_ptr<HostReduction> HostReduction::make(Communicator& all) {
  const Places places = placesOf(allGatherTexts(all, machineOfRank()), static_cast<std::size_t>(all.rank()));
  if (!places.even) return nullptr;
  auto host = all.split(places.host, all.rank());
  auto across = places.hosts > 1 ? all.split(places.index, all.rank()) : nullptr;
  const std::size_t bytes = sizeof(Shared) + (static_cast<std::size_t>(host->size()) + 1) * kChunk * sizeof(float);
  // The first rank of a host makes it. Its name is gone as soon as all have opened it: nothing stays behind, whoever
  // dies.
  std::string name = fmt::format("/gradloom-{}-{}", ::getpid(), places.host);
  int file = -1;
  if (host->rank() == 0) {
    file = ::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    // Room is taken now: a full /dev/shm would otherwise end a rank by a signal later.
    if (file >= 0 && ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
      ::shm_unlink(name.c_str());
      ::close(file);
      file = -1;
    }
    if (file < 0) name.clear();
  }
  name = broadcastText(*host, name);
  if (host->rank() != 0 && !name.empty()) file = ::shm_open(name.c_str(), O_RDWR, 0);
  void* memory = file < 0 ? MAP_FAILED : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) ::close(file);
  float missing = memory == MAP_FAILED ? 1 : 0;
  all.allReduce(std::span(&missing, 1));
  if (host->rank() == 0 && !name.empty()) ::shm_unlink(name.c_str());
  if (missing > 0) {
    if (memory != MAP_FAILED) ::munmap(memory, bytes);
    return nullptr;
  }
  return std::unique_ptr<HostReduction>(
      new HostReduction(std::move(host), std::move(across), static_cast<Shared*>(memory), bytes));
}

HostReduction::HostReduction(std::unique_ptr<Communicator> host, std::unique_ptr<Communicator> across, Shared* shared,
                             std::size_t bytes)
    : m_host(std::move(host)),
      m_across(std::move(across)),
      m_shared(shared),
      m_bytes(bytes),
      m_rank(m_host->rank()),
      m_ranks(m_host->size()) {}

HostReduction::~HostReduction() {
  ::munmap(m_shared, m_bytes);
}

float* HostReduction::input(int rank) const {
  return m_shared->floats + (static_cast<std::size_t>(rank) + 1) * kChunk;
}

// The memory begins as zeros, and so do both counts.
void HostReduction::meet() {
  const std::uint32_t phase = m_shared->phase.load(std::memory_order_acquire);
  if (m_shared->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<std::uint32_t>(m_ranks)) {
    m_shared->arrived.store(0, std::memory_order_relaxed);
    m_shared->phase.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &m_shared->phase, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    return;
  }
  for (int spins = 0; m_shared->phase.load(std::memory_order_acquire) == phase;)
    if (++spins > kSpins) ::syscall(SYS_futex, &m_shared->phase, FUTEX_WAIT, phase, nullptr, nullptr, 0);
}

void HostReduction::run(std::span<float> data) {
  CollectiveActivity& activity = m_host->activity();
  activity.during("all-reduce", [&] {
    while (!data.empty()) {
      const auto chunk = data.first(std::min(data.size(), kChunk));
      runChunk(chunk);
      data = data.subspan(chunk.size());
      activity.progress.fetch_add(1, std::memory_order_relaxed);
    }
  });
}

void HostReduction::runChunk(std::span<float> data) {
  const auto ranks = static_cast<std::size_t>(m_ranks), mine = static_cast<std::size_t>(m_rank);
  const std::size_t part = ((data.size() + ranks - 1) / ranks + kLine - 1) / kLine * kLine;
  const auto begin = [&](std::size_t r) { return std::min(r * part, data.size()); };
  const auto copy = [&](std::size_t first, std::size_t last, const float* from, float* to) {
    std::memcpy(to + first, from + first, (last - first) * sizeof(float));
  };
  // What others sum; my own share is read where it is.
  copy(0, begin(mine), data.data(), input(m_rank));
  copy(begin(mine + 1), data.size(), data.data(), input(m_rank));
  meet();
  const std::size_t first = begin(mine), last = begin(mine + 1);
  float* const result = m_shared->floats;
  const auto of = [&](int rank) { return rank == m_rank ? data.data() : input(rank); };
  const float *one = of(0), *other = of(1);
  for (std::size_t i = first; i < last; ++i) result[i] = one[i] + other[i];
  for (int r = 2; r < m_ranks; ++r) {
    const float* next = of(r);
    for (std::size_t i = first; i < last; ++i) result[i] += next[i];
  }
  if (m_across && last > first) m_across->sumInParts(std::span(result + first, last - first));
  // Chunks of this round are read by nobody any more; the result is read until the next meeting.
  meet();
  copy(0, data.size(), result, data.data());
}

}  // namespace loom
