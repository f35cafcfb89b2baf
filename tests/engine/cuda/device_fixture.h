#pragma once
// A fake device, what was allocated on it, and short ways to give it work.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/cuda/kernels/convert.h"
#include "tests/engine/cuda/fake/fake_device.h"

namespace loom::cuda::fake {

class WithFake : public testing::TestWithParam<std::uint64_t> {
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
};

}  // namespace loom::cuda::fake
