#pragma once
// `loom bench allreduce`: how fast ranks add gradients up, by size and reduction.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace loom {

struct AllReduceArguments {
  std::vector<std::int64_t> bytes;      // of f32 numbers; none = 4 KiB to 64 MiB, four times as many each
  std::vector<std::string> reductions;  // rows; none = all that can be with so many ranks
  std::string wire = "f32";
  double seconds = 5;  // of measuring, for each size over all reductions
  bool csv = false;
  bool json = false;  // a line that names ranks, sizes and links, then one a measurement
};

// By all ranks together; rank 0 prints. Answers the exit code. Throws Error(badArgument) for one rank, and for names
// and combinations that cannot be.
int benchAllReduce(const AllReduceArguments& arguments, Communicator& communicator);

}  // namespace loom
