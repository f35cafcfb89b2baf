#pragma once
// Fake devices of several processes: what their streams exchange goes over a communicator when its turn has come.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "engine/base/error.h"
#include "engine/comm/communicator.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda::fake {

// Throws Error(internal) where ranks do not do the same: in another order, of another size, captured here and not
// there.
class FarStreams final : public StreamRanks {
 public:
  explicit FarStreams(std::unique_ptr<Communicator> group) : m_group(std::move(group)) {}
  int rank() const override { return m_group->rank(); }
  int ranks() const override { return m_group->size(); }
  void begin(const RankExchange& what, void* stream) override {
    std::string said =
        fmt::format("{} by graph {} of", toString(what.kind), static_cast<const FakeLaunch*>(stream)->graph);
    for (const RankExchange::Part& part : what.parts) said += fmt::format(" {} bytes", part.bytes);
    const auto all = allGatherTexts(*m_group, said);
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r] != said)
        throwError(ErrorCode::internal, "ranks do not meet: rank {} does {}, rank {} does {}", rank(), said, r, all[r]);
    for (const RankExchange::Part& part : what.parts) run(what, part);
  }

 private:
  void run(const RankExchange& what, const RankExchange::Part& part) {
    using Kind = RankExchange::Kind;
    const std::span<const std::byte> from(part.from, part.bytes);
    const std::span<std::byte> to(part.to, part.bytes);
    switch (what.kind) {
      case Kind::allReduce:
        if (part.to != part.from) std::memcpy(part.to, part.from, part.bytes);
        return m_group->allReduce({reinterpret_cast<float*>(part.to), part.bytes / sizeof(float)});
      case Kind::allGather:
        return m_group->allGather(from, {part.to, part.bytes * static_cast<std::size_t>(ranks())});
      default:
        throwError(ErrorCode::internal, "{} is not what a training does", toString(what.kind));
    }
  }
  std::unique_ptr<Communicator> m_group;
};

// A communicator whose waits do not stop this process's device: other ranks may wait for it.
class BesideDevice final : public Communicator {
 public:
  BesideDevice(Communicator& inner, FakeDevice& device)
      : Communicator(inner.sharedActivity()), m_inner(inner), m_device(device) {}
  int rank() const override { return m_inner.rank(); }
  int size() const override { return m_inner.size(); }
  std::string name() const override { return m_inner.name(); }
  std::unique_ptr<Communicator> split(int color, int key) override { return progressed().split(color, key); }
  void allReduce(std::span<float> data) override { progressed().allReduce(data); }
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    progressed().reduceScatter(data, part);
  }
  void allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    progressed().allGather(mine, all);
  }
  void allToAll(std::span<const std::byte> parts, std::span<std::byte> received) override {
    progressed().allToAll(parts, received);
  }
  void broadcast(std::span<std::byte> data, int root) override { progressed().broadcast(data, root); }
  void send(std::span<const std::byte> data, int to, int tag) override { progressed().send(data, to, tag); }
  void receive(std::span<std::byte> data, int from, int tag) override { progressed().receive(data, from, tag); }
  void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from, int tag) override {
    progressed().exchange(sent, to, received, from, tag);
  }
  HostReduction* onHost() override { return m_inner.onHost(); }
  void abort(int exitCode) override { m_inner.abort(exitCode); }

 private:
  // The device knows one thread; others exchange what the host has.
  Communicator& progressed() {
    if (std::this_thread::get_id() == m_thread) m_device.progress();
    return m_inner;
  }
  Communicator& m_inner;
  FakeDevice& m_device;
  const std::thread::id m_thread = std::this_thread::get_id();
};

}  // namespace loom::cuda::fake
