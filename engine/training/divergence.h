#pragma once
// When a loss or a gradient is no longer finite: where it began. The shard is computed once more with intermediate
// tensors as results, so many at a time as memory allows, and the first of them that holds nan or infinity is named.
#include <string>

#include "engine/network/network.h"
#include "engine/program/backend.h"

namespace loom {

struct DivergenceQuestion {
  const Network& network;
  Program program;         // the training program of the shard
  Executable& executable;  // whose inputs still hold the shard
  StepOptions step;
  CompileOptions compile;
  // Bytes of intermediate tensors that one pass keeps beside what a step needs anyway: all at once would be several
  // times the memory of training.
  std::int64_t mostKept = std::int64_t{256} << 20;
};

// "the weights of layer 'conv2' ('conv2/weight')", "the output of layer 'exp1' (Exp)", "the gradient ...", "the input
// 'x' ..."; empty when all is finite when computed again. Leaves gradients and running statistics of `store` changed:
// nothing may be saved afterwards.
std::string firstNotFinite(Backend& backend, ParameterStore& store, DivergenceQuestion question);

}  // namespace loom
