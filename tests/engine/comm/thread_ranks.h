#pragma once
// Ranks that are threads of this process, and what they send counted: messages and bytes that a rank sends by itself,
// and the library's collectives by group.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/communicator.h"

namespace loom {

class ThreadRanks {
 public:
  struct Sent {
    std::int64_t messages = 0, bytes = 0;
  };
  // One collective of a group: which of the world's ranks are in it, and how many bytes each member sends, as in a
  // ring.
  struct Call {
    std::string name;
    std::vector<int> members;
    std::int64_t bytes = 0;
  };

  explicit ThreadRanks(int ranks) : m_sent(static_cast<std::size_t>(ranks)), m_ranks(ranks) {}

  // `work` on every rank, each in a thread of its own; rethrows what the first of them threw.
  void run(const std::function<void(Communicator&)>& work);

  const std::vector<Sent>& sent() const { return m_sent; }
  const std::vector<Call>& calls() const { return m_calls; }
  void forget() {
    std::fill(m_sent.begin(), m_sent.end(), Sent{});
    m_calls.clear();
  }

 private:
  class Rank;
  struct Group {
    std::vector<int> members;  // of the world
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<const void*> from;
    std::vector<std::pair<int, int>> colors;
    std::vector<std::shared_ptr<Group>> made;
    int arrived = 0, phase = 0;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> mail;  // by sender and receiver
    void meet();
  };
  void count(const char* name, const Group& group, std::size_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_calls.push_back({name, group.members, static_cast<std::int64_t>(bytes)});
  }

  std::vector<Sent> m_sent;
  std::vector<Call> m_calls;
  std::mutex m_mutex;
  int m_ranks;
};

}  // namespace loom
