#pragma once
// What orders the work of a device's streams, and a seeded order that it allows. Each piece of work has a moment: how
// much of every lane lies before it. A lane is a stream, or a stream within the launch of a graph.
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cuda/device.h"

namespace loom::cuda::fake {

inline constexpr int kLanes = kStreams + kStreams * kStreams;
constexpr int laneOf(Stream stream) {
  return static_cast<int>(stream);
}
constexpr int laneWithin(Stream launchedOn, int stream) {
  return kStreams * (1 + laneOf(launchedOn)) + stream;
}

using Moment = std::array<std::uint64_t, kLanes>;
void merge(Moment& into, const Moment& other);

struct Work {
  std::string name;
  std::vector<Access> touches;  // of the device's memory and the host's
  std::function<void()> run;
};

class FakeOrder {
 public:
  explicit FakeOrder(std::uint64_t seed) : m_random(seed) {}

  // Behind all that the lane's stream waits for. Throws Error(internal) where it touches what other work touches too,
  // one of them writing, and nothing orders them. Runs nothing.
  void enqueue(int lane, const Moment& at, Work work);
  std::uint64_t issued(int lane) const { return m_issued[static_cast<std::size_t>(lane)]; }

  // Now and then, some of what may run.
  void wander();
  // Runs all that there is; the host is behind none of it.
  void progress();
  // Runs all that lies before the moment, and perhaps more; the host is behind it from now on.
  void reach(const Moment& moment);
  const Moment& host() const { return m_host; }
  // Work that the host has not waited for and that touches this; null: none.
  const std::string* pending(const std::byte* at, std::size_t bytes) const;
  void drop();  // what has not run never will

  std::uint64_t random(std::uint64_t below);

 private:
  struct Item {
    Work work;
    int lane;
    Moment at;
  };
  bool isFree(const Item& item) const;
  std::vector<int> freeLanes() const;
  void runOne(int lane);

  std::array<std::deque<std::shared_ptr<Item>>, kLanes> m_waiting;
  std::vector<std::shared_ptr<Item>> m_history;  // what the host is not behind
  std::array<std::uint64_t, kLanes> m_issued{};
  Moment m_host{};
  std::uint64_t m_random;
};

// Both touch a byte and one of them writes.
bool collide(const std::vector<Access>& a, const std::vector<Access>& b);

}  // namespace loom::cuda::fake
