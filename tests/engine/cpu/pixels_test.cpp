// The pixels that a convolution reads as rows of a matrix, against the definition; whatever stands around an image is
// NaN, and so is what is not written.
#include "engine/cpu/kernels/pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/base/philox.h"
#include "engine/cpu/kernels/gemm_bf16.h"

namespace loom::cpu::pixels {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t kAround = 64;

// Numbers that bf16 holds, in either type.
struct Numbers {
  std::vector<float> wide;
  std::vector<std::uint16_t> half;
  bool bf16;

  Numbers(std::int64_t count, bool inBf16, bool random)
      : wide(static_cast<std::size_t>(count) + 2 * kAround, kNan), half(wide.size(), toBf16(kNan)), bf16(inBf16) {
    const Philox numbers(5, "pixels");
    for (std::size_t i = kAround; random && i + kAround < wide.size(); ++i) {
      half[i] = toBf16(static_cast<float>(numbers.normal(i)));
      wide[i] = fromBf16(half[i]);
    }
  }
  Stored stored() {
    return bf16 ? Stored{reinterpret_cast<std::byte*>(half.data() + kAround), true} : inF32(wide.data() + kAround);
  }
  float operator[](std::int64_t i) { return numberAt(stored(), i); }
};

using Case = std::tuple<PixelGeometry, bool>;
class Pixels : public testing::TestWithParam<Case> {
 protected:
  const PixelGeometry& g = std::get<0>(GetParam());
  const bool bf16 = std::get<1>(GetParam());
  std::int64_t numbersOfX() const { return g.batch * g.height * g.width * g.inputs; }
  // What the matrix has at a pixel that is written and a column.
  float expected(Numbers& x, std::int64_t pixel, std::int64_t column) const {
    const std::int64_t tap = column / g.inputs,
                       i = pixel / g.outWidth % g.outHeight * g.down + tap / g.kernelWidth - g.top,
                       j = pixel % g.outWidth * g.across + tap % g.kernelWidth - g.left;
    if (i < 0 || i >= g.height || j < 0 || j >= g.width) return 0;
    const std::int64_t sample = pixel / (g.outWidth * g.outHeight);
    return x[((sample * g.height + i) * g.width + j) * g.inputs + column % g.inputs];
  }
};

TEST_P(Pixels, arePackedAsAMatrixOfThem) {
  Numbers x(numbersOfX(), bf16, true);
  const std::int64_t width = panelWidth();
  for (const auto& [first, last] : {std::pair<std::int64_t, std::int64_t>{0, g.pixels()}, {g.pixels() / 3, g.pixels()}})
    for (const std::int64_t column : {std::int64_t{0}, g.columns() / 2 / width * width}) {
      const std::int64_t columns = g.columns() - column, count = last - first;
      const std::size_t size =
          static_cast<std::size_t>(bf16 ? packedFloatsBf16(count, columns) : packedFloats(count, columns));
      std::vector<float> matrix(static_cast<std::size_t>(count * columns)), wanted(size, kNan),
          packed(size + kAround, kNan);
      for (std::int64_t p = 0; p < count; ++p)
        for (std::int64_t c = 0; c < columns; ++c)
          matrix[static_cast<std::size_t>(p * columns + c)] = expected(x, first + p, column + c);
      (bf16 ? packPanelsBf16 : packPanels)(wanted.data(), {matrix.data(), columns, 1}, count, columns, 0,
                                           panelsOf(columns));
      packPixels(g, x.stored(), first, last, column, g.columns(), packed.data());
      EXPECT_EQ(std::memcmp(packed.data(), wanted.data(), size * sizeof(float)), 0) << first << " " << column;
      for (std::size_t i = size; i < packed.size(); ++i) ASSERT_TRUE(std::isnan(packed[i]));
    }
}

TEST_P(Pixels, areGatheredAndScattered) {
  if (g.taps() != 1 || g.top != 0 || g.left != 0) GTEST_SKIP() << "for one tap";
  const std::int64_t rows = g.batch * g.outHeight, half = rows / 2, row = g.outWidth * g.inputs;
  Numbers x(numbersOfX(), bf16, true), gathered(rows * row, bf16, false), back(numbersOfX(), bf16, false);
  gatherPixels(g, x.stored(), 0, half, gathered.stored());
  gatherPixels(g, x.stored(), half, rows - half, gathered.stored().from(half * row));
  std::vector<float> wanted(static_cast<std::size_t>(numbersOfX()));
  for (std::int64_t pixel = 0; pixel < g.pixels(); ++pixel)
    for (std::int64_t c = 0; c < g.inputs; ++c) {
      ASSERT_EQ(gathered[pixel * g.inputs + c], expected(x, pixel, c));
      const std::int64_t i = pixel / g.outWidth % g.outHeight * g.down, j = pixel % g.outWidth * g.across,
                         sample = pixel / (g.outWidth * g.outHeight);
      wanted[static_cast<std::size_t>(((sample * g.height + i) * g.width + j) * g.inputs + c)] = expected(x, pixel, c);
    }
  scatterPixels(g, gathered.stored().from(half * row), half, rows - half, back.stored());
  scatterPixels(g, gathered.stored(), 0, half, back.stored());
  for (std::int64_t i = 0; i < numbersOfX(); ++i) ASSERT_EQ(back[i], wanted[static_cast<std::size_t>(i)]) << i;
  EXPECT_TRUE(std::isnan(back[-1]) && std::isnan(back[numbersOfX()]));
}

TEST_P(Pixels, gradientsAreSummedInTheOrderOfThreads) {
  constexpr int kParts = 3;
  const std::int64_t count = g.outputs * g.columns();
  Numbers sums(kParts * count, false, true), dw(count, false, true), before = dw;
  for (const bool add : {true, false}) {
    auto* to = reinterpret_cast<float*>(dw.stored().at);
    const auto* from = reinterpret_cast<const float*>(sums.stored().at);
    sumPixelGradients(g, from, kParts, to, add, 0, g.outputs / 3);
    sumPixelGradients(g, from, kParts, to, add, g.outputs / 3, g.outputs);
    for (std::int64_t o = 0; o < g.outputs; ++o)
      for (std::int64_t c = 0; c < g.inputs; ++c)
        for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
          const std::int64_t at = o * g.columns() + tap * g.inputs + c, to2 = (o * g.inputs + c) * g.taps() + tap;
          const float sum = sums[at] + sums[count + at] + sums[2 * count + at];
          ASSERT_EQ(dw[to2], add ? before[to2] + sum : sum) << o << " " << c << " " << tap;
        }
    EXPECT_TRUE(std::isnan(dw[-1]) && std::isnan(dw[count]));
  }
}

// Strides of one, two and three, in one direction alone; padding on one side and on all; kernels larger than the image;
// rows and columns behind the last that is read; channels that fill no panel, one, and several.
INSTANTIATE_TEST_SUITE_P(Cases, Pixels,
                         testing::Combine(testing::Values(PixelGeometry{2, 7, 9, 64, 7, 9, 32, 1, 1, 1, 1, 0, 0},
                                                          PixelGeometry{3, 9, 7, 16, 5, 4, 48, 1, 1, 2, 2, 0, 0},
                                                          PixelGeometry{2, 8, 11, 128, 3, 4, 64, 1, 1, 3, 3, 0, 0},
                                                          PixelGeometry{2, 9, 8, 64, 5, 4, 16, 3, 3, 2, 2, 1, 1},
                                                          PixelGeometry{1, 13, 12, 48, 12, 6, 80, 3, 2, 1, 2, 1, 0},
                                                          PixelGeometry{3, 2, 1, 32, 2, 2, 16, 5, 5, 1, 1, 2, 3},
                                                          PixelGeometry{5, 6, 6, 16, 3, 3, 16, 3, 3, 2, 2, 0, 1}),
                                          testing::Bool()));

}  // namespace
}  // namespace loom::cpu::pixels
