#pragma once
// The six workloads on which training speed is compared, drawn as networks: the same layers, shapes, initial weights
// and update rules as their definitions for PyTorch, through the same path as a person's project.
#include <map>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/network/project.h"

namespace loom {

struct Workload {
  std::string name;
  Network network;
  std::int64_t batch = 0;
  UpdateSpec update;
  std::map<std::string, std::int64_t> classes;  // of integer inputs: values are drawn from [0, classes)
};

// "mlp", "mnist-cnn", "resnet20", "resnet50", "lstm", "gpt-mini"
const std::vector<std::string>& workloadNames();
// Throws Error(badArgument) for a name that is none of them.
Workload makeWorkload(const std::string& name);

}  // namespace loom
