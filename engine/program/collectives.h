#pragma once
// What a backend lowers communication to: the ranks of a run as one executable sees them.
#include <memory>
#include <span>
#include <string_view>

namespace loom {

class StreamRanks;

// The ranks that meet in the ops of one `group`. All of them call in the same order, each on the thread that computes;
// a call returns when this rank's part is done, allocates nothing and throws Error(communication).
class RankGroup {
 public:
  virtual ~RankGroup() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  virtual void allGather(std::span<const float> mine, std::span<float> all) = 0;
  virtual void reduceScatter(std::span<const float> data, std::span<float> part) = 0;
  virtual void broadcast(std::span<float> data, int root) = 0;
  virtual void reduce(std::span<float> data, int root) = 0;  // in place: the sum on `root`, 0 on the others
  virtual void send(std::span<const float> data, int to, int bucket) = 0;
  virtual void receive(std::span<float> data, int from, int bucket) = 0;
  // The same ranks for a device that exchanges by itself, on its streams (stream_ranks.h); whoever compiles for them
  // keeps them. Null: through the host, by the calls above.
  virtual std::shared_ptr<StreamRanks> onStreams() { return nullptr; }
};

class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual int ranks() const = 0;
  // The gradients of this bucket (attribute of all_reduce) stand in the store: they may leave. Returns at once; called
  // by one thread, in any order of buckets. They have arrived when the trainer says so, not when the program ends.
  virtual void post(int bucket) = 0;
  // Whether the device itself sums what all_reduce names, over the group "data" on its streams: nothing is posted then,
  // and the sums are there when the program ends.
  virtual bool sumsOnStreams() const { return false; }
  // What every rank has, in the order of ranks; returns when it is there. For sums inside an operation (batch
  // statistics).
  virtual void gather(std::span<const double> mine, std::span<double> all) = 0;
  // The group of that name as this rank sees it; null when there is none. "data" is that of post() and gather().
  virtual RankGroup* group(std::string_view name) = 0;
};

}  // namespace loom
