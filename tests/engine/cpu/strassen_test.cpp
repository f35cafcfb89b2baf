// Products of halves (kernels/strassen.h) beside sums in double, in parts as threads compute them.
#include "engine/cpu/kernels/strassen.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/cpu/kernels/recurrent.h"
#include "engine/cpu/kernels/strassen_rows.h"
#include "tests/engine/cpu/products.h"

namespace loom::cpu::strassen {
namespace {

struct Case {
  std::int64_t m, panels, k;  // panels of a half of the columns
  bool transposedA, transposedB, accumulate, bias, inBlocks = false;
};

void check(const Case& c) {
  const std::int64_t n = 2 * c.panels * panelWidth(), ldc = n + 5;
  SCOPED_TRACE(::testing::Message() << c.m << "×" << n << "×" << c.k << (c.transposedA ? " A'" : "")
                                    << (c.transposedB ? " B'" : "") << (c.accumulate ? " added" : ""));
  ASSERT_TRUE(canHalve(c.m, n, c.k));
  // Rows of A begin further on than they are long; what lies between is not read.
  const std::int64_t lda = (c.transposedA ? c.m : c.k) + 3;
  auto a = normalNumbers((c.transposedA ? c.k : c.m) * lda, "a");
  for (std::int64_t row = 0; row < (c.transposedA ? c.k : c.m); ++row)
    std::fill_n(a.begin() + (row + 1) * lda - 3, 3, std::numeric_limits<float>::quiet_NaN());
  const auto b = normalNumbers(c.k * n, "b"), bias = normalNumbers(n, "bias");
  auto found = normalNumbers(c.m * ldc, "c");
  const auto before = found;
  std::vector<float> scratch(static_cast<std::size_t>(halvedScratch()), std::numeric_limits<float>::quiet_NaN());
  const MatrixView viewB{b.data(), c.transposedB ? 1 : n, c.transposedB ? c.k : 1};
  const std::int64_t middle = c.m / 4, between = c.panels / 2;
  for (std::int64_t block = 0; block < (c.inBlocks ? halvedBlocks(c.k) : 1); ++block) {
    const HalvedSteps steps = c.inBlocks ? halvedBlock(c.k, block) : allSteps(c.k);
    std::vector<float> packed(static_cast<std::size_t>(halvedFloats(steps, n)),
                              std::numeric_limits<float>::quiet_NaN());
    packHalved(packed.data(), viewB, c.k, n, 0, between, steps);
    packHalved(packed.data(), viewB, c.k, n, between, c.panels, steps);
    const GemmProblem problem{.m = c.m,
                              .n = n,
                              .k = c.k,
                              .a = {a.data(), c.transposedA ? 1 : lda, c.transposedA ? lda : 1},
                              .packed = packed.data(),
                              .c = found.data(),
                              .ldc = ldc,
                              .bias = c.bias ? bias.data() : nullptr,
                              .activation = c.bias ? Activation::relu : Activation::none,
                              .accumulate = c.accumulate};
    for (const GemmShare& share : {GemmShare{0, middle, 0, between}, GemmShare{0, middle, between, c.panels},
                                   GemmShare{middle, c.m / 2, 0, c.panels}})
      multiplyHalved(problem, share, steps, scratch.data());
  }
  double distance = 0, size = 0;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * ldc + j);
      if (j >= n) {
        ASSERT_EQ(found[at], before[at]) << "written behind the row";
        continue;
      }
      double expected = (c.accumulate ? before[at] : 0) +
                        sumOfProducts(a.data() + (c.transposedA ? i : i * lda), c.transposedA ? lda : 1,
                                      b.data() + (c.transposedB ? j * c.k : j), c.transposedB ? 1 : n, c.k);
      if (c.bias) expected = std::max(0.0, expected + bias[static_cast<std::size_t>(j)]);
      distance += (found[at] - expected) * (found[at] - expected);
      size += expected * expected;
    }
  }
  // A product that is missing or has the wrong sign is some tenths.
  EXPECT_LE(std::sqrt(distance), 4e-6 * std::sqrt(size));
}

TEST(Strassen, productsOfHalvesAreTheProduct) {
  for (const bool transposedA : {false, true}) {
    for (const bool transposedB : {false, true}) {
      check({8, 2, 32, transposedA, transposedB, false, false});
      check({32, 2, 64, transposedA, transposedB, true, false});
      // More rows than a block of them, of a height that no tile divides; more of K than a block, and none of its kind.
      check({418, 3, 96, transposedA, transposedB, false, true});
      // B larger than A, and more columns than are multiplied together.
      check({420, 19, 64, transposedA, transposedB, false, false});
      for (const bool inBlocks : {false, true}) check({50, 2, 2144, transposedA, transposedB, true, true, inBlocks});
    }
  }
}

