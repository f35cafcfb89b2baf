// Kernels at sizes beyond the op cases: several blocks of rows and of K, ragged tiles, transposed operands, whole
// ranges of numbers. GRADLOOM_ISA narrows the instructions; CMakeLists.txt runs this for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/base/philox.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gemm.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/noise.h"
#include "engine/cpu/kernels/permute.h"
#include "engine/cpu/kernels/softmax.h"
#include "engine/cpu/stage.h"
#include "engine/ops/noise.h"
#include "tests/engine/cpu/products.h"

namespace loom::cpu {
namespace {

struct GemmCase {
  std::int64_t m, n, k;
  bool transposedA, transposedB;
};

// Which of a product's factors stand in bf16 already, and whether its result is to be.
enum Halves { kNoHalf = 0, kHalfA = 1, kHalfB = 2, kHalfC = 4 };

std::vector<std::uint16_t> halvesOf(const std::vector<float>& numbers) {
  std::vector<std::uint16_t> halves(numbers.size());
  roundToBf16(numbers.data(), halves.data(), static_cast<std::int64_t>(numbers.size()));
  return halves;
}

// In bf16, against the products of the rounded numbers: what is left is the order of sums (and the rounding of C).
void checkGemm(const GemmCase& c, bool accumulate, bool bf16, int halves = kNoHalf) {
  auto a = normalNumbers(c.m * c.k, "a"), b = normalNumbers(c.k * c.n, "b");
  const auto bias = normalNumbers(c.n, "bias");
  MatrixView viewA{a.data(), c.transposedA ? 1 : c.k, c.transposedA ? c.m : 1},
      viewB{b.data(), c.transposedB ? 1 : c.n, c.transposedB ? c.k : 1};
  const auto halfA = halvesOf(a), halfB = halvesOf(b);
  // Rows of an even number of words, behind an odd K no number at all: it must not be read.
  const std::int64_t lda = c.k + c.k % 2;
  std::vector<std::uint16_t> spread(static_cast<std::size_t>(c.m * lda), 0x7fc0);
  for (std::int64_t i = 0; i < c.m; ++i) std::copy_n(halfA.begin() + i * c.k, c.k, spread.begin() + i * lda);
  if (halves & kHalfA) {
    viewA.data = nullptr, viewA.half = c.transposedA ? halfA.data() : spread.data();
    if (!c.transposedA) viewA.rowStride = lda;
  }
  if (halves & kHalfB) viewB.data = nullptr, viewB.half = halfB.data();
  std::vector<float> packed(static_cast<std::size_t>(bf16 ? packedFloatsBf16(c.k, c.n) : packedFloats(c.k, c.n))),
      scratch(static_cast<std::size_t>(gemmScratch()));
  (bf16 ? packPanelsBf16 : packPanels)(packed.data(), viewB, c.k, c.n, 0, panelsOf(c.n));
  const std::int64_t ldc = c.n + 3;
  auto found = normalNumbers(c.m * ldc, "c");
  auto halfC = halvesOf(found);
  if (halves & kHalfC) roundThroughBf16(found.data(), found.data(), c.m * ldc);
  const auto before = found;
  GemmProblem problem{.m = c.m,
                      .n = c.n,
                      .k = c.k,
                      .a = viewA,
                      .packed = packed.data(),
                      .c = found.data(),
                      .ldc = ldc,
                      .bias = accumulate ? nullptr : bias.data(),
                      .activation = accumulate ? Activation::none : Activation::relu,
                      .accumulate = accumulate};
  if (halves & kHalfC) problem.c = nullptr, problem.half = halfC.data();
  // In two parts, as two threads would.
  const std::int64_t middle = c.m / 2;
  const auto multiply = bf16 ? gemmBf16 : gemm;
  multiply(problem, 0, middle, 0, panelsOf(c.n), scratch.data());
  multiply(problem, middle, c.m, 0, panelsOf(c.n), scratch.data());
  if (halves & kHalfC) std::transform(halfC.begin(), halfC.end(), found.begin(), fromBf16);
  if (bf16) {
    roundThroughBf16(a.data(), a.data(), c.m * c.k);
    roundThroughBf16(b.data(), b.data(), c.k * c.n);
  }
  double distance = 0, size = 0;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * ldc + j);
      if (j >= c.n) {
        ASSERT_EQ(found[at], before[at]) << "written behind the row";
        continue;
      }
      const double sum = sumOfProducts(a.data() + (c.transposedA ? i : i * c.k), c.transposedA ? c.m : 1,
                                       b.data() + (c.transposedB ? j * c.k : j), c.transposedB ? 1 : c.n, c.k);
      const double expected = accumulate ? before[at] + sum : std::max(0.0, sum + bias[static_cast<std::size_t>(j)]);
      if (halves & kHalfC) {
        ASSERT_NEAR(found[at], expected, expected / 256 + 1e-4) << i << " " << j;
      }
      distance += (found[at] - expected) * (found[at] - expected);
      size += expected * expected;
    }
  }
  EXPECT_LE(std::sqrt(distance), (halves & kHalfC ? 2.5e-3 : 2e-6) * std::sqrt(size))
      << c.m << "×" << c.n << "×" << c.k << (c.transposedA ? " A'" : "") << (c.transposedB ? " B'" : "")
      << (bf16 ? " in bf16" : "") << " halves " << halves;
}

