// The emulator itself: what it computes, and that it names what a kernel does wrongly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "engine/base/error.h"
#define LOOM_DEVICE_LANGUAGE "tests/engine/cuda/fake/device_language.h"
#include "engine/cuda/kernels/tiles.cuh"

namespace loom::cuda {
namespace {

struct Numbers {
  const float* from = nullptr;
  float* to = nullptr;
  int count = 0;
};

template <auto kKernel>
void start(const Launch& launch, const Numbers& arguments, bool backwards = false, std::uint64_t seed = 1) {
  const emulator::Run how{"kernel 'k'", seed, backwards};
  LOOM_START(kKernel, launch, arguments, &how);
}

std::string faultOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

__global__ void sumOfWarps(Numbers a) {
  float sum = 0;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) sum += a.from[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  LOOM_SHARED(float, sums, 32);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) all += sums[w];
    a.to[blockIdx.x] = all;
  }
}

// A warp's tensor cores, by tiles.cuh: a b and a c^T, of small whole numbers that every type holds.
struct Tiles {
  const Half *a = nullptr, *b = nullptr, *c = nullptr;
  float *ab = nullptr, *ac = nullptr;  // 16 x 8 each
};
constexpr int kTilesStride = kTileStride<16>;
template <class T>
__global__ void multiplyOneTile(Tiles of) {
  unsigned a[4], b[2], c[2];
  loadLeft<kTilesStride>(a, of.a, 0, 0);
  loadRight<kTilesStride>(b, of.b, 0, 0);
  loadRightTransposed<kTilesStride>(c, of.c, 0, 0);
  float ab[4] = {1, 1, 1, 1}, ac[4] = {};
  multiplyTiles<T>(ab, a, b);
  multiplyTiles<T>(ac, a, c);
  for (int e = 0; e < 4; ++e) {
    const int at = (groupOfLane() + 8 * (e / 2)) * 8 + 2 * placeOfLane() + e % 2;
    of.ab[at] = ab[e];
    of.ac[at] = ac[e];
  }
}

template <class T>
void expectTiles() {
  alignas(16) Half a[16 * kTilesStride] = {}, b[16 * kTilesStride] = {}, c[16 * kTilesStride] = {};
  const auto number = [](int i, int j) { return static_cast<float>((i * 7 + j * 3) % 11 - 5); };
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      a[i * kTilesStride + j] = fromFloat<T>(number(i, j)).bits;
      b[i * kTilesStride + j] = fromFloat<T>(number(j, 2 * i)).bits;
      c[i * kTilesStride + j] = fromFloat<T>(number(i + 1, j)).bits;
    }
  std::vector<float> ab(128, NAN), ac(128, NAN);
  const Tiles arguments{a, b, c, ab.data(), ac.data()};
  const emulator::Run how{"kernel 'tiles'"};
  LOOM_START(multiplyOneTile<T>, (Launch{{1}, {32}}), arguments, &how);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      float withB = 1, withC = 0;
      for (int k = 0; k < 16; ++k) {
        withB += number(i, k) * number(j, 2 * k);
        withC += number(i, k) * number(j + 1, k);
      }
      EXPECT_EQ(ab[static_cast<std::size_t>(i * 8 + j)], withB) << i << " " << j;
      EXPECT_EQ(ac[static_cast<std::size_t>(i * 8 + j)], withC) << i << " " << j;
    }
}
TEST(Emulator, MultipliesTilesAsAWarpDoes) {
  expectTiles<bf16>();
  expectTiles<f16>();
}

TEST(Emulator, SumsOverWarpsAndBlocks) {
  std::vector<float> from(1000), to(3);
  std::iota(from.begin(), from.end(), 1.f);
  for (const bool backwards : {false, true})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      start<sumOfWarps>({{3}, {128}}, {from.data(), to.data(), 1000}, backwards, seed);
      EXPECT_EQ(to[0] + to[1] + to[2], 500500);
    }
}

__global__ void everyShuffle(Numbers a) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* const row = a.to + threadIdx.x * 7;
  row[0] = static_cast<float>(__shfl_sync(~0u, lane, 5));
  row[1] = static_cast<float>(__shfl_xor_sync(~0u, lane, 3));
  row[2] = static_cast<float>(__shfl_up_sync(~0u, lane, 2));
  row[3] = static_cast<float>(__shfl_down_sync(~0u, lane, 30));
  row[4] = static_cast<float>(__shfl_down_sync(~0u, lane, 3, 8));
  row[5] = __ballot_sync(~0u, lane < 4) == 15u ? 1 : 0;
  row[6] = __any_sync(~0u, lane == 7) && !__all_sync(~0u, lane == 7) ? 1 : 0;
}

