#include "engine/comm/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "engine/base/error.h"

namespace loom {
namespace {

std::vector<float> through(Wire wire, const std::vector<float>& values) {
  std::vector<std::uint16_t> words(values.size() + kWireHeader);
  std::vector<float> back(values.size());
  encode(wire, values, words.data());
  decode(wire, words.data(), back);
  return back;
}

// The nearest number with `bits` of fraction, ties to even, in double.
double rounded(double value, int bits) {
  if (value == 0) return 0;
  const double unit = std::ldexp(1.0, std::ilogb(value) - bits);
  return std::nearbyint(value / unit) * unit;
}

TEST(Wire, RoundsToTheNearest) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(1003);  // no multiple of any vector
  for (float& value : values) value = normal(random);
  values[0] = 1 + 0x1p-8f;  // half way for bfloat: to even
  values[1] = 1 + 3 * 0x1p-8f;
  values[2] = 1 + 0x1p-11f;  // half way for f16
  values[3] = -values[1];
  const std::vector<float> bf16 = through(Wire::bf16, values), f16 = through(Wire::f16, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(bf16[i], rounded(values[i], 7)) << values[i];
    if (std::fabs(values[i]) > 1e-3f) {
      EXPECT_EQ(f16[i], rounded(values[i], 10)) << values[i];
    }
  }
}

// What f16 alone would lose: the smallest number of a gradient and the largest keep their digits whatever the
// gradient's size.
TEST(Wire, F16CarriesGradientsOfAnySize) {
  for (const float size : {1e-30f, 1e-12f, 1.0f, 1e6f, 1e30f}) {
    const std::vector<float> values = {size, 0.37f * size, -1e-3f * size, 0};
    const std::vector<float> back = through(Wire::f16, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(back[i], values[i], std::fabs(values[i]) * 0x1p-11) << size;
  }
}

TEST(Wire, ShowsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Wire wire : {Wire::bf16, Wire::f16}) {
    const std::vector<float> back =
        through(wire, {1, infinity, -infinity, std::nanf(""), 2, 3, 4, 5, std::nanf(""), infinity});
    EXPECT_EQ(back[0], 1);
    EXPECT_EQ(back[1], infinity);
    EXPECT_EQ(back[2], -infinity);
    EXPECT_TRUE(std::isnan(back[3]));
    EXPECT_TRUE(std::isnan(back[8]));  // behind the vectors: the plain conversion
    EXPECT_EQ(back[9], infinity);
  }
}

TEST(Wire, SumsInF32) {
  std::vector<std::uint16_t> words;
  std::vector<float> sum(3, 0.0f);
  // 4096 + 4096 times 1: a 16-bit sum would stay at 4096 (bfloat: at 256).
  addRounded(Wire::f16, std::vector<float>{4096, 4096, 4096}, sum, words);
  for (int i = 0; i < 4096; ++i) addRounded(Wire::f16, std::vector<float>{1, 1, 1}, sum, words);
  EXPECT_EQ(sum[0], 8192);
  std::vector<float> rounded{1 + 0x1p-9f};
  roundTo(Wire::bf16, rounded, words);
  EXPECT_EQ(rounded[0], 1);
}

TEST(Wire, HasNames) {
  for (const Wire wire : {Wire::f32, Wire::bf16, Wire::f16}) EXPECT_EQ(wireNamed(toString(wire)), wire);
  EXPECT_THROW(wireNamed("f8"), Error);
}

}  // namespace
}  // namespace loom
