#pragma once
// Ranks that compute together. Every collective is entered by all ranks of a group in the same order; each blocks until
// this rank's part is done, spinning shortly and then sleeping, and throws Error(communication). Results have the same
// bits on every rank. One thread at a time for each group; different groups of one job may be used by different
// threads.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace loom {

class HostReduction;

// What this process does now, for whoever watches over it from another thread. Texts are literals, or kept here by
// lasting().
struct CollectiveActivity {
  std::atomic<std::uint64_t> entered{0}, left{0};  // collectives, on all groups
  std::atomic<const char*> operation{"none"};      // "all-reduce"
  std::atomic<const char*> subject{""};            // "gradients of conv4, bn4"
  std::atomic<std::int64_t> step{0};               // of the training, 0 = before the first
  std::atomic<std::uint64_t> progress{0};          // counts anything that shows that the rank moves on

  // Does `work` as a collective of this name. What it enters itself on this thread belongs to it: ranks that send
  // different numbers of messages for one sum have entered equally many collectives. Of one that throws `left` is not
  // counted, so that it is told where the rank was.
  template <class Work>
  void during(const char* what, const Work& work) {
    const Inside inside;
    operation.store(what, std::memory_order_relaxed);
    if (inside.outermost) entered.fetch_add(1, std::memory_order_release);
    work();
    if (inside.outermost) left.fetch_add(1, std::memory_order_release);
    progress.fetch_add(1, std::memory_order_relaxed);
  }

  // The same text, there as long as this: who watches may still read the subject of an exchange that has ended. Any
  // thread.
  const char* lasting(const std::string& text);

 private:
  struct Inside {
    Inside() : outermost(depth()++ == 0) {}
    ~Inside() { --depth(); }
    Inside(const Inside&) = delete;
    const bool outermost;
    static int& depth() {
      thread_local int count = 0;
      return count;
    }
  };
  std::mutex m_mutex;
  std::set<std::string> m_texts;
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string name() const = 0;  // "self", "Open MPI 4.1.4"
  // Ranks of one color form a group, in the order of `key`.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  virtual void allReduce(std::span<float> data) = 0;  // sums over ranks, in place, as the library sees fit
  // As allReduce(), where every byte counts: what is large goes by a ring's 2S(p - 1)/p bytes a rank, also where the
  // library would send it whole. By itself allReduce().
  virtual void sumInParts(std::span<float> data) { allReduce(data); }
  // `data` is size() parts of part.size() each; part r of the sum goes to rank r.
  virtual void reduceScatter(std::span<const float> data, std::span<float> part) = 0;
  virtual void allGather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  // Part r of `parts` goes to rank r, and part r of `received` came from there.
  virtual void allToAll(std::span<const std::byte> parts, std::span<std::byte> received) = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  virtual void send(std::span<const std::byte> data, int to, int tag) = 0;
  virtual void receive(std::span<std::byte> data, int from, int tag) = 0;
  // Sends and receives at the same time, so that ranks may do so in a ring or in pairs; by itself one after the other,
  // in an order that cannot lock.
  virtual void exchange(std::span<const std::byte> sent, int to, std::span<std::byte> received, int from, int tag);
  // Sums through memory that ranks of a host share (reductions/host_reduction.h), for as long as this; null: there is
  // none.
  virtual HostReduction* onHost() { return nullptr; }

  // Ends the job on every rank; this process too, where there are others.
  virtual void abort(int exitCode) = 0;
  CollectiveActivity& activity() const { return *m_activity; }
  // For another communicator of this process, so that one watch sees them all.
  std::shared_ptr<CollectiveActivity> sharedActivity() const { return m_activity; }

 protected:
  explicit Communicator(std::shared_ptr<CollectiveActivity> activity) : m_activity(std::move(activity)) {}
  std::shared_ptr<CollectiveActivity> m_activity;
};

// One process by itself: every collective is a copy.
std::unique_ptr<Communicator> makeSelfCommunicator();

// Texts of all ranks, in their order; rank `root`'s text. For what is said at the start of a job, not in its steps.
std::vector<std::string> allGatherTexts(Communicator& communicator, const std::string& text);
std::string broadcastText(Communicator& communicator, const std::string& text, int root = 0);

}  // namespace loom