TEST(Emulator, ShufflesAndBallotsAreThoseOfCuda) {
  std::vector<float> to(64 * 7);
  start<everyShuffle>({{1}, {64}}, {nullptr, to.data(), 0});
  for (int thread = 0; thread < 64; ++thread) {
    const int lane = thread % 32;
    const auto row = std::span(to).subspan(static_cast<std::size_t>(thread) * 7, 7);
    EXPECT_THAT(row, testing::ElementsAre(5, lane ^ 3, lane < 2 ? lane : lane - 2, lane + 30 < 32 ? lane + 30 : lane,
                                          lane % 8 < 5 ? lane + 3 : lane, 1, 1));
  }
}

__global__ void countAndMaximum(Numbers a) {
  int* const words = reinterpret_cast<int*>(a.to);
  atomicAdd(&words[0], 2);
  atomicMax(&words[1], static_cast<int>(threadIdx.x));
  const int odd = __syncthreads_count(threadIdx.x % 2);
  const int more = __syncthreads_count(threadIdx.x < 3);
  if (threadIdx.x == 0) words[2] = odd * 100 + more;
}

TEST(Emulator, CountsWithAtomicsAndBarriers) {
  std::vector<float> to(3);
  start<countAndMaximum>({{2}, {40, 2}}, {nullptr, to.data(), 0});
  const int* const words = reinterpret_cast<const int*>(to.data());
  EXPECT_EQ(words[0], 320);
  EXPECT_EQ(words[1], 39);
  EXPECT_EQ(words[2], 4006);
}

// Each thread reads what its neighbour wrote.
template <bool kBarrier>
__global__ void neighbours(Numbers a) {
  LOOM_SHARED(float, row, 64);
  row[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (kBarrier) __syncthreads();
  a.to[threadIdx.x] = row[(threadIdx.x + 32) % 64];
}

TEST(Emulator, AMissingBarrierShowsInOneOfBothDirections) {
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    std::vector<float> one(64), other(64);
    start<neighbours<true>>({{1}, {64}}, {nullptr, one.data(), 0}, false, seed);
    start<neighbours<true>>({{1}, {64}}, {nullptr, other.data(), 0}, true, seed);
    EXPECT_EQ(one, other);
    start<neighbours<false>>({{1}, {64}}, {nullptr, one.data(), 0}, false, seed);
    start<neighbours<false>>({{1}, {64}}, {nullptr, other.data(), 0}, true, seed);
    EXPECT_NE(one, other);
  }
}

