// Winograd's convolutions against sums of products in double, of tensors with NaN around them and in the scratch:
// whatever is read that is no part of them would be seen.
#include "engine/cpu/kernels/winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/philox.h"
#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kAround = 64;  // numbers on either side of a tensor
const float kNan = std::numeric_limits<float>::quiet_NaN();

// Numbers that bf16 holds, in either type.
class Numbers {
 public:
  Numbers(const char* name, std::int64_t count, bool bf16) : m_bf16(bf16), m_values(static_cast<std::size_t>(count)) {
    const Philox random(3, name);
    for (std::size_t i = 0; i < m_values.size(); ++i)
      m_values[i] = fromBf16(toBf16(static_cast<float>(random.normal(i))));
    m_wide.assign(m_values.size() + 2 * kAround, kNan);
    m_half.assign(m_values.size() + 2 * kAround, toBf16(kNan));
    for (std::size_t i = 0; i < m_values.size(); ++i) {
      m_wide[i + kAround] = m_values[i];
      m_half[i + kAround] = toBf16(m_values[i]);
    }
  }
  Stored stored() {
    return m_bf16 ? Stored{reinterpret_cast<std::byte*>(m_half.data() + kAround), true}
                  : Stored{reinterpret_cast<std::byte*>(m_wide.data() + kAround), false};
  }
  double operator[](std::int64_t i) const { return m_values[static_cast<std::size_t>(i)]; }
  const float* data() const { return m_wide.data() + kAround; }
  // What stands there now.
  std::vector<float> now() {
    std::vector<float> values(m_values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = numberAt(stored(), static_cast<std::int64_t>(i));
    return values;
  }
  bool untouchedAround() const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(kAround); ++i)
      if (!std::isnan(m_wide[i]) || !std::isnan(m_wide[m_wide.size() - 1 - i]) || !std::isnan(fromBf16(m_half[i])) ||
          !std::isnan(fromBf16(m_half[m_half.size() - 1 - i])))
        return false;
    return true;
  }

 private:
  bool m_bf16;
  std::vector<float> m_values, m_wide;
  std::vector<std::uint16_t> m_half;
};

double relativeError(const std::vector<float>& found, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

struct Case {
  WinogradGeometry g;
  bool bf16;
};

// Calls f(x's number, y's number, tap) for every product of inputs' and outputs' pixels (channel 0 of each).
template <class F>
void forEachProduct(const WinogradGeometry& g, F f) {
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t i = 0; i < g.outHeight; ++i)
      for (std::int64_t j = 0; j < g.outWidth; ++j)
        for (std::int64_t tap = 0; tap < 9; ++tap) {
          const std::int64_t row = i + tap / 3 - g.top, column = j + tap % 3 - g.left;
          if (row < 0 || row >= g.height || column < 0 || column >= g.width) continue;
          f(((n * g.height + row) * g.width + column) * g.inputs, ((n * g.outHeight + i) * g.outWidth + j) * g.outputs,
            tap);
        }
}
std::int64_t numbersIn(const WinogradGeometry& g) {
  return g.batch * g.height * g.width * g.inputs;
}
std::int64_t numbersOut(const WinogradGeometry& g) {
  return g.batch * g.outHeight * g.outWidth * g.outputs;
}

class Winograd : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (isa() == Isa::baseline) GTEST_SKIP() << "for AVX2 and AVX-512";
  }
  const WinogradGeometry& g = GetParam().g;
  const bool bf16 = GetParam().bf16;
  const std::int64_t pairs = g.inputs * g.outputs;
  std::vector<float> room(std::int64_t count) const {
    return std::vector<float>(static_cast<std::size_t>(count), kNan);
  }
};

