#include "tests/engine/cuda/fake/fake_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/program/out_of_memory.h"
#include "tests/engine/cuda/fake/fake_call.h"
#include "tests/engine/cuda/fake/interpreters.h"

namespace loom::cuda::fake {
namespace {

constexpr unsigned char kSpoilt = 0xa7;  // what stands in pinned memory before its download ran
constexpr std::size_t kPinnedAlignment = 256;

std::string nameOf(Stream stream) {
  constexpr const char* kNames[] = {"compute", "upload", "exchange"};
  return kNames[laneOf(stream)];
}

}  // namespace

struct FakeDevice::FakeEvent final : Event {
  explicit FakeEvent(std::shared_ptr<int> living) : m_living(std::move(living)) { ++*m_living; }
  ~FakeEvent() override { --*m_living; }
  Moment at{};
  bool recorded = false;
  int capture = 0;  // in which it was recorded; 0: in none
  std::array<std::uint64_t, kStreams> captured{};

 private:
  std::shared_ptr<int> m_living;
};

struct FakeDevice::FakeGraph final : Graph {
  FakeGraph(std::shared_ptr<int> living, std::vector<Captured> all, int ofExchanges)
      : tasks(std::move(all)), number(ofExchanges), m_living(std::move(living)) {
    ++*m_living;
  }
  ~FakeGraph() override { --*m_living; }
  std::vector<Captured> tasks;
  int number;

