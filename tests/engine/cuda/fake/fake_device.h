#pragma once
// A GPU that there is not: work runs late, in a seeded order that streams and events allow, kernels by the emulator,
// products and graphs by interpreters; and what a real one would do wrongly in silence is Error(internal) here, thrown
// by the call that meets it and by every call after it, as a lost GPU does:
// - memory that two streams reach with nothing that orders them; that a call reaches and does not declare; that nobody
//   has written, that was released, or that does not exist;
// - pinned memory that changes before its upload ran (a download's is spoilt until it ran);
// - in a capture, what no capture allows: allocation, synchronisation, a kernel never started before, a stream that
//   does not come back;
// - a library's workspace that is not aligned as it must be;
// - kernels that depend on the order of threads (emulator.h), or are not there.
// Exchanges between ranks run once, in turn; whoever stands for the ranks is told, in place of a stream's handle, the
// number of the graph that the exchange is part of (FakeLaunch).
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/cuda/device.h"
#include "tests/engine/cuda/fake/emulator.h"
#include "tests/engine/cuda/fake/fake_memory.h"
#include "tests/engine/cuda/fake/fake_order.h"

namespace loom::cuda::fake {

// What a fake's ranks find behind the handle of a stream.
struct FakeLaunch {
  int graph = 0;  // of those with exchanges, in the order of their captures; 0: it was enqueued by itself
};

struct FakeOptions {
  std::uint64_t seed = 1;
  std::size_t memoryBytes = std::size_t{1} << 30;
  std::function<bool(const DnnGraph&)> refuses;  // graphs that this device has no engine for; null: none
  int checkedCalls = -1;  // so many of the first run twice and checked byte by byte, others once; -1: all
  const Device::Timing* timing = nullptr;  // of ways to compute the same
  bool captures = true;                    // false: as a device that is asked for each call by itself
  bool computes = true;                    // false: calls are looked at and leave memory as it is
  emulator::Barriers* barriers = nullptr;  // that kernels meet at, or pass by
};

class FakeDevice final : public Device {
 public:
  explicit FakeDevice(const FakeOptions& options = {});
  ~FakeDevice() override;  // a GoogleTest failure names what was not given back, and a fault that nobody asked about

  DeviceFacts facts() const override;
  std::byte* allocate(std::size_t bytes, std::string_view what) override;
  void release(std::byte* at) noexcept override;
  std::byte* allocatePinned(std::size_t bytes) override;
  void releasePinned(std::byte* at) noexcept override;
  void enqueue(Stream stream, const Call& call, std::span<const Access> accesses, std::string_view origin) override;
  void upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) override;
  void download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) override;
  std::unique_ptr<Event> makeEvent() override;
  void record(Stream stream, Event& event) override;
  void wait(Stream stream, const Event& event) override;
  void synchronise(const Event& event) override;
  void synchronise(Stream stream) override;
  void beginCapture(Stream stream) override;
  std::unique_ptr<Graph> endCapture(Stream stream) override;
  void launch(const Graph& graph, Stream stream) override;
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t workspaceLimit) override;
  const Timing* timing() override { return m_options.timing; }
  bool captures() const override { return m_options.captures; }

  // --- For tests.
  // The n-th from now fails with Error(device), once; a call does when it runs, and the device is lost then.
  void failAllocation(int nth) { m_failAllocation = nth; }
  void failCall(int nth) { m_failCall = nth; }
  // Runs what it may of what was enqueued, as a GPU does by itself; the host does not wait for it.
  void progress();
  // The fault that was met, if any; the device no longer complains of it when it ends.
  std::optional<std::string> takeFault();
  const std::set<std::string>& kernelsStarted() const { return m_started; }
  std::size_t usedBytes() const { return m_memory.used(); }
  int allocations() const { return m_allocations; }
  int calls() const { return m_calls; }        // that ran
  int launches() const { return m_launches; }  // of graphs
  // Waits of the host for all that the compute stream had before it: a real one would stand idle then.
  int idleWaits() const { return m_idleWaits; }

 private:
  struct Pinned {
    std::unique_ptr<std::byte[]> storage;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  // Something to do, each time that it is launched: begin() when it is enqueued, what that answers when it runs.
  struct Task {
    std::string name;
    std::vector<Access> device, host;
    std::function<std::function<void()>(int graph)> begin;
    bool exchanges = false;  // between ranks
  };
  struct Captured {
    int stream = 0;
    std::array<std::uint64_t, kStreams> at{};
    std::shared_ptr<const Task> task;
  };
  struct FakeGraph;
  struct FakeEvent;
  struct Capture {
    int number = 0, origin = 0;
    std::array<bool, kStreams> joined{};
    std::array<std::array<std::uint64_t, kStreams>, kStreams> now{};
    std::vector<Captured> tasks;
  };

  // Runs it and keeps its error: the device is lost from then on.
  template <class Do>
  void guarded(const Do& what);
  void lose(const Error& error);
  void expectNoCapture(const char* what) const;
  bool isCaptured(Stream stream) const {
    return m_capture && m_capture->joined[static_cast<std::size_t>(laneOf(stream))];
  }
  void submit(Stream stream, Task task);
  void start(int lane, const Moment& at, const Task& task, int graph = 0);
  void runCall(const Call& call, const std::string& name, std::span<const Access> accesses, int graph);
  void expectStarted(const Call& call, bool captured);
  Moment& now(Stream stream) { return m_now[static_cast<std::size_t>(laneOf(stream))]; }
  void expectPinned(const std::byte* at, std::size_t bytes, const std::string& who) const;

  FakeOptions m_options;
  FakeMemory m_memory;
  std::vector<Pinned> m_pinned;
  FakeOrder m_order;
  std::array<Moment, kStreams> m_now{};
  std::optional<Capture> m_capture;
  std::optional<Error> m_lost;
  bool m_told = false;
  std::set<std::string> m_started;
  std::set<const DnnPlan*> m_plansRun;
  std::set<std::pair<const StreamRanks*, RankExchange::Kind>> m_connected;
  std::shared_ptr<int> m_living = std::make_shared<int>(0);  // events and graphs
  int m_failAllocation = 0, m_failCall = 0, m_captures = 0, m_exchangeGraphs = 0;
  void waitOnHost(const Moment& moment);
  int m_allocations = 0, m_calls = 0, m_launches = 0, m_idleWaits = 0;
};

}  // namespace loom::cuda::fake
