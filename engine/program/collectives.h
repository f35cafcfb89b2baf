#pragma once
// What a backend lowers communication to: the ranks of a run as one executable sees them.
#include <span>

namespace loom {

class Collectives {
 public:
  virtual ~Collectives() = default;
  virtual int ranks() const = 0;
  // The gradients of this bucket (attribute of all_reduce) stand in the store: they may leave. Returns at once; called
  // by one thread, in any order of buckets. They have arrived when the trainer says so, not when the program ends.
  virtual void post(int bucket) = 0;
  // What every rank has, in the order of ranks; returns when it is there. For sums inside an operation (batch
  // statistics).
  virtual void gather(std::span<const double> mine, std::span<double> all) = 0;
};

}  // namespace loom
