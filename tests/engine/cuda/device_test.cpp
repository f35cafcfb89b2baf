// The fake device itself: that work runs late and in order, and that each fault that it is there for is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <numeric>

#include "engine/cuda/kernels/convert.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda::fake {
namespace {

using testing::HasSubstr;

class Fake : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::byte* block(std::size_t bytes, const char* what) {
    m_blocks.push_back(device.allocate(bytes, what));
    return m_blocks.back();
  }
  std::byte* pinned(std::size_t bytes) {
    m_pinned.push_back(device.allocatePinned(bytes));
    return m_pinned.back();
  }
  void fill(Stream stream, std::byte* to, std::size_t bytes, unsigned char value) {
    const Access access{to, bytes, true};
    device.enqueue(stream, FillCall{to, bytes, value}, {&access, 1}, "");
  }
  void copy(Stream stream, const std::byte* from, std::byte* to, std::size_t bytes) {
    const Access accesses[] = {{to, bytes, true}, {from, bytes, false}};
    device.enqueue(stream, CopyCall{from, to, bytes}, accesses, "");
  }
  // to[i] = from[i], by a kernel that reaches `count` floats and declares so many bytes.
  void convert(const std::byte* from, std::byte* to, std::int64_t count, std::size_t reads, std::size_t writes) {
    KernelCall call{"convert", {{1}, {64}}, std::vector<std::byte>(sizeof(ConvertArguments))};
    const ConvertArguments arguments{.from = from, .to = to, .count = count};
    std::memcpy(call.arguments.data(), &arguments, sizeof(arguments));
    const Access accesses[] = {{to, writes, true}, {from, reads, false}};
    device.enqueue(Stream::compute, call, accesses, "conv1");
  }
  // What the fault says, if there is one by the time that all has run.
  std::string faultOf(const std::function<void()>& work) {
    try {
      work();
      for (const Stream stream : {Stream::compute, Stream::upload, Stream::exchange}) device.synchronise(stream);
    } catch (const Error&) {
    }
    return device.takeFault().value_or("none");
  }
  void TearDown() override {
    for (std::byte* one : m_blocks) device.release(one);
    for (std::byte* one : m_pinned) device.releasePinned(one);
  }

  FakeDevice device{{.seed = GetParam()}};
  std::vector<std::byte*> m_blocks, m_pinned;
  FakeDevice* m_other = nullptr;
};

TEST_P(Fake, RunsInOrderWithinAStreamAndLate) {
  std::byte* const a = block(64, "a");
  std::byte* const host = pinned(64);
  fill(Stream::compute, a, 64, 1);
  fill(Stream::compute, a, 32, 2);
  device.download(Stream::compute, a, host, 64);
  device.synchronise(Stream::compute);
  EXPECT_EQ(host[0], std::byte{2});
  EXPECT_EQ(host[63], std::byte{1});
}

TEST_P(Fake, EventsOrderStreams) {
  std::byte* const a = block(64, "a");
  std::byte* const host = pinned(64);
  const auto event = device.makeEvent();
  fill(Stream::upload, a, 64, 7);
  device.record(Stream::upload, *event);
  device.wait(Stream::compute, *event);
  device.download(Stream::compute, a, host, 64);
  device.synchronise(Stream::compute);
  EXPECT_EQ(host[5], std::byte{7});
  EXPECT_EQ(faultOf([&] { fill(Stream::upload, a, 64, 8); }), "none");  // the host has waited
}

TEST_P(Fake, NamesAMissingEvent) {
  std::byte* const a = block(64, "a");
  EXPECT_THAT(faultOf([&] {
                fill(Stream::upload, a, 64, 7);
                fill(Stream::compute, a + 32, 16, 8);
              }),
              HasSubstr("fill of 16 bytes on stream 'compute' and fill of 64 bytes on stream 'upload' touch the same "
                        "memory, and nothing orders them"));
}

// The event stands before the work that matters.
TEST_P(Fake, NamesAnEventThatWasRecordedTooEarly) {
  std::byte* const a = block(64, "a");
  std::byte* const b = block(64, "b");
  const auto event = device.makeEvent();
  EXPECT_THAT(faultOf([&] {
                fill(Stream::upload, b, 64, 1);
                device.record(Stream::upload, *event);
                fill(Stream::upload, a, 64, 7);
                device.wait(Stream::compute, *event);
                copy(Stream::compute, a, b, 64);
              }),
              HasSubstr("nothing orders them"));
}

