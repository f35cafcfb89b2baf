// Places of elements in tensors that are repeated or ordered in another way, and the divisions that lead there.
#ifndef LOOM_DEVICE_LANGUAGE
#define LOOM_DEVICE_LANGUAGE "tests/engine/cuda/fake/device_language.h"
#endif
#include "engine/cuda/kernels/strided.cuh"

#include <gtest/gtest.h>

#include "engine/base/philox.h"

namespace loom::cuda {
namespace {

TEST(CudaStrided, dividesExactly) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 32;
  std::vector<std::int64_t> numbers{1,           2,
                                    3,           5,
                                    7,           10,
                                    641,         1000,
                                    65535,       65536,
                                    65537,       (kLimit >> 1) - 1,
                                    kLimit >> 1, (kLimit >> 1) + 1,
                                    kLimit - 1,  kLimit,
                                    kLimit + 1,  3 * kLimit + 5};
  const Philox random(1, 2);
  for (std::uint64_t k = 0; k < 300; ++k)  // of all sizes
    numbers.push_back(1 + static_cast<std::int64_t>(random.below(std::uint64_t{1} << (1 + k % 40), k)));
  for (const std::int64_t by : numbers) {
    const Divisor divisor = divisorOf(by);
    for (const std::int64_t n : numbers) {
      for (const std::int64_t dividend :
           {n - 1, n, n / by * by, n / by * by + by - 1, n % kLimit * (by % kLimit >> 1)}) {
        ASSERT_EQ(divided(dividend, divisor), dividend / by) << dividend << " / " << by;
      }
    }
  }
}

TEST(CudaStrided, joinsNeighboursWhoseStridesFollow) {
  const Axis plain[] = {{3, 20}, {4, 5}, {5, 1}};
  EXPECT_EQ(stridedOf(plain).groups, 1);
  const Axis row[] = {{3, 0}, {4, 0}, {5, 1}};
  const Strided repeated = stridedOf(row);
  EXPECT_EQ(repeated.groups, 2);
  EXPECT_EQ(repeated.run(), 5);
  EXPECT_EQ(repeated.step(), 1);
  for (std::int64_t i = 0; i < 60; ++i) EXPECT_EQ(placeIn(repeated, i), i % 5);
  const Axis turned[] = {{2, 1}, {1, 7}, {3, 8}, {4, 2}};
  const Strided strided = stridedOf(turned);
  EXPECT_EQ(strided.groups, 2);  // 3 x 4 go on by 2
  for (std::int64_t i = 0; i < 24; ++i) EXPECT_EQ(placeIn(strided, i), i / 12 + i % 12 / 4 * 8 + i % 4 * 2);
  EXPECT_EQ(placeIn(stridedOf({}), 0), 0);
}

}  // namespace
}  // namespace loom::cuda
