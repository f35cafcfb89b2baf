// Captures, graphs and faults on demand of the fake device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/cuda/device_fixture.h"
#include "tests/engine/cuda/fake/echo_ranks.h"

namespace loom::cuda::fake {
namespace {

using testing::HasSubstr;

class FakeGraphs : public WithFake {};

TEST_P(FakeGraphs, AGraphRunsEachTimeOnWhatStandsThere) {
  std::byte* const a = block(256, "a");
  std::byte* const b = block(256, "b");
  std::byte* const host = pinned(256);
  fill(Stream::compute, a, 256, 1);
  convert(a, b, 64, 256, 256);
  device.beginCapture(Stream::compute);
  convert(a, b, 64, 256, 256);
  device.download(Stream::compute, b, host, 256);
  const auto graph = device.endCapture(Stream::compute);
  for (unsigned char value = 2; value < 6; ++value) {
    fill(Stream::compute, a, 256, value);
    device.launch(*graph, Stream::compute);
    device.synchronise(Stream::compute);
    EXPECT_EQ(host[100], std::byte{value});
  }
  EXPECT_EQ(device.launches(), 4);
}

TEST_P(FakeGraphs, StreamsWithinAGraphAreOrderedByItsEvents) {
  std::byte* const a = block(64, "a");
  std::byte* const b = block(64, "b");
  const auto forked = device.makeEvent(), joined = device.makeEvent();
  device.beginCapture(Stream::compute);
  fill(Stream::compute, a, 64, 1);
  device.record(Stream::compute, *forked);
  device.wait(Stream::exchange, *forked);
  copy(Stream::exchange, a, b, 64);
  device.record(Stream::exchange, *joined);
  device.wait(Stream::compute, *joined);
  fill(Stream::compute, b, 64, 2);
  const auto graph = device.endCapture(Stream::compute);
  std::byte* const host = pinned(64);
  for (int k = 0; k < 3; ++k) device.launch(*graph, Stream::compute);
  device.download(Stream::compute, b, host, 64);
  device.synchronise(Stream::compute);
  EXPECT_EQ(host[0], std::byte{2});
}

TEST_P(FakeGraphs, NamesARaceWithinAGraph) {
  std::byte* const a = block(64, "a");
  const auto forked = device.makeEvent(), joined = device.makeEvent();
  EXPECT_THAT(faultOf([&] {
                device.beginCapture(Stream::compute);
                device.record(Stream::compute, *forked);
                device.wait(Stream::exchange, *forked);
                fill(Stream::compute, a, 64, 1);
                fill(Stream::exchange, a, 64, 2);
                device.record(Stream::exchange, *joined);
                device.wait(Stream::compute, *joined);
                const auto graph = device.endCapture(Stream::compute);
                device.launch(*graph, Stream::compute);
              }),
              HasSubstr("nothing orders them"));
}

TEST_P(FakeGraphs, NamesAStreamThatDoesNotComeBack) {
  std::byte* const a = block(64, "a");
  const auto forked = device.makeEvent();
  EXPECT_EQ(faultOf([&] {
              device.beginCapture(Stream::compute);
              device.record(Stream::compute, *forked);
              device.wait(Stream::exchange, *forked);
              fill(Stream::exchange, a, 64, 2);
              device.endCapture(Stream::compute);
            }),
            "stream 'exchange' was drawn into the capture and does not come back before its end");
}

TEST_P(FakeGraphs, NamesWhatNoCaptureAllows) {
  const auto during = [&](const std::function<void(FakeDevice&)>& what) {
    FakeDevice other;
    std::string said = "none";
    other.beginCapture(Stream::compute);
    try {
      what(other);
    } catch (const Error& error) {
      said = error.what();
    }
    other.takeFault();
    return said;
  };
  EXPECT_EQ(during([](FakeDevice& other) { other.allocate(64, "a"); }),
            "memory is allocated during a capture, which no GPU allows");
  EXPECT_EQ(during([](FakeDevice& other) { other.allocatePinned(64); }),
            "pinned memory is allocated during a capture, which no GPU allows");
  EXPECT_EQ(during([](FakeDevice& other) { other.synchronise(Stream::compute); }),
            "the host waits during a capture, which no GPU allows");
  EXPECT_EQ(during([](FakeDevice& other) { other.plan({}, 0); }),
            "a plan is made during a capture, which no GPU allows");
  EXPECT_EQ(during([](FakeDevice& other) {
              const KernelCall call{"convert", {}, std::vector<std::byte>(sizeof(ConvertArguments))};
              other.enqueue(Stream::compute, call, {}, "");
            }),
            "kernel 'convert' is captured before it was ever started: it would be loaded during the capture");
}

// --- Faults on demand

TEST_P(FakeGraphs, AllocationsFailWithTheirSizes) {
  device.failAllocation(2);
  block(64, "a");
  try {
    device.allocate(128, "activations");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_STREQ(error.what(),
                 "there is no room on the GPU for activations: 128 bytes are wanted and 1073741760 are free");
  }
  block(64, "b");  // and it can be told, and gone on
  EXPECT_THROW(device.allocate(std::size_t{1} << 31, "too much"), Error);
}

// Ranks connect when they exchange first, which no capture allows; each kind for itself.
TEST_P(FakeGraphs, NamesAnExchangeThatIsCapturedBeforeOneWasBegun) {
  std::byte* const a = block(64, "a");
  const auto ranks = std::make_shared<EchoStreams>(2);
  const auto exchange = [&](RankExchange::Kind kind) {
    const Access accesses[] = {{a, 64, true}, {a, 64, false}};
    device.enqueue(Stream::compute, CollectiveCall{ranks, {.kind = kind, .parts = {{a, a, 64}}}}, accesses, "");
  };
  fill(Stream::compute, a, 64, 0);
  exchange(RankExchange::Kind::allReduce);
  std::vector<int> graphs;
  ranks->begun = [&](const RankExchange&, const FakeLaunch& launch) { graphs.push_back(launch.graph); };
  {
    device.beginCapture(Stream::compute);
    exchange(RankExchange::Kind::allReduce);
    const auto graph = device.endCapture(Stream::compute);
    for (int k = 0; k < 2; ++k) device.launch(*graph, Stream::compute);
    device.synchronise(Stream::compute);
  }
  EXPECT_THAT(graphs, testing::Contains(1).Times(2));
  EXPECT_THAT(faultOf([&] {
                device.beginCapture(Stream::compute);
                exchange(RankExchange::Kind::broadcast);
              }),
              HasSubstr("broadcast of 64 bytes is captured before its ranks did one"));
}

TEST_P(FakeGraphs, AfterACallThatFailsTheDeviceIsLost) {
  std::byte* const a = block(64, "a");
  device.failCall(2);
  EXPECT_THAT(faultOf([&] {
                fill(Stream::compute, a, 64, 1);
                fill(Stream::compute, a, 64, 2);
              }),
              HasSubstr("an illegal memory access was encountered"));
  for (const auto& again : std::vector<std::function<void()>>{[&] { device.synchronise(Stream::upload); },
                                                              [&] { fill(Stream::compute, a, 64, 1); },
                                                              [&] { device.allocate(64, "b"); }}) {
    try {
      again();
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FakeGraphs, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace loom::cuda::fake
