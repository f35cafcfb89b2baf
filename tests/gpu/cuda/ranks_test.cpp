// Two ranks with a GPU each, over NCCL on their streams, and two that share one, through the host, beside one rank on
// the CPU. Started by mpiexec.
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/comm/nccl.h"
#include "engine/comm/open_mpi.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/module_device.h"
#include "tests/engine/cuda/ranks_training.h"

namespace loom {
namespace {

using namespace ranks;

// The first rank's fault, if `work` throws on any.
std::string faultOf(const std::function<void()>& work) {
  std::string mine;
  try {
    work();
  } catch (const Error& error) {
    mine = error.what();
  }
  for (const std::string& text : allGatherTexts(world(), mine))
    if (!text.empty()) return text;
  return {};
}

// What stands in the way of a GPU for each rank.
std::string lacking() {
  const int here = launchOfEnvironment().localRank;
  const std::string fault = faultOf([&] { cuda::openCudaDevice(here); });
  return fault.empty() ? faultOf([&] { openNcclStreams(world(), here); }) : fault;
}

class GpuRanks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Statistics, GpuRanks, testing::Values("synchronised", "per_shard"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(GpuRanks, TrainWhatTheCpuTrains) {
  const std::string missing = lacking();
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Shared shared(GetParam());
  Json settings = {{"batch_statistics", GetParam()}};
  const int here = launchOfEnvironment().localRank;
  const auto backend = makeCudaBackend(cuda::openCudaDevice(here));
  int streams = 0;
  shared.make("together");
  const Workshop::Run run =
      shared.workshop().train(projectOf(settings), "together",
                              {.backend = backend.get(), .communicator = &world(), .connect = [&](Communicator& all) {
                                 ++streams;
                                 return openNcclStreams(all, here);
                               }});
  EXPECT_EQ(streams, 1);
  if (rank() != 0) return;
  settings["virtual_ranks"] = std::string(GetParam()) == "synchronised" ? 0 : world().size();
  expectNear(outcomeOf(run), onCpu(shared, projectOf(settings), "alone"));
}

// NCCL refuses two ranks on one GPU: what they exchange goes through the host.
TEST_P(GpuRanks, ThatShareAGpuTrainWhatTheCpuTrains) {
  const std::string missing = faultOf([] { cuda::openCudaDevice(0); });
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Shared shared(std::string("shared-") + GetParam());
  Json settings = {{"batch_statistics", GetParam()}};
  const auto backend = makeCudaBackend(cuda::openCudaDevice(0));
  shared.make("together");
  const Workshop::Run run =
      shared.workshop().train(projectOf(settings), "together", {.backend = backend.get(), .communicator = &world()});
  if (rank() != 0) return;
  settings["virtual_ranks"] = std::string(GetParam()) == "synchronised" ? 0 : world().size();
  expectNear(outcomeOf(run), onCpu(shared, projectOf(settings), "alone"));
}

}  // namespace
}  // namespace loom
