#include "tests/engine/cuda/fake/fake_order.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom::cuda::fake {
namespace {

std::string laneName(int lane) {
  constexpr const char* kNames[] = {"compute", "upload", "exchange"};
  const char* const name = kNames[lane % kStreams];
  return lane < kStreams ? fmt::format("stream '{}'", name)
                         : fmt::format("stream '{}' of a graph launched on '{}'", name, kNames[lane / kStreams - 1]);
}

}  // namespace

void merge(Moment& into, const Moment& other) {
  for (std::size_t k = 0; k < into.size(); ++k) into[k] = std::max(into[k], other[k]);
}

bool collide(const std::vector<Access>& a, const std::vector<Access>& b) {
  for (const Access& x : a)
    for (const Access& y : b)
      if ((x.write || y.write) && x.data < y.data + y.bytes && y.data < x.data + x.bytes) return true;
  return false;
}

void FakeOrder::enqueue(int lane, const Moment& at, Work work) {
  const auto l = static_cast<std::size_t>(lane);
  auto item = std::make_shared<Item>(Item{std::move(work), lane, at});
  item->at[l] = ++m_issued[l];
  for (const auto& other : m_history) {
    const auto o = static_cast<std::size_t>(other->lane);
    if (item->at[o] >= other->at[o] || !collide(item->work.touches, other->work.touches)) continue;
    throwError(ErrorCode::internal, "{} on {} and {} on {} touch the same memory, and nothing orders them",
               item->work.name, laneName(lane), other->work.name, laneName(other->lane));
  }
  m_history.push_back(item);
  m_waiting[l].push_back(std::move(item));
}

bool FakeOrder::isFree(const Item& item) const {
  for (std::size_t l = 0; l < m_waiting.size(); ++l)
    if (!m_waiting[l].empty() && static_cast<int>(l) != item.lane && m_waiting[l].front()->at[l] <= item.at[l])
      return false;
  return true;
}

void FakeOrder::runOne(int lane) {
  auto& waiting = m_waiting[static_cast<std::size_t>(lane)];
  const std::shared_ptr<Item> item = waiting.front();
  waiting.pop_front();
  item->work.run();
  item->work.run = nullptr;
}

std::vector<int> FakeOrder::freeLanes() const {
  std::vector<int> free;
  for (int l = 0; l < kLanes; ++l) {
    const auto& waiting = m_waiting[static_cast<std::size_t>(l)];
    if (!waiting.empty() && isFree(*waiting.front())) free.push_back(l);
  }
  return free;
}

void FakeOrder::wander() {
  for (std::uint64_t count = random(4) == 0 ? 1 + random(4) : 0; count > 0; --count) {
    const std::vector<int> free = freeLanes();
    if (free.empty()) return;
    runOne(free[random(free.size())]);
  }
}

void FakeOrder::progress() {
  for (;;) {
    const std::vector<int> free = freeLanes();
    if (free.empty()) return;
    runOne(free[random(free.size())]);
  }
}

void FakeOrder::reach(const Moment& moment) {
  for (;;) {
    bool left = false;
    for (std::size_t l = 0; l < m_waiting.size(); ++l)
      left |= !m_waiting[l].empty() && m_waiting[l].front()->at[l] <= moment[l];
    if (!left) break;
    const std::vector<int> free = freeLanes();
    runOne(free[random(free.size())]);
  }
  merge(m_host, moment);
  std::erase_if(m_history, [&](const auto& item) {
    const auto l = static_cast<std::size_t>(item->lane);
    return m_host[l] >= item->at[l];
  });
}

const std::string* FakeOrder::pending(const std::byte* at, std::size_t bytes) const {
  const std::vector<Access> all{{at, bytes, true}};
  for (const auto& item : m_history)
    if (collide(item->work.touches, all)) return &item->work.name;
  return nullptr;
}

void FakeOrder::drop() {
  for (auto& waiting : m_waiting) waiting.clear();
  m_history.clear();
}

// Knuth's MMIX generator.
std::uint64_t FakeOrder::random(std::uint64_t below) {
  m_random = m_random * 6364136223846793005u + 1442695040888963407u;
  return (m_random >> 33) % below;
}

}  // namespace loom::cuda::fake