TEST(CpuKernels, roundToBf16ToTheNearestAndKeepNan) {
  const float inf = std::numeric_limits<float>::infinity(), step = 1.0f / 128;  // between two bf16 at 1
  const std::vector<std::pair<float, float>> pairs = {
      {1.0f, 1.0f},
      {-0.0f, -0.0f},
      {1 + step / 2, 1.0f},  // a tie, to the even one
      {1 + step * 3 / 2, 1 + 2 * step},
      {1 + step * 0.51f, 1 + step},
      {-1 - step * 0.49f, -1.0f},
      {1e-40f, 9.1835496e-41f},  // below the normal numbers, in steps of 2^-133
      {3.4e38f, inf},
      {-inf, -inf}};
  for (const auto& [from, to] : pairs) {
    float found = 0;
    roundThroughBf16(&from, &found, 1);
    if (std::isinf(to) || std::abs(to) >= 1 || to == 0)
      EXPECT_EQ(found, to) << from;
    else
      EXPECT_NEAR(found, to, 1e-43f) << from;
    std::uint16_t half = 0;
    roundToBf16(&from, &half, 1);
    std::uint32_t bits;
    std::memcpy(&bits, &found, sizeof bits);
    EXPECT_EQ(half, bits >> 16) << from;
  }
  const std::uint32_t quiet = 0x7f800001;  // a NaN whose upper half alone would be infinite
  float nan, found = 0;
  std::memcpy(&nan, &quiet, sizeof nan);
  roundThroughBf16(&nan, &found, 1);
  EXPECT_TRUE(std::isnan(found));
}

TEST(CpuKernels, productsOfManySizes) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {7, 64, 16},
                                {13, 10, 515},
                                {98, 130, 33},
                                {197, 65, 1030},
                                {5, 200, 17},
                                {24, 63, 512}}) {
    for (bool transposedA : {false, true}) {
      for (bool transposedB : {false, true}) {
        for (bool bf16 : {false, true}) {
          checkGemm({m, n, k, transposedA, transposedB}, false, bf16);
          checkGemm({m, n, k, transposedA, transposedB}, true, bf16);
        }
      }
    }
  }
}

// Blocks of rows over all of K where C is in bf16, rows that are read where they stand (K even) or packed (odd).
// All of C, nothing twice; and no thread has so much more than another that it alone is waited for.
TEST(CpuKernels, sharesOfAProductAreAllOfItAndEven) {
  for (const std::int64_t m : {5, 96, 2048}) {
    for (const std::int64_t n : {10, 80, 130, 512}) {
      for (const int threads : {1, 2, 3, 8}) {
        SCOPED_TRACE(testing::Message() << m << " x " << n << " on " << threads);
        std::int64_t numbers = 0, most = 0;
        for (int index = 0; index < threads; ++index) {
          const GemmShare share = shareOf(Worker{index, threads}, m, n);
          const std::int64_t columns =
              std::min(n, share.lastPanel * panelWidth()) - std::min(n, share.firstPanel * panelWidth());
          const std::int64_t mine = (share.lastRow - share.firstRow) * columns;
          numbers += mine;
          most = std::max(most, mine);
        }
        EXPECT_EQ(numbers, m * n);
        if (m == 2048) {
          EXPECT_LE(most, m * n / threads * 5 / 4);
        }
      }
    }
  }
}

