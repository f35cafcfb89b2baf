#include "tests/engine/comm/thread_ranks.h"

namespace loom {

void ThreadRanks::Group::meet() {
  std::unique_lock lock(mutex);
  const int now = phase;
  if (++arrived == static_cast<int>(members.size())) {
    arrived = 0;
    ++phase;
    changed.notify_all();
    return;
  }
  changed.wait(lock, [&] { return phase != now; });
}

class ThreadRanks::Rank final : public Communicator {
 public:
  Rank(ThreadRanks& world, std::shared_ptr<Group> group, int rank)
      : Communicator(std::make_shared<CollectiveActivity>()),
        m_world(world),
        m_group(std::move(group)),
        m_rank(rank),
        m_place(static_cast<std::size_t>(rank)) {}
  int rank() const override { return m_rank; }
  int size() const override { return static_cast<int>(m_group->members.size()); }
  std::string name() const override { return "threads"; }

  std::unique_ptr<Communicator> split(int color, int key) override {
    m_group->colors[m_place] = {color, key};
    m_group->meet();
    std::vector<std::pair<int, int>> mine;  // key, rank
    for (int r = 0; r < size(); ++r)
      if (const auto& [other, otherKey] = m_group->colors[static_cast<std::size_t>(r)]; other == color)
        mine.emplace_back(otherKey, r);
    std::sort(mine.begin(), mine.end());
    const auto first = static_cast<std::size_t>(mine.front().second);
    if (m_place == first) {
      m_group->made[first] = std::make_shared<Group>();
      resize(*m_group->made[first], mine.size());
      for (std::size_t i = 0; i < mine.size(); ++i)
        m_group->made[first]->members[i] = m_group->members[static_cast<std::size_t>(mine[i].second)];
    }
    m_group->meet();
    const std::shared_ptr<Group> group = m_group->made[first];
    m_group->meet();
    int place = 0;
    while (mine[static_cast<std::size_t>(place)].second != m_rank) ++place;
    return std::make_unique<Rank>(m_world, group, place);
  }

  void allReduce(std::span<float> data) override {
    together("all-reduce", 2 * data.size_bytes() * others() / ranks(), data.data(), [&] {
      std::vector<float> sum(data.size(), 0.0f);
      for (std::size_t r = 0; r < ranks(); ++r)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += from<float>(r)[i];
      m_group->meet();
      std::copy(sum.begin(), sum.end(), data.begin());
    });
  }
  void reduceScatter(std::span<const float> data, std::span<float> part) override {
    together("reduce-scatter", part.size_bytes() * others(), data.data(), [&] {
      for (std::size_t i = 0; i < part.size(); ++i) {
        float sum = 0;
        for (std::size_t r = 0; r < ranks(); ++r) sum += from<float>(r)[m_place * part.size() + i];
        part[i] = sum;
      }
      m_group->meet();
    });
  }
  void allGather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::vector<std::byte> gathered(all.size());
    together("all-gather", mine.size() * others(), mine.data(), [&] {
      for (std::size_t r = 0; r < ranks(); ++r)
        std::memcpy(gathered.data() + r * mine.size(), from<std::byte>(r), mine.size());
      m_group->meet();
    });
    std::copy(gathered.begin(), gathered.end(), all.begin());
  }
  void allToAll(std::span<const std::byte> parts, std::span<std::byte> received) override {
    const std::size_t part = parts.size() / ranks();
    together("all-to-all", part * others(), parts.data(), [&] {
      for (std::size_t r = 0; r < ranks(); ++r)
        std::memcpy(received.data() + r * part, from<std::byte>(r) + m_place * part, part);
      m_group->meet();
    });
  }
  void broadcast(std::span<std::byte> data, int root) override {
    together("broadcast", data.size(), data.data(), [&] {
      if (m_rank != root) std::memcpy(data.data(), from<std::byte>(static_cast<std::size_t>(root)), data.size());
      m_group->meet();
    });
  }

  void send(std::span<const std::byte> data, int to, int) override {
    Sent& sent = m_world.m_sent[static_cast<std::size_t>(m_group->members[m_place])];
    ++sent.messages;
    sent.bytes += static_cast<std::int64_t>(data.size());
    const std::lock_guard lock(m_group->mutex);
    m_group->mail[{m_rank, to}].emplace_back(data.begin(), data.end());
    m_group->changed.notify_all();
  }
  void receive(std::span<std::byte> data, int from, int) override {
    std::unique_lock lock(m_group->mutex);
    auto& box = m_group->mail[{from, m_rank}];
    m_group->changed.wait(lock, [&] { return !box.empty(); });
    if (box.front().size() != data.size())
      throw std::runtime_error("a message of " + std::to_string(box.front().size()) + " bytes came where " +
                               std::to_string(data.size()) + " were expected");
    std::copy(box.front().begin(), box.front().end(), data.begin());
    box.pop_front();
  }
  void abort(int) override {}

  static void resize(Group& group, std::size_t ranks) {
    group.members.resize(ranks);
    group.from.resize(ranks);
    group.colors.resize(ranks);
    group.made.resize(ranks);
  }

 private:
  std::size_t ranks() const { return m_group->members.size(); }
  std::size_t others() const { return ranks() - 1; }
  template <class T>
  const T* from(std::size_t rank) const {
    return static_cast<const T*>(m_group->from[rank]);
  }
  // All show what they have, `read` takes it and meets the others before anybody changes his.
  template <class Read>
  void together(const char* name, std::size_t bytes, const void* mine, const Read& read) {
    m_group->from[m_place] = mine;
    if (m_rank == 0) m_world.count(name, *m_group, bytes);
    m_group->meet();
    read();
  }

  ThreadRanks& m_world;
  std::shared_ptr<Group> m_group;
  int m_rank;
  std::size_t m_place;
};

void ThreadRanks::run(const std::function<void(Communicator&)>& work) {
  const auto group = std::make_shared<Group>();
  Rank::resize(*group, static_cast<std::size_t>(m_ranks));
  for (int r = 0; r < m_ranks; ++r) group->members[static_cast<std::size_t>(r)] = r;
  std::vector<std::exception_ptr> faults(static_cast<std::size_t>(m_ranks));
  std::vector<std::thread> threads;
  for (int r = 0; r < m_ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        Rank rank(*this, group, r);
        work(rank);
      } catch (...) {
        faults[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& fault : faults)
    if (fault) std::rethrow_exception(fault);
}

}  // namespace loom
