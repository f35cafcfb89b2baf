#pragma once
// A fake device with somebody in front of it who leaves out one thing, or says it wrongly: what a plan might do, so
// that tests see whether it is found.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/engine/cuda/fake/fake_call.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda::fake {

class ForgetfulDevice final : public Device {
 public:
  explicit ForgetfulDevice(const FakeOptions& options) : m_inner(std::make_shared<FakeDevice>(options)) {}

  FakeDevice& inner() { return *m_inner; }
  // All that was asked for: so many can be forgotten.
  struct Asked {
    std::vector<std::pair<std::string, std::vector<Access>>> calls;  // outside of captures
    std::vector<Call> whole;                                         // the same
    std::vector<DnnGraph> graphs;
    int waits = 0;
  };
  const Asked& asked() const { return m_asked; }
  // The n-th of each, from 0.
  void forgetAccess(int call, int access) { m_call = call, m_access = access; }
  void forgetWait(int nth) { m_wait = nth; }
  void forgetSynchronisations() { m_synchronises = false; }  // with events
  // Calls, and graphs that are planned, go through these on their way, with their number.
  void change(std::function<void(int, Call&)> how) { m_change = std::move(how); }
  void changeGraph(std::function<void(int, DnnGraph&)> how) { m_changeGraph = std::move(how); }

  DeviceFacts facts() const override { return m_inner->facts(); }
  std::byte* allocate(std::size_t bytes, std::string_view what) override { return m_inner->allocate(bytes, what); }
  void release(std::byte* at) noexcept override { m_inner->release(at); }
  std::byte* allocatePinned(std::size_t bytes) override { return m_inner->allocatePinned(bytes); }
  void releasePinned(std::byte* at) noexcept override { m_inner->releasePinned(at); }
  void enqueue(Stream stream, const Call& call, std::span<const Access> accesses, std::string_view origin) override {
    std::vector<Access> declared(accesses.begin(), accesses.end());
    if (static_cast<int>(m_asked.calls.size()) == m_call) declared.erase(declared.begin() + m_access);
    m_asked.calls.emplace_back(fmt::format("{} of layer '{}'", nameOf(call), origin),
                               std::vector<Access>(accesses.begin(), accesses.end()));
    Call asked = call;
    if (m_change) m_change(static_cast<int>(m_asked.whole.size()), asked);
    m_asked.whole.push_back(call);
    m_inner->enqueue(stream, asked, declared, origin);
  }
  void upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) override {
    m_inner->upload(stream, pinned, to, bytes);
  }
  void download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) override {
    m_inner->download(stream, from, pinned, bytes);
  }
  std::unique_ptr<Event> makeEvent() override { return m_inner->makeEvent(); }
  void record(Stream stream, Event& event) override { m_inner->record(stream, event); }
  void wait(Stream stream, const Event& event) override {
    if (m_asked.waits++ != m_wait) m_inner->wait(stream, event);
  }
  void synchronise(const Event& event) override {
    if (m_synchronises) m_inner->synchronise(event);
  }
  void synchronise(Stream stream) override { m_inner->synchronise(stream); }
  void beginCapture(Stream stream) override { m_inner->beginCapture(stream); }
  std::unique_ptr<Graph> endCapture(Stream stream) override { return m_inner->endCapture(stream); }
  void launch(const Graph& graph, Stream stream) override { m_inner->launch(graph, stream); }
  std::shared_ptr<const DnnPlan> plan(const DnnGraph& graph, std::size_t limit) override {
    DnnGraph asked = graph;
    if (m_changeGraph) m_changeGraph(static_cast<int>(m_asked.graphs.size()), asked);
    m_asked.graphs.push_back(graph);
    return m_inner->plan(asked, limit);
  }

 private:
  std::shared_ptr<FakeDevice> m_inner;
  Asked m_asked;
  int m_call = -1, m_access = -1, m_wait = -1;
  std::function<void(int, Call&)> m_change;
  std::function<void(int, DnnGraph&)> m_changeGraph;
  bool m_synchronises = true;
};

}  // namespace loom::cuda::fake
