#pragma once
// Changes of a program that keep its meaning on every machine. Each keeps tensor ids.
#include <span>

#include "engine/program/program.h"

namespace loom {

// Removes operations that lead to no result, no parameter gradient, no change of a state, no other rank and nothing of
// `alsoKept`.
void eliminateDeadCode(Program& program, std::span<const TensorId> alsoKept = {});

// Evaluates operations on nothing but constants where the outcome is one number everywhere, drops factors of 1 and
// transposes that undo each other, and computes once what is written twice. Run before differentiate(), or after.
void simplify(Program& program);

// Gradients that travel together, by parameter name, in the order in which the backward part completes them: a bucket
// is closed when the next gradient would make it larger than `threshold` bytes, or than a quarter of all (but not below
// 64 KiB), so that the exchange begins while the backward part runs; 0 gives every gradient a bucket of its own.
// Averaged states are a bucket of their own, the last.
std::vector<std::vector<std::string>> planBuckets(const Program& program, std::size_t threshold);
// Puts an all_reduce behind the operation that completes each bucket. A bucket is exchanged after those before it.
void exchangeGradients(Program& program, const std::vector<std::vector<std::string>>& buckets);

// For a step of several shards: what operations make of the program's states (running mean and variance) is, times the
// scalar "loss_scale", the shard's part of their mean over the step, and is delivered as their gradients are; the
// states stay as they were until an optimizer's step puts the mean in their place. Before exchangeGradients().
void averageStates(Program& program);
// The names of the states that it did so with.
std::vector<std::string> averagedStates(const Program& program);

enum class BatchStatistics {
  perShard,      // mean and variance of the samples that are computed at once
  synchronised,  // of the samples of all ranks
  lastBatch,     // per shard, and no moving averages: the running values are those of the last step
};
void setBatchStatistics(Program& program, BatchStatistics statistics);

}  // namespace loom