 private:
  std::shared_ptr<int> m_living;
};

FakeDevice::FakeDevice(const FakeOptions& options) : m_options(options), m_order(options.seed) {}

FakeDevice::~FakeDevice() {
  if (!m_lost) {
    Moment all{};
    for (int l = 0; l < kLanes; ++l) all[static_cast<std::size_t>(l)] = m_order.issued(l);
    try {
      m_order.reach(all);
    } catch (const Error& error) {
      lose(error);
    }
  }
  if (m_lost && !m_told) ADD_FAILURE() << "the fake device met a fault: " << m_lost->what();
  for (const std::string& name : m_memory.names()) ADD_FAILURE() << "'" << name << "' was never released";
  if (!m_pinned.empty()) ADD_FAILURE() << m_pinned.size() << " blocks of pinned memory were never released";
  if (*m_living != 0) ADD_FAILURE() << *m_living << " events or graphs outlive their device";
}

void FakeDevice::lose(const Error& error) {
  if (!m_lost) m_lost = error;
  m_order.drop();
}

template <class Do>
void FakeDevice::guarded(const Do& what) {
  if (m_lost) throw Error(*m_lost);
  try {
    what();
  } catch (const Error& error) {
    lose(error);
    throw;
  }
}

std::optional<std::string> FakeDevice::takeFault() {
  m_told = true;
  return m_lost ? std::optional(std::string(m_lost->what())) : std::nullopt;
}

void FakeDevice::expectNoCapture(const char* what) const {
  if (m_capture) throwError(ErrorCode::internal, "{} during a capture, which no GPU allows", what);
}

DeviceFacts FakeDevice::facts() const {
  return {.name = "a fake for tests",
          .computeCapability = 90,
          .multiprocessors = 4,
          .memoryBytes = m_options.memoryBytes,
          .freeBytes = m_options.memoryBytes - m_memory.used()};
}

// --- Memory

std::byte* FakeDevice::allocate(std::size_t bytes, std::string_view what) {
  guarded([&] { expectNoCapture("memory is allocated"); });
  ++m_allocations;
  const std::size_t free = m_options.memoryBytes - m_memory.used();
  if ((m_failAllocation > 0 && --m_failAllocation == 0) || bytes > free)
    throw OutOfMemory(
        fmt::format("there is no room on the GPU for {}: {} bytes are wanted and {} are free", what, bytes, free),
        bytes, free);
  return m_memory.allocate(bytes, what);
}

void FakeDevice::release(std::byte* at) noexcept {
  try {
    if (!m_lost) expectNoCapture("memory is released");
    const std::size_t bytes = m_memory.bytesOf(at);
    if (const std::string* user = m_order.pending(at, bytes))
      throwError(ErrorCode::internal, "memory is released while {} may still use it", *user);
    m_memory.release(at);
  } catch (const Error& error) {
    lose(error);
  }
}

std::byte* FakeDevice::allocatePinned(std::size_t bytes) {
  guarded([&] { expectNoCapture("pinned memory is allocated"); });
  ++m_allocations;
  if (m_failAllocation > 0 && --m_failAllocation == 0)
    throwError(ErrorCode::device, "there is no room for {} bytes of pinned memory", bytes);
  Pinned pinned{std::make_unique<std::byte[]>(bytes + kPinnedAlignment), nullptr, bytes};
  const auto at = reinterpret_cast<std::uintptr_t>(pinned.storage.get());
  pinned.data = pinned.storage.get() + (kPinnedAlignment - at % kPinnedAlignment) % kPinnedAlignment;
  std::memset(pinned.data, kSpoilt, bytes);
  m_pinned.push_back(std::move(pinned));
  return m_pinned.back().data;
}

void FakeDevice::releasePinned(std::byte* at) noexcept {
  try {
    if (!m_lost) expectNoCapture("pinned memory is released");
    const auto found =
        std::find_if(m_pinned.begin(), m_pinned.end(), [&](const Pinned& one) { return one.data == at; });
    if (found == m_pinned.end())
      throwError(ErrorCode::internal, "pinned memory is released that was never allocated, or is released twice");
    if (const std::string* user = m_order.pending(at, found->bytes))
      throwError(ErrorCode::internal, "pinned memory is released while {} may still use it", *user);
    m_pinned.erase(found);
  } catch (const Error& error) {
    lose(error);
  }
}

void FakeDevice::expectPinned(const std::byte* at, std::size_t bytes, const std::string& who) const {
  for (const Pinned& one : m_pinned)
    if (at >= one.data && at + bytes <= one.data + one.bytes) return;
  throwError(ErrorCode::internal, "{} takes {} bytes of the host's memory that are not pinned", who, bytes);
}

// --- Work

void FakeDevice::progress() {
  guarded([&] { m_order.progress(); });
}

void FakeDevice::start(int lane, const Moment& at, const Task& task, int graph) {
  for (const Access& access : task.device) m_memory.expectWithin(access, task.name);
  for (const Access& access : task.host) expectPinned(access.data, access.bytes, task.name);
  std::vector<Access> touches = task.device;
  touches.insert(touches.end(), task.host.begin(), task.host.end());
  const auto work = task.begin(graph);
  m_order.enqueue(lane, at, {task.name, std::move(touches), [this, work, name = task.name] {
                               ++m_calls;
                               if (m_failCall > 0 && --m_failCall == 0)
                                 throwError(ErrorCode::device, "{}: an illegal memory access was encountered", name);
                               work();
                             }});
}

void FakeDevice::submit(Stream stream, Task task) {
  const auto s = static_cast<std::size_t>(laneOf(stream));
  if (isCaptured(stream)) {
    auto& at = m_capture->now[s];
    ++at[s];
    m_capture->tasks.push_back({static_cast<int>(s), at, std::make_shared<const Task>(std::move(task))});
    return;
  }
  merge(now(stream), m_order.host());
  start(laneOf(stream), now(stream), task);
  now(stream)[s] = m_order.issued(laneOf(stream));
  m_order.wander();
}

void FakeDevice::expectStarted(const Call& call, bool captured) {
  if (const auto* kernel = std::get_if<KernelCall>(&call)) {
    expectKernel(*kernel);
    if (captured && !m_started.contains(kernel->kernel))
      throwError(ErrorCode::internal,
                 "kernel '{}' is captured before it was ever started: it would be loaded during the capture",
                 kernel->kernel);
    m_started.insert(kernel->kernel);
  } else if (const auto* graph = std::get_if<DnnCall>(&call)) {
    if (captured && !m_plansRun.contains(graph->plan.get()))
      throwError(ErrorCode::internal, "plan '{}' is captured before it ever ran: it would be loaded during the capture",
                 graph->plan->name);
    m_plansRun.insert(graph->plan.get());
  } else if (const auto* exchange = std::get_if<CollectiveCall>(&call)) {
    if (!exchange->ranks) throwError(ErrorCode::internal, "{} has no ranks", nameOf(call));
    const std::pair connection(exchange->ranks.get(), exchange->what.kind);
    if (captured && !m_connected.contains(connection))
      throwError(ErrorCode::internal, "{} is captured before its ranks did one: they would connect during the capture",
                 nameOf(call));
    m_connected.insert(connection);
  }
}

void FakeDevice::enqueue(Stream stream, const Call& call, std::span<const Access> accesses, std::string_view origin) {
  guarded([&] {
    expectStarted(call, isCaptured(stream));
    std::string name = nameOf(call);
    if (!origin.empty()) name += fmt::format(" (layer '{}')", origin);
    Task task{name, {accesses.begin(), accesses.end()}, {}, {}, std::holds_alternative<CollectiveCall>(call)};
    std::erase_if(task.device, [](const Access& access) { return access.bytes == 0; });
    task.begin = [this, call = std::make_shared<const Call>(call), name, all = task.device](int graph) {
      return [this, call, name, all, graph] { runCall(*call, name, all, graph); };
    };
    submit(stream, std::move(task));
  });
}

void FakeDevice::runCall(const Call& call, const std::string& name, std::span<const Access> accesses, int graph) {
  if (const auto* exchange = std::get_if<CollectiveCall>(&call)) {
    FakeLaunch launch{graph};
    m_memory.runPlainly(name, accesses, [&](bool) {
      if (m_options.computes) exchange->ranks->begin(exchange->what, &launch);
    });
    return;
  }
  const FakeMemory::Work work = [&](bool backwards) {
    run(call, {name, m_options.seed, backwards, m_options.barriers});
  };
  if (!m_options.computes)
    m_memory.runPlainly(name, accesses, [](bool) {});
  else if (m_options.checkedCalls < 0 || m_calls <= m_options.checkedCalls)
    m_memory.runChecked(name, accesses, work);
  else
    m_memory.runPlainly(name, accesses, work);
}

void FakeDevice::upload(Stream stream, const std::byte* pinned, std::byte* to, std::size_t bytes) {
  guarded([&] {
    Task task{fmt::format("an upload of {} bytes", bytes), {{to, bytes, true}}, {{pinned, bytes, false}}, {}};
    task.begin = [this, pinned, to, bytes, name = task.name, accesses = task.device](int) {
      return [=, this, wanted = std::vector<std::byte>(pinned, pinned + bytes)] {
        if (std::memcmp(wanted.data(), pinned, bytes) != 0)
          throwError(ErrorCode::internal, "{}: its pinned memory was changed before it ran", name);
        m_memory.runPlainly(name, accesses, [&](bool) { std::memcpy(to, pinned, bytes); });
      };
    };
    submit(stream, std::move(task));
  });
}

void FakeDevice::download(Stream stream, const std::byte* from, std::byte* pinned, std::size_t bytes) {
  guarded([&] {
    Task task{fmt::format("a download of {} bytes", bytes), {{from, bytes, false}}, {{pinned, bytes, true}}, {}};
    task.begin = [this, pinned, from, bytes, name = task.name, accesses = task.device](int) {
      std::memset(pinned, kSpoilt, bytes);
      return [=, this] { m_memory.runPlainly(name, accesses, [&](bool) { std::memcpy(pinned, from, bytes); }); };
    };
    submit(stream, std::move(task));
  });
}

// --- Order

std::unique_ptr<Event> FakeDevice::makeEvent() {
  return std::make_unique<FakeEvent>(m_living);
}

void FakeDevice::record(Stream stream, Event& event) {
  guarded([&] {
    auto& mine = static_cast<FakeEvent&>(event);
    mine.recorded = true;
    mine.capture = 0;
    if (isCaptured(stream)) {
      mine.capture = m_capture->number;
      mine.captured = m_capture->now[static_cast<std::size_t>(laneOf(stream))];
      return;
    }
    merge(now(stream), m_order.host());
    mine.at = now(stream);
  });
}

void FakeDevice::wait(Stream stream, const Event& event) {
  guarded([&] {
    const auto& mine = static_cast<const FakeEvent&>(event);
    if (!mine.recorded)
      throwError(ErrorCode::internal, "stream '{}' waits for an event that was never recorded, which orders nothing",
                 nameOf(stream));
    if (mine.capture != 0) {
      if (!m_capture || m_capture->number != mine.capture)
        throwError(ErrorCode::internal, "stream '{}' waits for an event of a capture that has ended", nameOf(stream));
      const auto s = static_cast<std::size_t>(laneOf(stream));
      m_capture->joined[s] = true;
      for (std::size_t k = 0; k < kStreams; ++k)
        m_capture->now[s][k] = std::max(m_capture->now[s][k], mine.captured[k]);
    } else if (isCaptured(stream)) {
      throwError(ErrorCode::internal, "stream '{}' is captured and waits for an event from outside of the capture",
                 nameOf(stream));
    } else {
      merge(now(stream), mine.at);
    }
  });
}

void FakeDevice::waitOnHost(const Moment& moment) {
  const int compute = laneOf(Stream::compute);
  m_idleWaits += moment[static_cast<std::size_t>(compute)] >= m_order.issued(compute);
  m_order.reach(moment);
}

void FakeDevice::synchronise(const Event& event) {
  guarded([&] {
    const auto& mine = static_cast<const FakeEvent&>(event);
    expectNoCapture("the host waits");
    if (!mine.recorded || mine.capture != 0)
      throwError(ErrorCode::internal, "the host waits for an event that was never recorded, or in a capture");
    waitOnHost(mine.at);
  });
}

void FakeDevice::synchronise(Stream stream) {
  guarded([&] {
    expectNoCapture("the host waits");
    waitOnHost(now(stream));
  });
}

// --- Graphs

void FakeDevice::beginCapture(Stream stream) {
  guarded([&] {
    expectNoCapture("a capture begins");
    m_capture.emplace();
    m_capture->number = ++m_captures;
    m_capture->origin = laneOf(stream);
    m_capture->joined[static_cast<std::size_t>(laneOf(stream))] = true;
  });
}

std::unique_ptr<Graph> FakeDevice::endCapture(Stream stream) {
  std::unique_ptr<Graph> graph;
  guarded([&] {
    if (!m_capture || m_capture->origin != laneOf(stream))
      throwError(ErrorCode::internal, "the capture that ends on stream '{}' did not begin there", nameOf(stream));
    Capture capture = *std::exchange(m_capture, std::nullopt);
    for (std::size_t s = 0; s < kStreams; ++s)
      if (capture.now[s][s] > capture.now[static_cast<std::size_t>(capture.origin)][s])
        throwError(ErrorCode::internal, "stream '{}' was drawn into the capture and does not come back before its end",
                   nameOf(static_cast<Stream>(s)));
    const bool exchanges = std::ranges::any_of(capture.tasks, [](const Captured& one) { return one.task->exchanges; });
    graph = std::make_unique<FakeGraph>(m_living, std::move(capture.tasks), exchanges ? ++m_exchangeGraphs : 0);
  });
  return graph;
}

void FakeDevice::launch(const Graph& graph, Stream stream) {
  guarded([&] {
    if (isCaptured(stream)) throwError(ErrorCode::internal, "a graph is launched on a stream that is captured");
    ++m_launches;
    merge(now(stream), m_order.host());
    std::array<std::uint64_t, kStreams> base{};
    for (int s = 0; s < kStreams; ++s) base[static_cast<std::size_t>(s)] = m_order.issued(laneWithin(stream, s));
    const auto& mine = static_cast<const FakeGraph&>(graph);
    for (const Captured& one : mine.tasks) {
      Moment at = now(stream);
      for (std::size_t s = 0; s < kStreams; ++s)
        if (one.at[s] > 0) at[static_cast<std::size_t>(laneWithin(stream, static_cast<int>(s)))] = base[s] + one.at[s];
      start(laneWithin(stream, one.stream), at, *one.task, mine.number);
    }
    for (int s = 0; s < kStreams; ++s) {
      const int lane = laneWithin(stream, s);
      now(stream)[static_cast<std::size_t>(lane)] = m_order.issued(lane);
    }
    m_order.wander();
  });
}

std::shared_ptr<const DnnPlan> FakeDevice::plan(const DnnGraph& graph, std::size_t workspaceLimit) {
  guarded([&] { expectNoCapture("a plan is made"); });
  if (m_options.refuses && m_options.refuses(graph))
    throwError(ErrorCode::device, "a graph of {} operations: no engine computes it", graph.operations.size());
  return planOf(graph, workspaceLimit);
}

}  // namespace loom::cuda::fake
