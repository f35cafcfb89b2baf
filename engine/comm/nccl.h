#pragma once
// NCCL: ranks with a GPU each. The library is in a module of its own (nccl/), so `loom` starts where there is none.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/program/stream_ranks.h"

namespace loom {

// The same ranks as `ranks` (of Open MPI), each with the GPU of its place on its host; all of them call it. Data may
// lie in the GPU's memory or, copied there and back, in the host's. Two things differ from other communicators:
// messages from one rank to another come in the order in which they were sent, whatever their tags; and calls of two
// groups that share a GPU must not wait for each other. `ranks` must outlive it. Throws Error(device) or
// Error(communication), the same on every rank, where the module or the library cannot be opened, a rank has no GPU, or
// two ranks would share one, which NCCL cannot.
std::unique_ptr<Communicator> openNccl(Communicator& ranks, int localRank);

// The same ranks for the streams of their GPUs, each of its place on its host. Throws as openNccl().
std::shared_ptr<StreamRanks> openNcclStreams(Communicator& ranks, int localRank);

// Where the module is looked for: GRADLOOM_NCCL_MODULE, beside the program, in ../lib/gradloom.
std::filesystem::path ncclModule();

// What every rank says before the group is made, and what stands in the way of it: empty when nothing does.
struct NcclPlace {
  std::string host;
  std::string gpu;    // "b5f5… NVIDIA H200": UUID and name
  std::string fault;  // why it has none
};
std::string faultOf(const std::vector<NcclPlace>& byRank);

}  // namespace loom
