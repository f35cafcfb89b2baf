#pragma once
// Ranks that all do as this one, the first: what it would hear from others is what it says. On streams and through the
// host, so that a program of several ranks runs in one process.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "engine/program/collectives.h"
#include "engine/program/stream_ranks.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda::fake {

class EchoGroup final : public RankGroup {
 public:
  explicit EchoGroup(int ranks) : m_ranks(ranks) {}
  int rank() const override { return 0; }
  int ranks() const override { return m_ranks; }
  void allGather(std::span<const float> mine, std::span<float> all) override {
    for (int r = 0; r < m_ranks; ++r)
      std::memcpy(&all[static_cast<std::size_t>(r) * mine.size()], mine.data(), mine.size_bytes());
  }
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<float>(m_ranks) * data[i];
  }
  void broadcast(std::span<float>, int) override {}
  void reduce(std::span<float> data, int root) override {
    for (float& one : data) one *= root == 0 ? static_cast<float>(m_ranks) : 0;
  }
  void send(std::span<const float> data, int, int) override { m_message.assign(data.begin(), data.end()); }
  void receive(std::span<float> data, int, int) override { std::copy_n(m_message.begin(), data.size(), data.begin()); }
  std::shared_ptr<StreamRanks> onStreams() override { return streams; }
  void allReduce(std::span<float> data) const {
    for (float& one : data) one *= static_cast<float>(m_ranks);
  }

  std::shared_ptr<StreamRanks> streams;

 private:
  int m_ranks;
  std::vector<float> m_message;
};

class EchoStreams final : public StreamRanks {
 public:
  explicit EchoStreams(int ranks) : m_group(ranks) {}
  int rank() const override { return 0; }
  int ranks() const override { return m_group.ranks(); }
  void begin(const RankExchange& what, void* stream) override {
    if (begun) begun(what, *static_cast<const FakeLaunch*>(stream));
    for (const RankExchange::Part& part : what.parts) run(what, part);
  }

  std::function<void(const RankExchange&, const FakeLaunch&)> begun;

 private:
  void run(const RankExchange& what, const RankExchange::Part& part) {
    using Kind = RankExchange::Kind;
    const std::size_t count = part.bytes / sizeof(float);
    const std::span from(reinterpret_cast<const float*>(part.from), count);
    const std::span to(reinterpret_cast<float*>(part.to), count);
    const bool copies = what.kind == Kind::allReduce || what.kind == Kind::broadcast || what.kind == Kind::reduce;
    if (copies && part.to != part.from) std::memcpy(part.to, part.from, part.bytes);
    switch (what.kind) {
      case Kind::allReduce:
        return m_group.allReduce(to);
      case Kind::allGather:
        return m_group.allGather(from, {to.data(), count * static_cast<std::size_t>(ranks())});
      case Kind::reduceScatter:
        return m_group.reduceScatter({from.data(), count * static_cast<std::size_t>(ranks())}, to);
      case Kind::broadcast:
        return;
      case Kind::reduce:
        if (what.partner == 0) m_group.reduce(to, 0);
        return;
      case Kind::send:
        return m_group.send(from, what.partner, what.tag);
      case Kind::receive:
        return m_group.receive(to, what.partner, what.tag);
    }
  }
  EchoGroup m_group;
};

// What a program of so many ranks is compiled with.
class EchoRanks final : public Collectives {
 public:
  enum class Way { streams, host };
  EchoRanks(int ranks, Way way) : m_group(ranks) {
    if (way == Way::streams) m_group.streams = streams = std::make_shared<EchoStreams>(ranks);
  }
  int ranks() const override { return m_group.ranks(); }
  void post(int) override {}
  bool sumsOnStreams() const override { return streams != nullptr; }
  void gather(std::span<const double> mine, std::span<double> all) override {
    for (int r = 0; r < ranks(); ++r)
      std::copy(mine.begin(), mine.end(),
                all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * mine.size()));
  }
  RankGroup* group(std::string_view name) override { return name == "data" ? &m_group : nullptr; }

  std::shared_ptr<EchoStreams> streams;  // null: through the host

 private:
  EchoGroup m_group;
};

}  // namespace loom::cuda::fake
