#include "engine/comm/reductions/links.h"

#include <algorithm>
#include <chrono>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/messages.h"

namespace loom {
namespace {

constexpr int kPings = 21, kMessages = 3;
// The larger where the smaller one takes less than 10 ms: a slow network is known by less.
constexpr std::size_t kSmall = std::size_t{1} << 18, kLarge = std::size_t{1} << 22;
constexpr double kQuick = 0.01;

// Messages between two ranks, timed by the first.
class Pair {
 public:
  Pair(Communicator& ranks, int first, int second) : m_ranks(ranks), m_first(first), m_second(second) {}

  Link measure() {
    Link link;
    link.delay = secondsOf(1, kPings);
    double small = secondsOf(kSmall, kMessages);
    m_ranks.broadcast(std::as_writable_bytes(std::span(&small, 1)), m_first);
    const bool quick = small < kQuick;
    const double seconds = quick ? secondsOf(kLarge, kMessages) : small;
    link.bandwidth = static_cast<double>(quick ? kLarge : kSmall) / std::max(seconds - link.delay, 1e-9);
    m_ranks.broadcast(std::as_writable_bytes(std::span(&link, 1)), m_first);
    return link;
  }

 private:
  // One way: the way back is a message of one byte, of which half there and back takes as long. The median.
  double secondsOf(std::size_t bytes, int times) {
    m_message.resize(std::max(m_message.size(), bytes));
    std::vector<double> taken;
    for (int i = 0; i <= times; ++i) {  // connections and buffers are made by the first
      const auto begin = std::chrono::steady_clock::now();
      thereAndBack(std::span(m_message).first(bytes));
      taken.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    taken.erase(taken.begin());
    std::nth_element(taken.begin(), taken.begin() + times / 2, taken.end());
    const double median = taken[static_cast<std::size_t>(times / 2)];
    if (bytes == 1) return m_delay = median / 2;
    return std::max(median - m_delay, 1e-9);
  }

  void thereAndBack(std::span<std::byte> data) {
    if (m_ranks.rank() == m_first) {
      m_ranks.send(data, m_second, kReductionTag);
      m_ranks.receive(data.first(1), m_second, kReductionTag);
    } else if (m_ranks.rank() == m_second) {
      m_ranks.receive(data, m_first, kReductionTag);
      m_ranks.send(data.first(1), m_first, kReductionTag);
    }
  }

  Communicator& m_ranks;
  int m_first, m_second;
  double m_delay = 0;
  std::vector<std::byte> m_message;
};

}  // namespace

int ranksPerHost(const std::vector<std::string>& machines) {
  std::vector<int> runs;
  for (std::size_t r = 0; r < machines.size(); ++r) {
    if (r > 0 && machines[r] == machines[r - 1])
      ++runs.back();
    else
      runs.push_back(1);
  }
  if (runs.size() == 1) return 0;
  const bool even = std::all_of(runs.begin(), runs.end(), [&](int run) { return run == runs.front(); });
  return even ? runs.front() : 1;
}

MeasuredLinks measureLinks(Communicator& communicator, const std::string& machine) {
  MeasuredLinks measured;
  if (communicator.size() == 1) return measured;
  const std::vector<std::string> machines = allGatherTexts(communicator, machine);
  measured.perHost = ranksPerHost(machines);
  const auto size = static_cast<int>(machines.size());
  const auto pairOf = [&](bool same) {
    for (int first = 0; first < size; ++first)
      for (int second = first + 1; second < size; ++second)
        if ((machines[static_cast<std::size_t>(first)] == machines[static_cast<std::size_t>(second)]) == same)
          return std::pair(first, second);
    return std::pair(0, 0);
  };
  for (const bool same : {true, false})
    if (const auto [first, second] = pairOf(same); second > 0)
      (same ? measured.links.within : measured.links.between) = Pair(communicator, first, second).measure();
  return measured;
}

}  // namespace loom
