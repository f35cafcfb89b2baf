// The fake device itself: that work runs late and in order, and that each fault that it is there for is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/cuda/kernels/bias.h"
#include "tests/engine/cuda/device_fixture.h"

namespace loom::cuda::fake {
namespace {

using testing::HasSubstr;

class Fake : public WithFake {};

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

// y += x in place, with y declared as written alone.
TEST_P(Fake, NamesWhatIsReadInPlaceAndDeclaredAsWrittenAlone) {
  std::byte* const a = block(256, "a");
  fill(Stream::compute, a, 256, 0x3f);  // 0.747 as floats
  EXPECT_EQ(
      faultOf([&] {
        KernelCall call{"add_bias.f32", {{1}, {64}}, std::vector<std::byte>(sizeof(AddBiasArguments))};
        const AddBiasArguments arguments{.y = a + 128, .bias = a, .count = 32, .columns = 32};
        std::memcpy(call.arguments.data(), &arguments, sizeof(arguments));
        const Access accesses[] = {{a + 128, 128, true}, {a, 128, false}};
        device.enqueue(Stream::compute, call, accesses, "");
      }),
      "kernel 'add_bias.f32' writes byte 128 of 'a' with what depends on memory that it does not declare as read");
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
  EXPECT_EQ(faultOf([&] {
              device.enqueue(Stream::compute, KernelCall{"no such", {}, {}}, {}, "");
            }),
            "there is no kernel 'no such'");
}
TEST_P(Fake, RefusesArgumentsOfAnotherSize) {
  EXPECT_THAT(faultOf([&] {
                device.enqueue(Stream::compute, KernelCall{"convert", {}, std::vector<std::byte>(3)}, {}, "");
              }),
              HasSubstr("kernel 'convert' takes"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fake, testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace loom::cuda::fake
