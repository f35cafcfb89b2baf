#pragma once
// How long each call of a step takes by itself: a device before another, which captures each call that passes and has
// it launched and timed.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/device.h"

namespace loom::cuda {

// Of one launch, by the host's clock: the least of a few means over launches that follow each other, so that what the
// host takes to begin and to wait is shared by all of them.
inline double secondsByClock(Device& device, const Graph& graph) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTrials = 3, kRuns = 20;
  double best = 0;
  for (int trial = 0; trial <= kTrials; ++trial) {  // the first is not counted
    const Clock::time_point begin = Clock::now();
    for (int k = 0; k < kRuns; ++k) device.launch(graph, Stream::compute);
    device.synchronise(Stream::compute);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() / kRuns;
    if (trial == 1 || (trial > 1 && seconds < best)) best = seconds;
  }
  return best;
}

class StageTimes final : public Device {
 public:
  using SecondsOf = std::function<double(Device&, const Graph&)>;
  explicit StageTimes(std::shared_ptr<Device> inner, SecondsOf secondsOf = secondsByClock)
      : m_inner(std::move(inner)), m_secondsOf(std::move(secondsOf)) {}

  // From now on; a call must have run before, since no capture loads what it needs.
  void begin() { m_measures = true; }
  struct Time {
    std::string call, origin;
    double seconds = 0;
  };
  std::vector<Time> end() {
    m_measures = false;
    return std::exchange(m_times, {});
  }

  DeviceFacts facts() const override { return m_inner->facts(); }
  std::byte* allocate(std::size_t bytes, std::string_view what) override { return m_inner->allocate(bytes, what); }
  void release(std::byte* at) noexcept override { m_inner->release(at); }
  std::byte* allocatePinned(std::size_t bytes) override { return m_inner->allocatePinned(bytes); }
  void releasePinned(std::byte* at) noexcept override { m_inner->releasePinned(at); }
  void enqueue(Stream stream, const Call& call, std::span<const Access> accesses, std::string_view origin) override {
    if (m_measures && stream == Stream::compute) {
      m_inner->synchronise(Stream::compute);
      m_inner->beginCapture(Stream::compute);
      m_inner->enqueue(Stream::compute, call, accesses, origin);
      const std::unique_ptr<Graph> graph = m_inner->endCapture(Stream::compute);
      m_times.push_back({nameOf(call), std::string(origin), m_secondsOf(*m_inner, *graph)});
      m_inner->synchronise(Stream::compute);
    } else {
      m_inner->enqueue(stream, call, accesses, origin);
    }
  }
  void upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) override {
    m_inner->upload(stream, pinned, to, bytes);
  }
  void download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) override {
    m_inner->download(stream, from, pinned, bytes);
  }
  std::unique_ptr<Event> makeEvent() override { return m_inner->makeEvent(); }
  void record(Stream stream, Event& event) override { m_inner->record(stream, event); }
  void wait(Stream stream, const Event& event) override { m_inner->wait(stream, event); }
  void synchronise(const Event& event) override { m_inner->synchronise(event); }
  void synchronise(Stream stream) override { m_inner->synchronise(stream); }
  void beginCapture(Stream stream) override { m_inner->beginCapture(stream); }
  std::unique_ptr<Graph> endCapture(Stream stream) override { return m_inner->endCapture(stream); }
  void launch(const Graph& graph, Stream stream) override { m_inner->launch(graph, stream); }
  bool captures() const override { return false; }
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t limit) override {
    return m_inner->plan(graph, limit);
  }
  const Timing* timing() override { return m_inner->timing(); }

 private:
  std::shared_ptr<Device> m_inner;
  SecondsOf m_secondsOf;
  bool m_measures = false;
  std::vector<Time> m_times;
};

}  // namespace loom::cuda
