#pragma once
// What a machine offers for training and what large jobs die of, one line each; `loom doctor` and the check of a host
// show them.
#include <string>
#include <vector>

namespace loom {

struct Finding {
  std::string key, value;
  std::string advice;  // what is wrong with it and what to do; empty: all is well
};

// Processor, memory, disk, limits, clock, network interfaces: from the system itself.
std::vector<Finding> examineMachine();
// Open MPI, CUDA, cuDNN, NCCL as the loader finds them, with versions; each GPU computes a known sum.
std::vector<Finding> examineLibraries();

}  // namespace loom
