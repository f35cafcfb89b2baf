#pragma once
// Gradients between ranks while the backward part still runs. One thread of its own takes buckets in their fixed order
// as soon as they are posted, joins small tensors, and alone talks to the communicator during a step; statistics inside
// the program, and its other operations between ranks, use groups of their own on the thread that computes. A step
// allocates nothing.
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/comm/rank_group.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {

class GradientExchange final : public Collectives {
 public:
  struct Bucket {
    std::string label;                      // "gradients of conv4/weight, bn4/gamma"
    std::vector<std::span<float>> tensors;  // summed in place
    Wire wire = Wire::f32;
    // Where the gradients stand in another machine's memory: post() brings them into `tensors`, wait() takes the sums
    // back, both on the thread that calls. Null: `tensors` are theirs.
    std::function<void()> fetch = nullptr, deliver = nullptr;
    // How it is added up, made over the same communicator for at least as many numbers; several buckets may have one.
    // Null: what is automatic for the wire.
    std::shared_ptr<Reduction> reduction = nullptr;
    std::size_t floats() const;
  };
  // The same ranks for their devices' streams, and whether gradients are summed there: `buckets` then has none of them.
  struct Streams {
    std::shared_ptr<StreamRanks> ranks;
    bool sums;
  };
  // `communicator` must outlive it; others may use it between wait() and the next post().
  GradientExchange(Communicator& communicator, std::vector<Bucket> buckets, Trace* trace = nullptr,
                   Streams streams = {nullptr, false});
  ~GradientExchange() override;

  int ranks() const override { return m_communicator.size(); }
  void post(int bucket) override;
  bool sumsOnStreams() const override { return m_sumsOnStreams; }
  void gather(std::span<const double> mine, std::span<double> all) override;
  RankGroup* group(std::string_view name) override;

  // Another group that programs may name, of some of the ranks; before they are compiled.
  void addGroup(std::string name, std::unique_ptr<Communicator> communicator,
                std::shared_ptr<StreamRanks> streams = nullptr);
  void postAll();  // what was not posted yet in this step: by a rank that has nothing to compute
  // All buckets of the step have been exchanged; the next step may post. Throws what the thread met.
  void wait();
  std::size_t buckets() const { return m_buckets.size(); }
  // The shortest time in which this bucket was added up so far, in seconds: the one in which nobody was waited for. 0
  // before the first.
  double leastSeconds(std::size_t bucket) const { return m_least[bucket].load(std::memory_order_relaxed); }

 private:
  void work();
  void exchange(std::size_t bucket);

  Communicator& m_communicator;
  struct Group {
    std::unique_ptr<Communicator> communicator;
    CommunicatorGroup ranks;
  };
  std::vector<std::unique_ptr<Group>> m_groups;  // for gather() and the program's own operations; the first is "data"
  bool m_sumsOnStreams;
  std::vector<Bucket> m_buckets;
  std::vector<const char*> m_subjects;  // their labels, lasting
  std::vector<float> m_joined;
  Trace* m_trace;
  std::unique_ptr<std::atomic<std::uint32_t>[]> m_posted;  // by bucket: the step for which it was
  std::unique_ptr<std::atomic<double>[]> m_least;          // by bucket
  std::atomic<std::uint32_t> m_signal{0};                  // changes with every post
  std::atomic<std::uint32_t> m_finished{0};                // steps whose buckets are all through
  std::uint32_t m_step = 1;                                // the poster's
  std::atomic<bool> m_ending{false};
  std::atomic<bool> m_failed{false};
  std::exception_ptr m_fault;  // set before m_failed
  std::thread m_thread;
};

}  // namespace loom