// With A's sums packed ahead, in parts of its rows and of K.
void checkRows(std::int64_t m, std::int64_t panels, std::int64_t k, bool transposedA, bool accumulate) {
  const std::int64_t n = 2 * panels * kNarrowPanel, ldc = n + 5, lda = (transposedA ? m : k) + 3;
  SCOPED_TRACE(::testing::Message() << m << "×" << n << "×" << k << (transposedA ? " A'" : "")
                                    << (accumulate ? " added" : ""));
  auto a = normalNumbers((transposedA ? k : m) * lda, "a");
  for (std::int64_t row = 0; row < (transposedA ? k : m); ++row)
    std::fill_n(a.begin() + (row + 1) * lda - 3, 3, std::numeric_limits<float>::quiet_NaN());
  const auto b = normalNumbers(k * n, "b");
  auto found = normalNumbers(m * ldc, "c");
  const auto before = found;
  const MatrixView viewA{a.data(), transposedA ? 1 : lda, transposedA ? lda : 1};
  const std::int64_t middleRow = m / 2 / 3, middleStep = k / 2 / 32 * 16;
  for (const HalvedRows& rows : {HalvedRows{0, middleRow}, HalvedRows{middleRow, m / 2}}) {
    for (const HalvedSteps& steps : {HalvedSteps{0, middleStep}, HalvedSteps{middleStep, k / 2}}) {
      if (rows.first == rows.last || steps.first == steps.last) continue;
      std::vector<float> packedA(static_cast<std::size_t>(halvedRowsFloats(rows, steps)),
                                 std::numeric_limits<float>::quiet_NaN()),
          packedB(static_cast<std::size_t>(halvedFloats(steps, n)), std::numeric_limits<float>::quiet_NaN());
      packHalvedRows(packedA.data(), viewA, m, k, rows, steps);
      packHalvedColumns(packedB.data(), {b.data(), n, 1}, k, n, steps);
      multiplyHalvedRows({.m = m,
                          .n = n,
                          .k = k,
                          .a = {packedA.data()},
                          .packed = packedB.data(),
                          .c = found.data(),
                          .ldc = ldc,
                          .accumulate = accumulate || steps.first > 0},
                         rows, steps);
    }
  }
  double distance = 0, size = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<std::size_t>(i * ldc + j);
      if (j >= n) {
        ASSERT_EQ(found[at], before[at]) << "written behind the row";
        continue;
      }
      const double expected = (accumulate ? before[at] : 0) + sumOfProducts(a.data() + (transposedA ? i : i * lda),
                                                                            transposedA ? lda : 1, b.data() + j, n, k);
      distance += (found[at] - expected) * (found[at] - expected);
      size += expected * expected;
    }
  }
  EXPECT_LE(std::sqrt(distance), 4e-6 * std::sqrt(size));
}

TEST(Strassen, rowsPackedAheadGiveTheProduct) {
  for (const bool transposedA : {false, true}) {
    for (const bool accumulate : {false, true}) {
      checkRows(8, 1, 32, transposedA, accumulate);
      checkRows(96, 1, 128, transposedA, accumulate);
      // More rows than a block, of a height that neither tiles nor squares divide; and some panels.
      checkRows(422, 2, 96, transposedA, accumulate);
    }
  }
}

TEST(Strassen, columnsAreWrittenOrAddedAsRows) {
  const std::int64_t rows = 16, units = 24, fromStride = 19, toStride = 29;
  const auto from = normalNumbers(units * fromStride, "from"), before = normalNumbers(rows * toStride, "to");
  for (const bool add : {false, true}) {
    auto to = before;
    addColumns(from.data(), fromStride, to.data(), toStride, rows, units, add);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t u = 0; u < toStride; ++u) {
        const auto at = static_cast<std::size_t>(r * toStride + u);
        const float column = u < units ? from[static_cast<std::size_t>(u * fromStride + r)] : 0;
        EXPECT_EQ(to[at], u >= units ? before[at] : add ? before[at] + column : column) << r << ", " << u;
      }
    }
  }
}

TEST(Strassen, whatCannotBeHalvedIsToldFromIt) {
  const std::int64_t n = 2 * panelWidth();
  EXPECT_TRUE(canHalve(8, n, 32));
  EXPECT_FALSE(canHalve(6, n, 32));
  EXPECT_FALSE(canHalve(9, n, 32));
  EXPECT_FALSE(canHalve(8, n + panelWidth(), 32));
  EXPECT_FALSE(canHalve(8, n, 48));
}

}  // namespace
}  // namespace loom::cpu::strassen