TEST(CpuKernels, productsOfTensorsInBf16) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {7, 64, 16},
                                {13, 10, 515},
                                {98, 130, 34},
                                {101, 65, 1030},
                                {40, 70, 2600}}) {
    for (bool transposedA : {false, true})
      for (bool transposedB : {false, true})
        for (int halves = kHalfA; halves <= (kHalfA | kHalfB | kHalfC); ++halves) {
          checkGemm({m, n, k, transposedA, transposedB}, false, true, halves);
          if (!(halves & kHalfC)) checkGemm({m, n, k, transposedA, transposedB}, true, true, halves);
        }
  }
}

TEST(CpuKernels, aProductIntoBf16KeepsNan) {
  for (const std::int64_t n : {64, 10}) {
    std::vector<float> a(4, 1.0f), b(static_cast<std::size_t>(n) * 4, 1.0f),
        scratch(static_cast<std::size_t>(gemmScratch())), packed(static_cast<std::size_t>(packedFloatsBf16(4, n)));
    b[2] = std::numeric_limits<float>::quiet_NaN(), b[3] = std::numeric_limits<float>::infinity();
    packPanelsBf16(packed.data(), {b.data(), n, 1}, 4, n, 0, panelsOf(n));
    std::vector<std::uint16_t> c(static_cast<std::size_t>(n));
    gemmBf16({.m = 1,
              .n = n,
              .k = 4,
              .a = {a.data(), 4, 1},
              .packed = packed.data(),
              .ldc = n,
              .activation = Activation::relu,
              .half = c.data()},
             0, 1, 0, panelsOf(n), scratch.data());
    EXPECT_TRUE(std::isnan(fromBf16(c[2])));
    EXPECT_TRUE(std::isinf(fromBf16(c[3])));
    EXPECT_EQ(fromBf16(c[4]), 4);
  }
}

TEST(CpuKernels, permutationsOfFourAxes) {
  for (const Shape& shape : {Shape{2, 17, 5, 9}, Shape{3, 32, 4, 8}, Shape{1, 3, 20, 33}, Shape{40, 1, 1, 21}}) {
    const auto from = normalNumbers(shape.elements(), "x");
    const auto half = halvesOf(from);
    for (const std::vector<int>& order :
         {std::vector<int>{0, 2, 3, 1}, {0, 3, 1, 2}, {3, 2, 1, 0}, {1, 0, 2, 3}, {0, 1, 2, 3}}) {
      const Permutation permutation(shape, order);
      std::vector<float> to(from.size(), -99);
      std::vector<std::uint16_t> halfTo(half.size());
      for (std::int64_t piece = 0; piece < permutation.pieces(); ++piece) {
        permutation.run(from.data(), to.data(), piece, piece + 1);
        permutation.run(half.data(), halfTo.data(), piece, piece + 1);
      }
      ASSERT_EQ(halfTo, halvesOf(to));
      std::int64_t strides[4] = {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1};
      std::size_t at = 0;
      std::int64_t i[4];
      for (i[0] = 0; i[0] < shape[order[0]]; ++i[0])
        for (i[1] = 0; i[1] < shape[order[1]]; ++i[1])
          for (i[2] = 0; i[2] < shape[order[2]]; ++i[2])
            for (i[3] = 0; i[3] < shape[order[3]]; ++i[3]) {
              std::int64_t source = 0;
              for (int axis = 0; axis < 4; ++axis) source += i[axis] * strides[order[static_cast<std::size_t>(axis)]];
              ASSERT_EQ(to[at++], from[static_cast<std::size_t>(source)]);
            }
    }
  }
}

