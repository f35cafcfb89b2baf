// `loom bench` with a rank for each fake device: gradients go by the streams where there are any, and the line is the
// same as through the host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/json.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/loom/bench/bench.h"
#include "tests/engine/cuda/fake/far_ranks.h"
#include "tests/engine/ranks/ranks.h"

namespace loom {
namespace {

using cuda::fake::BesideDevice;
using cuda::fake::FakeDevice;
using cuda::fake::FarStreams;

struct Benched {
  Json line;  // rank 0's
  int connected = 0;
};
Benched benched(bool onStreams, bool apart = false) {
  const auto device = std::make_shared<FakeDevice>(
      cuda::fake::FakeOptions{.seed = static_cast<std::uint64_t>(world().rank()) + 1, .checkedCalls = 0});
  const auto backend = makeCudaBackend(device);
  BesideDevice ranks(world(), *device);
  Benched made;
  BenchArguments arguments{
      .names = {"mlp"}, .device = "cuda", .seconds = 0, .batch = 2, .apart = apart, .connect = nullptr};
  if (onStreams)
    arguments.connect = [&](Communicator& all) {
      ++made.connected;
      return std::make_shared<FarStreams>(all.split(0, all.rank()));
    };
  testing::internal::CaptureStdout();
  EXPECT_EQ(runBench(arguments, *backend, ranks), 0);
  const std::string said = testing::internal::GetCapturedStdout();
  if (world().rank() == 0)
    made.line = parseJson(said, "the line");
  else
    EXPECT_EQ(said, "");
  return made;
}

TEST(BenchRanks, ExchangeOnStreamsWhatTheyExchangeThroughTheHost) {
  const Benched streams = benched(true), host = benched(false);
  EXPECT_EQ(streams.connected, world().size() > 1 ? 1 : 0);
  EXPECT_EQ(host.connected, 0);
  if (world().rank() != 0) return;
  if (world().size() > 1) {
    EXPECT_EQ(streams.line["ranks"], world().size());
    EXPECT_EQ(streams.line["exchange"], true);
  }
  EXPECT_GT(streams.line["samples_per_s"], 0);
  EXPECT_EQ(streams.line["loss"], host.line["loss"]);
  EXPECT_GE(streams.line["steps"], 5);
}

TEST(BenchRanks, ApartConnectNothing) {
  const Benched alone = benched(true, true);
  EXPECT_EQ(alone.connected, 0);
  if (world().rank() == 0 && world().size() > 1) EXPECT_EQ(alone.line["exchange"], false);
}

}  // namespace
}  // namespace loom
