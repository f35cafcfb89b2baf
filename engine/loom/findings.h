#pragma once
// What a machine offers for training and what large jobs die of, one line each; `loom doctor` and the check of a host
// show them.
#include <string>
#include <vector>

namespace loom {

struct Finding {
  std::string key, value;
  std::string advice;       // what is wrong with it and what to do; empty: all is well
  std::string remedy = {};  // a command that helps, to copy; may be empty
};

// Processor, memory, disk, limits, clock, network interfaces: from the system itself.
std::vector<Finding> examineMachine();
// GPUs, driver, CUDA module, cuDNN (gpu_facts.h), NCCL and MPI as the loader finds them, with versions.
std::vector<Finding> examineLibraries();

}  // namespace loom