// The same within a warp: shared memory without __syncwarp.
template <bool kBarrier>
__global__ void neighboursOfWarp(Numbers a) {
  LOOM_SHARED(float, row, 32);
  row[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (kBarrier) __syncwarp();
  a.to[threadIdx.x] = row[31 - threadIdx.x];
}

TEST(Emulator, AMissingWarpBarrierShowsInOneOfBothDirections) {
  std::vector<float> one(32), other(32);
  start<neighboursOfWarp<true>>({{1}, {32}}, {nullptr, one.data(), 0}, false);
  start<neighboursOfWarp<true>>({{1}, {32}}, {nullptr, other.data(), 0}, true);
  EXPECT_EQ(one, other);
  start<neighboursOfWarp<false>>({{1}, {32}}, {nullptr, one.data(), 0}, false);
  start<neighboursOfWarp<false>>({{1}, {32}}, {nullptr, other.data(), 0}, true);
  EXPECT_FALSE(std::equal(one.begin(), one.end(), other.begin()));
}

__global__ void someStayAway(Numbers a) {
  if (static_cast<int>(threadIdx.x) < a.count) return;
  __syncthreads();
}
__global__ void twoBarriers(Numbers a) {
  if (static_cast<int>(threadIdx.x) < a.count)
    __syncthreads();
  else
    __syncthreads();
}
__global__ void halfAWarp(Numbers a) {
  if (static_cast<int>(threadIdx.x) < a.count) __shfl_xor_sync(0xffffffff, 1, 1);
}
__global__ void underAMask(Numbers) {
  __shfl_xor_sync(0xffff, 1, 1);
}

TEST(Emulator, NamesThreadsThatDoNotMeet) {
  EXPECT_THAT(faultOf([] {
                start<someStayAway>({{2}, {64}}, {nullptr, nullptr, 33});
              }),
              testing::MatchesRegex("kernel 'k', block \\([01], 0, 0\\): thread 0 has left, but thread 33 waits at the "
                                    "block's barrier in emulator_test.cpp:[0-9]+: all must meet at one place"));
  EXPECT_THAT(faultOf([] {
                start<twoBarriers>({{1}, {64}}, {nullptr, nullptr, 32});
              }),
              testing::HasSubstr("thread 0 waits at the block's barrier in emulator_test.cpp"));
  EXPECT_THAT(faultOf([] {
                start<halfAWarp>({{1}, {64}}, {nullptr, nullptr, 40});
              }),
              testing::HasSubstr("thread 32 waits at a shuffle or ballot in emulator_test.cpp"));
  EXPECT_THAT(faultOf([] {
                start<underAMask>({{1}, {32}}, {nullptr, nullptr, 0});
              }),
              testing::HasSubstr(": a warp meets under the mask 0xffff, but only whole warps may"));
  EXPECT_THAT(faultOf([] {
                start<halfAWarp>({{1}, {48}}, {nullptr, nullptr, 48});
              }),
              testing::HasSubstr("a warp of 16 lanes meets"));
  // Nothing of it stays behind.
  std::vector<float> from(64, 1.f), to(1);
  start<sumOfWarps>({{1}, {64}}, {from.data(), to.data(), 64});
  EXPECT_EQ(to[0], 64);
}

TEST(Emulator, RefusesLaunchesThatNoGpuTakes) {
  const Numbers none;
  EXPECT_EQ(faultOf([&] {
              start<someStayAway>({{1}, {2048}}, none);
            }),
            "kernel 'k': a block of 2048 x 1 x 1 threads, but 1 to 1024 can be, z at most 64");
  EXPECT_EQ(faultOf([&] {
              start<someStayAway>({{1, 70000}, {32}}, none);
            }),
            "kernel 'k': a grid of 1 x 70000 x 1 blocks, but 1 to 2147483647 x 65535 x 65535 can be");
  EXPECT_EQ(faultOf([&] {
              start<someStayAway>({{0}, {32}}, none);
            }),
            "kernel 'k': a grid of 0 x 1 x 1 blocks, but 1 to 2147483647 x 65535 x 65535 can be");
}

__global__ void farAway(Numbers a) {
  a.to[(std::int64_t{1} << 40) + threadIdx.x] = 1;
}

TEST(Emulator, NamesTheThreadThatReachesForAnAddressThatIsNotThere) {
  std::vector<float> to(1);
  for (int twice = 0; twice < 2; ++twice)
    EXPECT_THAT(
        faultOf([&] {
          start<farAway>({{1}, {32}}, {nullptr, to.data(), 0});
        }),
        testing::MatchesRegex("kernel 'k', block \\(0, 0, 0\\), thread [0-9]+: it reaches for an address that is "
                              "not there"));
}

// Without the sanitizer, which would be first to say it.
__attribute__((no_sanitize("integer-divide-by-zero"))) __global__ void byZero(Numbers a) {
  a.to[0] = static_cast<float>(static_cast<int>(threadIdx.x) / a.count);
}

TEST(Emulator, NamesTheThreadThatDividesByZero) {
  std::vector<float> to(1);
  EXPECT_THAT(faultOf([&] {
                start<byZero>({{1}, {32}}, {nullptr, to.data(), 0});
              }),
              testing::HasSubstr(": it divides an integer by zero"));
}

__global__ void sharedOfTheBlock(Numbers a) {
  LOOM_SHARED(float, row, 4);
  a.to[blockIdx.x] = row[0];
  row[0] = 1;
}

TEST(Emulator, SharedMemoryIsNewInEveryBlock) {
  std::vector<float> to(2);
  start<sharedOfTheBlock>({{2}, {1}}, {nullptr, to.data(), 0});
  EXPECT_TRUE(std::isnan(to[0]) && std::isnan(to[1]));
}

TEST(Emulator, SixteenBitsRoundAsOnTheDevice) {
  EXPECT_EQ(toFloat(fromFloat<bf16>(1 + 0x1p-8f)), 1);  // ties to even
  EXPECT_EQ(toFloat(fromFloat<bf16>(1 + 0x1.8p-7f)), 1 + 0x1p-6f);
  EXPECT_EQ(toFloat(fromFloat<f16>(1 + 0x1p-11f)), 1);
  EXPECT_EQ(toFloat(fromFloat<f16>(65504.f)), 65504);
  EXPECT_TRUE(std::isinf(toFloat(fromFloat<f16>(65520.f))));
  EXPECT_EQ(toFloat(fromFloat<f16>(0x1p-24f)), 0x1p-24f);  // subnormal
  EXPECT_TRUE(std::isnan(toFloat(fromFloat<f16>(NAN))));
}

}  // namespace
}  // namespace loom::cuda