TEST_P(Fake, StreamsThatReadTheSameAreFree) {
  std::byte* const a = block(64, "a");
  std::byte* const b = block(64, "b");
  std::byte* const c = block(64, "c");
  fill(Stream::compute, a, 64, 1);
  device.synchronise(Stream::compute);
  EXPECT_EQ(faultOf([&] {
              copy(Stream::compute, a, b, 64);
              copy(Stream::upload, a, c, 64);
            }),
            "none");
}

TEST_P(Fake, NamesAWaitForAnEventThatWasNeverRecorded) {
  const auto event = device.makeEvent();
  EXPECT_THAT(faultOf([&] { device.wait(Stream::compute, *event); }), HasSubstr("never recorded"));
}

TEST_P(Fake, NamesWhatIsReachedOutsideOfMemory) {
  std::byte* const a = block(64, "a tensor");
  EXPECT_EQ(faultOf([&] { fill(Stream::compute, a + 32, 64, 1); }),
            "fill of 64 bytes reaches 64 bytes at byte 32 of 'a tensor', which has 64");
}

TEST_P(Fake, NamesReleasedMemory) {
  std::byte* const a = device.allocate(64, "a tensor");
  device.release(a);
  EXPECT_EQ(faultOf([&] { fill(Stream::compute, a + 4, 4, 1); }),
            "fill of 4 bytes reaches byte 4 of 'a tensor', which was released");
}

TEST_P(Fake, NamesMemoryThatIsReleasedWhileInUse) {
  std::byte* const a = device.allocate(64, "a tensor");
  fill(Stream::compute, a, 64, 1);
  device.release(a);
  EXPECT_EQ(faultOf([] {}), "memory is released while fill of 64 bytes may still use it");
  EXPECT_EQ(device.usedBytes(), 64u);
  m_blocks.push_back(a);
}

TEST_P(Fake, NamesWhatNobodyHasWritten) {
  std::byte* const a = block(64, "a tensor");
  std::byte* const b = block(64, "b");
  fill(Stream::compute, a, 40, 1);
  EXPECT_EQ(faultOf([&] { copy(Stream::compute, a, b, 64); }),
            "copy of 64 bytes reads byte 40 of 'a tensor', which nobody has written");
}

TEST_P(Fake, RunsKernelsThatDeclareWhatTheyReach) {
  std::byte* const a = block(256, "a");
  std::byte* const b = block(256, "b");
  std::byte* const host = pinned(256);
  std::vector<float> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 1.f);
  std::memcpy(host, numbers.data(), 256);
  device.upload(Stream::compute, host, a, 256);
  convert(a, b, 64, 256, 256);
  device.synchronise(Stream::compute);
  device.download(Stream::compute, b, host, 256);
  device.synchronise(Stream::compute);
  EXPECT_EQ(std::memcmp(host, numbers.data(), 256), 0);
}

TEST_P(Fake, NamesAReadThatAKernelDoesNotDeclare) {
  std::byte* const a = block(256, "a");
  std::byte* const b = block(256, "the result");
  fill(Stream::compute, a, 256, 1);
  EXPECT_EQ(faultOf([&] { convert(a, b, 64, 252, 256); }),
            "kernel 'convert' (layer 'conv1') writes byte 252 of 'the result' with what depends on memory that it does "
            "not declare as read");
}

TEST_P(Fake, NamesAWriteThatAKernelDoesNotDeclare) {
  std::byte* const a = block(256, "a");
  std::byte* const b = block(256, "the result");
  fill(Stream::compute, a, 256, 1);
  EXPECT_EQ(faultOf([&] { convert(a, b, 64, 256, 200); }),
            "kernel 'convert' (layer 'conv1') writes byte 200 of 'the result', which it does not declare");
}

TEST_P(Fake, NamesAWriteBehindABlock) {
  std::byte* const a = block(260, "a");
  std::byte* const b = block(256, "the result");
  fill(Stream::compute, a, 260, 1);
  EXPECT_EQ(faultOf([&] { convert(a, b, 65, 260, 256); }),
            "kernel 'convert' (layer 'conv1') writes 0 bytes behind 'the result', which it does not declare");
}

// Both numbers are read and written at once, but declared as written alone.
TEST_P(Fake, NamesWhatIsReadAndDeclaredAsWrittenAlone) {
  std::byte* const a = block(256, "a");
  fill(Stream::compute, a, 256, 1);
  EXPECT_THAT(faultOf([&] {
                const Access access{a, 256, true};
                KernelCall call{"convert", {{1}, {64}}, std::vector<std::byte>(sizeof(ConvertArguments))};
                const ConvertArguments arguments{.from = a, .to = a, .count = 64};
                std::memcpy(call.arguments.data(), &arguments, sizeof(arguments));
                device.enqueue(Stream::compute, call, {&access, 1}, "");
              }),
              // A copy onto itself leaves either pattern as it is: as before.
              "none");
}