// Every function over its range, at odd lengths.
TEST(CpuKernels, functionsFollowTheirDoubles) {
  struct Case {
    UnaryFunction function;
    float alpha, low, high;
    double tolerance;  // of max(|value|, 1)
  };
  for (const Case& c : {Case{UnaryFunction::relu, 0, -5, 5, 0},
                        {UnaryFunction::elu, 1.5f, -20, 5, 4e-7},
                        {UnaryFunction::selu, 0, -20, 5, 4e-7},
                        {UnaryFunction::gelu, 0, -9, 9, 1e-6},
                        {UnaryFunction::geluTanh, 0, -9, 9, 2e-6},
                        {UnaryFunction::silu, 0, -30, 30, 4e-7},
                        {UnaryFunction::sigmoid, 0, -100, 100, 2e-7},
                        {UnaryFunction::tanh, 0, -12, 12, 4e-7},
                        {UnaryFunction::log, 0, 1e-6f, 50, 4e-7},
                        {UnaryFunction::sqrt, 0, 0, 50, 2e-7},
                        {UnaryFunction::absolute, 0, -3, 3, 0},
                        {UnaryFunction::reciprocal, 0, 0.01f, 3, 2e-7},
                        {UnaryFunction::reciprocalSqrt, 0, 0.01f, 3, 3e-7},
                        {UnaryFunction::clamp, -1, -3, 3, 0},  // from -1 to 0
                        {UnaryFunction::hardSigmoid, 0.2f, -9, 9, 2e-7},
                        {UnaryFunction::hardSwish, 0.2f, -9, 9, 2e-7},
                        {UnaryFunction::softplus, 1, -50, 50, 4e-7},
                        {UnaryFunction::softplus, 3, -50, 50, 4e-7},
                        {UnaryFunction::softsign, 0, -9, 9, 2e-7},
                        {UnaryFunction::erf, 0, -5, 5, 4e-7},
                        {UnaryFunction::sign, 0, -2, 2, 0},
                        {UnaryFunction::floor, 0, -4.5f, 4.5f, 0},
                        {UnaryFunction::round, 0, -4.5f, 4.5f, 0},
                        {UnaryFunction::sin, 0, -30, 30, 3e-7}}) {
    constexpr int kCount = 4099;
    std::vector<float> x(kCount), y(kCount);
    for (int i = 0; i < kCount; ++i)
      x[static_cast<std::size_t>(i)] = c.low + (c.high - c.low) * static_cast<float>(i) / (kCount - 1);
    unary(c.function, c.alpha, x.data(), y.data(), kCount);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = unaryValue(c.function, c.alpha, x[i]);
      ASSERT_LE(std::abs(y[i] - expected), c.tolerance * std::max(1.0, std::abs(expected)))
          << "function " << static_cast<int>(c.function) << " of " << x[i];
    }
  }
}

bool isTheSame(float found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected;
  return std::abs(found - expected) <= 1e-6 * std::abs(expected);
}

// All pairs of numbers that are equal, infinite, no numbers.
TEST(CpuKernels, functionsOfTwoFollowTheirDoubles) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> special{-2, -1, -0.5f, 0, 0.5f, 1, 2, nan, inf, -inf};
  std::vector<float> a, b;
  for (float x : special)
    for (float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  std::vector<float> c(a.size());
  const auto count = static_cast<std::int64_t>(a.size());
  for (int f = 0; f <= static_cast<int>(BinaryFunction::lessEqual); ++f) {
    const auto function = static_cast<BinaryFunction>(f);
    binary(function, a.data(), b.data(), c.data(), count);
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_TRUE(isTheSame(c[i], binaryValue(function, a[i], b[i]))) << f << " of " << a[i] << " and " << b[i];
    for (float y : special) {
      binaryScalar(function, a.data(), y, c.data(), count);
      for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_TRUE(isTheSame(c[i], binaryValue(function, a[i], y))) << f << " of " << a[i] << " and the number " << y;
    }
  }
}

TEST(CpuKernels, foldsTakeEachNumberAndKeepNoNumber) {
  for (std::int64_t length : {1, 15, 16, 17, 50}) {
    std::vector<float> x(static_cast<std::size_t>(length), 1);
    for (std::size_t at = 0; at < x.size(); ++at) {
      x[at] = 3;
      EXPECT_EQ(foldAll(ReduceFunction::maximum, inF32(x.data()), length, -1), 3) << length << ", " << at;
      EXPECT_EQ(foldAll(ReduceFunction::product, inF32(x.data()), length, 2), 6) << length << ", " << at;
      x[at] = -3;
      EXPECT_EQ(foldAll(ReduceFunction::minimum, inF32(x.data()), length, 9), -3) << length << ", " << at;
      x[at] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(foldAll(ReduceFunction::maximum, inF32(x.data()), length, 9))) << length << ", " << at;
      EXPECT_TRUE(std::isnan(foldAll(ReduceFunction::minimum, inF32(x.data()), length, 9))) << length << ", " << at;
      x[at] = 1;
    }
  }
}

TEST(CpuKernels, exponentialIsRelativelyExact) {
  std::vector<float> x, y;
  for (float v = -87; v < 88.7f; v += 0.013f) x.push_back(v);
  y.resize(x.size());
  unary(UnaryFunction::exp, 0, x.data(), y.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1, 3e-7) << x[i];
}