TEST_P(Winograd, convolutionIsTheSumOfProducts) {
  Numbers x("x", numbersIn(g), bf16), y("y", numbersOut(g), bf16);
  const Numbers w("w", pairs * 9, false), bias("bias", g.outputs, false);
  for (const bool turned : {false, true}) {
    std::vector<double> expected(static_cast<std::size_t>(numbersOut(g)));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = bias[static_cast<std::int64_t>(i) % g.outputs];
    forEachProduct(g, [&](std::int64_t from, std::int64_t to, std::int64_t tap) {
      for (std::int64_t o = 0; o < g.outputs; ++o)
        for (std::int64_t c = 0; c < g.inputs; ++c)
          expected[static_cast<std::size_t>(to + o)] +=
              x[from + c] * (turned ? w[(c * g.outputs + o) * 9 + 8 - tap] : w[(o * g.inputs + c) * 9 + tap]);
    });
    auto transformed = room(winogradWeightFloats(g)), scratch = room(winogradScratch(g));
    const std::int64_t units = winogradWeightUnits(g), tiles = g.tiles();
    winogradWeights(g, w.data(), turned, transformed.data(), 0, units / 3);
    winogradWeights(g, w.data(), turned, transformed.data(), units / 3, units);
    for (const bool relu : {false, true}) {
      for (std::int64_t part = 0; part < 3; ++part)
        winogradConvolution(g, x.stored(), transformed.data(), bias.data(), relu, y.stored(), tiles * part / 3,
                            tiles * (part + 1) / 3, scratch.data());
      auto limited = expected;
      for (double& value : limited) value = relu && value < 0 ? 0 : value;
      EXPECT_LT(relativeError(y.now(), limited), bf16 ? 3e-3 : 1.2e-6) << "turned " << turned << ", relu " << relu;
      EXPECT_TRUE(y.untouchedAround());
    }
  }
}

TEST_P(Winograd, weightGradientIsTheSumOfProducts) {
  Numbers x("x", numbersIn(g), bf16), dy("dy", numbersOut(g), bf16), dw("dw", pairs * 9, false);
  std::vector<double> expected(static_cast<std::size_t>(pairs * 9));
  forEachProduct(g, [&](std::int64_t from, std::int64_t to, std::int64_t tap) {
    for (std::int64_t o = 0; o < g.outputs; ++o)
      for (std::int64_t c = 0; c < g.inputs; ++c)
        expected[static_cast<std::size_t>((o * g.inputs + c) * 9 + tap)] += x[from + c] * dy[to + o];
  });
  const std::int64_t floats = winogradWeightFloats(g), units = winogradWeightUnits(g), tiles = g.tiles();
  auto scratch = room(winogradScratch(g));
  for (const bool add : {false, true}) {
    const std::vector<float> before = dw.now();
    auto wanted = expected;
    for (std::size_t i = 0; add && i < wanted.size(); ++i) wanted[i] += before[i];
    auto sums = room(3 * floats);  // of threads, the second of which has no tile
    winogradWeightSums(g, x.stored(), dy.stored(), 0, tiles / 2, sums.data(), scratch.data());
    winogradWeightSums(g, x.stored(), dy.stored(), tiles / 2, tiles / 2, sums.data() + floats, scratch.data());
    winogradWeightSums(g, x.stored(), dy.stored(), tiles / 2, tiles, sums.data() + 2 * floats, scratch.data());
    float* to = reinterpret_cast<float*>(dw.stored().at);
    winogradWeightGradient(g, sums.data(), 3, to, add, 0, units / 2);
    winogradWeightGradient(g, sums.data(), 3, to, add, units / 2, units);
    EXPECT_LT(relativeError(dw.now(), wanted), 1.2e-6) << "add " << add;
    EXPECT_TRUE(dw.untouchedAround());
  }
}

// Padding on every side, of one pixel, of two and of none, on one side alone; images that tiles cover and that they do
// not, smaller than one; every width of a panel; more tiles than a block; sums as long as those of networks, which must
// not be one chain of roundings.
std::vector<Case> winogradCases() {
  const WinogradGeometry geometries[] = {{3, 9, 7, 32, 9, 7, 16, 1, 1},      {2, 13, 5, 16, 11, 3, 48, 0, 0},
                                         {1, 4, 8, 48, 6, 10, 32, 2, 2},     {2, 6, 6, 16, 6, 6, 144, 1, 1},
                                         {1, 2, 1, 16, 2, 2, 16, 1, 2},      {3, 5, 6, 64, 4, 6, 64, 0, 1},
                                         {13, 12, 12, 16, 12, 12, 16, 1, 1}, {9, 12, 11, 48, 12, 11, 48, 1, 1},
                                         {1, 8, 8, 512, 8, 8, 16, 1, 1},     {48, 16, 16, 16, 16, 16, 16, 1, 1}};
  std::vector<Case> cases;
  for (const WinogradGeometry& g : geometries)
    for (const bool bf16 : {false, true}) cases.push_back({g, bf16});
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Cases, Winograd, testing::ValuesIn(winogradCases()));

}  // namespace
}  // namespace loom::cpu
