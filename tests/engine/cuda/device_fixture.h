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

  }  // namespace loom::cuda::fake
