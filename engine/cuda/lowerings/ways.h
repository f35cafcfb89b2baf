#pragma once
// Several ways to compute the same, of which a device takes the fastest.
#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/plan.h"

namespace loom::cuda {

struct Way {
  std::string name;                 // for people, and to know it again
  std::function<void(Plan&)> emit;  // appends its stages; what it reads and leaves is the same for all ways
};

// By the first way; where the device times (Device::timing()), by the fastest, which is kept beside its engines under
// `what`: all that is computed.
void emitFastest(Plan& plan, const std::string& what, const std::vector<Way>& ways);

}  // namespace loom::cuda
