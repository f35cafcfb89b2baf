#include "engine/comm/network_probe.h"

#include <algorithm>
#include <chrono>

#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

constexpr int kPings = 21, kSums = 7;
constexpr std::size_t kMessage = std::size_t{8} << 20, kSumBytes = std::size_t{1} << 20;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <class Work>
double secondsOf(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

NetworkFigures measureNetwork(Communicator& communicator, const std::string& machine) {
  NetworkFigures figures;
  if (communicator.size() == 1) return figures;
  const std::vector<std::string> machines = allGatherTexts(communicator, machine);
  const auto other =
      std::find_if(machines.begin(), machines.end(), [&](const std::string& each) { return each != machines[0]; });
  figures.acrossMachines = other != machines.end();
  figures.to = figures.acrossMachines ? static_cast<int>(other - machines.begin()) : communicator.size() - 1;

  const int rank = communicator.rank();
  std::vector<std::byte> message(kMessage);
  const auto thereAndBack = [&](std::span<std::byte> data) {
    if (rank == 0) {
      communicator.send(data, figures.to, 1);
      communicator.receive(data.first(1), figures.to, 2);
    } else if (rank == figures.to) {
      communicator.receive(data, 0, 1);
      communicator.send(data.first(1), 0, 2);
    }
  };
  std::vector<double> pings;
  for (int i = 0; i < kPings; ++i) pings.push_back(secondsOf([&] { thereAndBack(std::span(message).first(1)); }));
  figures.delay = median(pings) / 2;
  thereAndBack(message);  // connections and buffers are made by the first
  std::vector<double> times;
  for (int i = 0; i < 3; ++i) times.push_back(secondsOf([&] { thereAndBack(message); }));
  figures.bandwidth = static_cast<double>(kMessage) / std::max(median(times) - figures.delay, 1e-9);

  std::vector<float> sums(kSumBytes / sizeof(float), 1.0f);
  const std::unique_ptr<Reduction> reduction =
      reductionOf({}, Wire::f32, false).make(communicator, {.ranks = communicator.size(), .floats = sums.size()});
  times.clear();
  for (int i = 0; i < kSums; ++i) times.push_back(secondsOf([&] { reduction->finish(sums); }));
  figures.allReduce = median(times);
  figures.allReduceBytes = kSumBytes;
  communicator.broadcast(std::as_writable_bytes(std::span(&figures, 1)), 0);
  return figures;
}

}  // namespace loom