TEST(CpuKernels, notANumberAndInfinityAreNeverHidden) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const UnaryFunction function :
       {UnaryFunction::relu, UnaryFunction::leakyRelu, UnaryFunction::elu, UnaryFunction::selu, UnaryFunction::gelu,
        UnaryFunction::geluTanh, UnaryFunction::silu, UnaryFunction::sigmoid, UnaryFunction::tanh, UnaryFunction::exp,
        UnaryFunction::square, UnaryFunction::absolute, UnaryFunction::clamp, UnaryFunction::hardSigmoid,
        UnaryFunction::hardSwish, UnaryFunction::softplus, UnaryFunction::sign, UnaryFunction::reciprocal}) {
    std::vector<float> x(37, 0.5f), y(37);
    const std::uint32_t withDigits = 0x7fc00155;  // a NaN with digits that would become an exponent
    x[3] = nan;
    std::memcpy(&x[20], &withDigits, sizeof withDigits);
    x[36] = nan;
    unary(function, 1, x.data(), y.data(), 37);
    for (std::size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(std::isnan(y[i]), i == 3 || i == 20 || i == 36) << static_cast<int>(function);
  }
  std::vector<float> x{100, -200, inf, -inf}, y(4);
  unary(UnaryFunction::exp, 0, x.data(), y.data(), 4);
  EXPECT_EQ(y, (std::vector<float>{inf, 0, inf, 0}));
  std::vector<float> a(20, 1), b(20, 2), c(20);
  a[1] = b[2] = nan;
  binary(BinaryFunction::maximum, a.data(), b.data(), c.data(), 20);
  EXPECT_TRUE(std::isnan(c[1]) && std::isnan(c[2]));
  EXPECT_EQ(c[3], 2);
  for (std::size_t length : {5u, 40u}) {
    std::vector<float> logits(length, 1);
    logits[2] = nan;
    EXPECT_TRUE(std::isnan(logSumExp(logits.data(), static_cast<std::int64_t>(length))));
    logits[2] = inf;
    EXPECT_EQ(logSumExp(logits.data(), static_cast<std::int64_t>(length)), inf);
  }
}

TEST(CpuKernels, softmaxOfLargeNumbers) {
  std::vector<float> x(50, 1000), y(50);
  x[7] = 1003;
  softmaxRow(x.data(), y.data(), 50);
  EXPECT_NEAR(y[7], std::exp(3.0) / (std::exp(3.0) + 49), 1e-6);
  EXPECT_NEAR(logSumExp(x.data(), 50), 1000 + std::log(std::exp(3.0) + 49), 1e-4);
}

TEST(CpuKernels, dropoutReadsTheWordsOfTheContract) {
  for (std::int64_t count : {1, 16, 31, 32, 1000}) {
    const auto x = normalNumbers(count, "x");
    std::vector<float> y(x.size());
    const Philox philox(0, std::uint64_t{0x123456789abcdef});
    const double p = 0.3;
    const std::uint64_t counter = noiseCounter(70000, 12);
    dropoutSample(noiseKey(0, 0x123456789abcdef), counter, noiseThreshold(p), static_cast<float>(1 / (1 - p)),
                  inF32(x.data()), inF32(y.data()), count);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool kept = Philox::toUniform(noiseWord(philox, counter, i)) >= p;
      ASSERT_EQ(y[at], kept ? x[at] * static_cast<float>(1 / (1 - p)) : 0.0f) << i;
    }
  }
}

TEST(CpuKernels, dropoutsThresholdIsThatOfTheContract) {
  for (int hundredths = 0; hundredths < 100; ++hundredths) {
    const double p = hundredths / 100.0;
    const std::uint32_t threshold = noiseThreshold(p);
    EXPECT_TRUE(noiseKeeps(threshold << 8, p)) << p;
    if (threshold > 0) {
      EXPECT_FALSE(noiseKeeps((threshold - 1) << 8, p)) << p;
    }
  }
}

TEST(CpuKernels, sumsDoNotDriftWithTheirLength) {
  constexpr std::int64_t kRows = 200000;
  std::vector<float> x(static_cast<std::size_t>(kRows * 3), 0.1f), out(3, 0.0f);
  sumRows(inF32(x.data()), kRows, 3, 3, out.data());
  const double exact = static_cast<double>(0.1f) * kRows;
  for (float sum : out) EXPECT_NEAR(sum, exact, 1e-5 * exact);
  EXPECT_NEAR(sumAll(inF32(x.data()), kRows * 3), 3 * exact, 3e-6 * exact);
}

}  // namespace
}  // namespace loom::cpu