TEST_P(Fake, WhatAKernelLeavesAloneStaysUnwritten) {
  std::byte* const a = block(256, "a");
  std::byte* const b = block(256, "b");
  fill(Stream::compute, a, 256, 1);
  convert(a, b, 32, 256, 256);  // the second half is not written
  EXPECT_THAT(faultOf([&] { copy(Stream::compute, b, a, 256); }), HasSubstr("reads byte 128 of 'b', which nobody has"));
}

TEST_P(Fake, NamesPinnedMemoryThatChangesBeforeItsUploadRan) {
  std::byte* const a = block(64, "a");
  std::byte* const host = pinned(64);
  std::memset(host, 1, 64);
  bool found = false;  // unless chance has run it at once
  for (int k = 0; k < 20 && !found; ++k) {
    device.upload(Stream::upload, host, a, 64);
    ++*reinterpret_cast<unsigned char*>(host + 5);
    found = faultOf([] {}) == "an upload of 64 bytes: its pinned memory was changed before it ran";
  }
  EXPECT_TRUE(found);
}

TEST_P(Fake, NamesMemoryOfTheHostThatIsNotPinned) {
  std::byte* const a = block(64, "a");
  std::byte ordinary[64] = {};
  EXPECT_EQ(faultOf([&] { device.upload(Stream::upload, ordinary, a, 64); }),
            "an upload of 64 bytes takes 64 bytes of the host's memory that are not pinned");
}

TEST_P(Fake, ADownloadIsSpoiltUntilItRan) {
  std::byte* const a = block(64, "a");
  std::byte* const host = pinned(64);
  std::memset(host, 0, 64);
  fill(Stream::compute, a, 64, 3);
  device.download(Stream::compute, a, host, 64);
  EXPECT_NE(host[0], std::byte{0});
  device.synchronise(Stream::compute);
  EXPECT_EQ(host[0], std::byte{3});
}

TEST_P(Fake, RefusesKernelsThatAreNotThere) {
  EXPECT_EQ(faultOf([&] { device.enqueue(Stream::compute, KernelCall{"no such", {}, {}}, {}, ""); }),
            "there is no kernel 'no such'");
}
TEST_P(Fake, RefusesArgumentsOfAnotherSize) {
  EXPECT_THAT(faultOf([&] {
                device.enqueue(Stream::compute, KernelCall{"convert", {}, std::vector<std::byte>(3)}, {}, "");
              }),
              HasSubstr("kernel 'convert' takes"));
}

// --- Graphs

TEST_P(Fake, AGraphRunsEachTimeOnWhatStandsThere) {
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

TEST_P(Fake, StreamsWithinAGraphAreOrderedByItsEvents) {
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

TEST_P(Fake, NamesARaceWithinAGraph) {
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

TEST_P(Fake, NamesAStreamThatDoesNotComeBack) {
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

TEST_P(Fake, NamesWhatNoCaptureAllows) {
  const auto during = [&](const std::function<void()>& what) {
    FakeDevice other;
    std::string said = "none";
    other.beginCapture(Stream::compute);
    m_other = &other;
    try {
      what();
    } catch (const Error& error) {
      said = error.what();
    }
    other.takeFault();
    return said;
  };
  EXPECT_EQ(during([&] { m_other->allocate(64, "a"); }), "memory is allocated during a capture, which no GPU allows");
  EXPECT_EQ(during([&] { m_other->allocatePinned(64); }),
            "pinned memory is allocated during a capture, which no GPU allows");
  EXPECT_EQ(during([&] { m_other->synchronise(Stream::compute); }), "the host waits during a capture, which no GPU allows");
  EXPECT_EQ(during([&] { m_other->plan({}, 0); }), "a plan is made during a capture, which no GPU allows");
  EXPECT_EQ(during([&] {
              const KernelCall call{"convert", {}, std::vector<std::byte>(sizeof(ConvertArguments))};
              m_other->enqueue(Stream::compute, call, {}, "");
            }),
            "kernel 'convert' is captured before it was ever started: it would be loaded during the capture");
}

// --- Faults on demand

TEST_P(Fake, AllocationsFailWithTheirSizes) {
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

TEST_P(Fake, AfterACallThatFailsTheDeviceIsLost) {
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

INSTANTIATE_TEST_SUITE_P(Seeds, Fake, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace loom::cuda::fake
