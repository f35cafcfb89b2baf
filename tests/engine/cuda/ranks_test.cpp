// The real trainer with a rank for each fake device, beside one rank on the CPU. Started by mpiexec; every rank runs
// every test, and the first compares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/cuda_backend.h"
#include "tests/engine/cuda/fake/far_ranks.h"
#include "tests/engine/cuda/ranks_training.h"

namespace loom {
namespace {

using cuda::fake::BesideDevice;
using cuda::fake::FakeDevice;
using cuda::fake::FakeOptions;
using cuda::fake::FarStreams;

enum class Way { streams, host };
using namespace ranks;

struct Together {
  Outcome outcome;  // the first rank's
  int launches = 0, connections = 0;
};
Together onDevices(const Shared& shared, const Json& project, const std::string& name, Way way) {
  shared.make(name);
  const auto device =
      std::make_shared<FakeDevice>(FakeOptions{.seed = static_cast<std::uint64_t>(rank()) + 1, .checkedCalls = 0});
  const auto backend = makeCudaBackend(device);
  BesideDevice ranks(world(), *device);
  int connections = 0;
  const ConnectStreams connect = [&connections](Communicator& all) {
    ++connections;
    return std::make_shared<FarStreams>(all.split(0, all.rank()));
  };
  const Workshop::Run run = shared.workshop().train(
      project, name,
      {.backend = backend.get(), .communicator = &ranks, .connect = way == Way::streams ? connect : nullptr});
  return {rank() == 0 ? outcomeOf(run) : Outcome{}, device->launches(), connections};
}
class Ranks : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Ranks, testing::Values(Way::streams, Way::host),
                         [](const auto& info) { return info.param == Way::streams ? "Streams" : "Host"; });

// Statistics and gradients of all ranks at once are those of one rank with the whole batch.
TEST_P(Ranks, TrainWhatOneRankOnTheCpuTrains) {
  const Shared shared("one");
  const Json project = projectOf({{"batch_statistics", "synchronised"}});
  const Together together = onDevices(shared, project, "together", GetParam());
  // Where the host takes part in a step, none is captured; on streams those are that all ranks share evenly.
  const int updates = 12 - 1;
  if (world().size() > 1 && GetParam() == Way::host) {
    EXPECT_EQ(together.launches, updates) << "of updates alone";
  } else if (16 % world().size() == 0) {
    EXPECT_GE(together.launches, updates + 7) << "of the steps with 16 samples";
  }
  if (rank() == 0) expectNear(together.outcome, onCpu(shared, project, "alone"));
}

// Each rank's own statistics, and several passes whose gradients add up before they leave.
TEST_P(Ranks, AccumulateAndAverageLikeVirtualOnes) {
  const Shared shared("passes");
  Json settings = {{"accumulate", 2}};
  const Together together = onDevices(shared, projectOf(settings), "together", GetParam());
  if (rank() != 0) return;
  settings["virtual_ranks"] = world().size();
  expectNear(together.outcome, onCpu(shared, projectOf(settings), "alone"));
}

// A 16-bit wire is the host's; statistics stay on the streams.
TEST_P(Ranks, RoundOnTheWireAsVirtualOnesDo) {
  const Shared shared("wire");
  const Json project = projectOf({{"wire", "f16"}, {"batch_statistics", "synchronised"}, {"max_steps", 3}});
  const Together together = onDevices(shared, project, "together", GetParam());
  if (rank() != 0) return;
  const Outcome alone = onCpu(shared, project, "alone");
  for (std::size_t k = 0; k < alone.losses.size(); ++k)
    EXPECT_NEAR(together.outcome.losses[k], alone.losses[k], 5e-3) << "step " << k;
}

// 46 samples in batches of 45: the last has one, and other ranks have nothing to compute with. They still sum.
TEST_P(Ranks, WithoutASampleTakePartThroughTheHost) {
  const Shared shared("few");
  Json settings = {{"batch", 45}};
  const Together together = onDevices(shared, projectOf(settings), "together", GetParam());
  if (rank() != 0) return;
  settings["virtual_ranks"] = world().size();
  expectNear(together.outcome, onCpu(shared, projectOf(settings), "alone"));
}

// Each rule has half of the weights. A library's communicator costs memory and time: there is one for all updates.
TEST(RanksOfDevices, OfSeveralUpdatesConnectOnce) {
  const Shared shared("updates");
  Json project = projectOf({{"max_steps", 4}});
  Json first = project["training"];
  first["parameters"] = {"conv/*", "bn/*"};
  project["training"] = {first,
                         {{"network", "main"},
                          {"dataset", "training"},
                          {"parameters", {"fc/*"}},
                          {"optimizer", {{"name", "SGD"}, {"learning_rate", 0.05}}}}};
  const Together together = onDevices(shared, project, "together", Way::streams);
  EXPECT_EQ(together.connections, world().size() > 1 ? 1 : 0);
  if (rank() != 0) return;
  project["training"][0]["virtual_ranks"] = world().size();
  expectNear(together.outcome, onCpu(shared, project, "alone"));
}

TEST(RanksOfDevices, HaveTheSameBitsWhicheverWayTheyExchange) {
  const Shared shared("bits");
  const Json project = projectOf({{"batch_statistics", "synchronised"}, {"max_steps", 6}});
  const Together streams = onDevices(shared, project, "streams", Way::streams),
                 host = onDevices(shared, project, "host", Way::host);
  EXPECT_EQ(streams.outcome.losses, host.outcome.losses);
  EXPECT_EQ(streams.outcome.tensors, host.outcome.tensors);
}

// Each steps some of the weights, of the sums of these alone: what is summed and how is the same.
TEST(RanksOfDevices, HaveTheSameBitsWhereTheyShareState) {
  const Shared shared("state");
  Json settings = {{"reduction", "direct"}, {"clip_norm", 0.5}, {"max_steps", 4}};
  const Together all = onDevices(shared, projectOf(settings), "all", Way::host);
  settings["shard_optimizer"] = true;
  const Together own = onDevices(shared, projectOf(settings), "own", Way::host);
  EXPECT_EQ(own.outcome.losses, all.outcome.losses);
  EXPECT_EQ(own.outcome.tensors, all.outcome.tensors);
}

}  // namespace
}  // namespace loom
