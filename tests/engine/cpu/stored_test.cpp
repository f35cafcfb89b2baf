// Kernels that take numbers in f32 or bf16: what they make of bf16 is what they make of the same numbers in f32,
// rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "engine/base/philox.h"
#include "engine/cpu/kernels/attention.h"
#include "engine/cpu/kernels/batch_norm.h"
#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/elementwise.h"
#include "engine/cpu/kernels/gelu.h"
#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/kernels/noise.h"
#include "engine/cpu/kernels/pooling.h"
#include "engine/cpu/kernels/recurrent.h"

namespace loom::cpu {
namespace {

// A tensor in both types; its numbers are such as bf16 holds.
struct Twin {
  std::vector<float> wide;
  std::vector<std::uint16_t> half;

  explicit Twin(const std::string& name, std::int64_t count)
      : wide(static_cast<std::size_t>(count)), half(wide.size()) {
    const Philox random(1, name);
    for (std::size_t i = 0; i < wide.size(); ++i) half[i] = toBf16(static_cast<float>(random.normal(i)));
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = fromBf16(half[i]);
  }
  Stored in(bool bf16) {
    return {bf16 ? reinterpret_cast<std::byte*>(half.data()) : reinterpret_cast<std::byte*>(wide.data()), bf16};
  }
  // To the last bits of f32, in which a compiler's multiply-adds differ from one branch to the other.
  void expectRounded() const {
    for (std::size_t i = 0; i < wide.size(); ++i) {
      const float off = 4e-6f;
      ASSERT_TRUE(half[i] == toBf16(wide[i]) || half[i] == toBf16(wide[i] - off) || half[i] == toBf16(wide[i] + off))
          << i << ": " << wide[i] << " became " << fromBf16(half[i]);
    }
  }
};

// Few channels that are folded, some that fill whole vectors, some that leave a rest.
const std::int64_t kChannels[] = {4, 16, 24, 64, 72, 131};
constexpr std::int64_t kRows = 77;

TEST(StoredNumbers, SumsReluAndMask) {
  for (const std::int64_t count : {1, 15, 16, 17, 500}) {
    for (int what = 0; what < 6; ++what) {
      Twin a("a", count), b("b", count), mask("mask", count), to("to", count);
      for (const bool bf16 : {false, true})
        addStored(a.in(bf16), what % 2 ? b.in(bf16) : Stored{}, what / 2 == 2 ? mask.in(bf16) : Stored{}, what / 2 == 1,
                  to.in(bf16), count);
      to.expectRounded();
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        float expected = a.wide[at] + (what % 2 ? b.wide[at] : 0);
        if (what / 2 == 1) expected = std::max(expected, 0.0f);
        if (what / 2 == 2 && mask.wide[at] <= 0) expected = 0;
        ASSERT_EQ(to.wide[at], expected) << what << " " << i;
      }
    }
  }
}

TEST(StoredNumbers, NotANumberStaysOne) {
  for (const bool relu : {false, true}) {
    Twin a("a", 20), to("to", 20);
    a.half[3] = 0x7fc0, a.half[17] = 0xffff;
    addStored(a.in(true), {}, {}, relu, to.in(true), 20);
    EXPECT_TRUE(std::isnan(fromBf16(to.half[3])) && std::isnan(fromBf16(to.half[17])));
    std::vector<float> wide(20);
    widen(a.in(true), wide.data(), 20);
    EXPECT_TRUE(std::isnan(wide[3]) && std::isnan(wide[17]));
    EXPECT_EQ(wide[4], a.wide[4]);
  }
}

void expectNear(const std::vector<double> (&sums)[2], const std::vector<double> (&squares)[2]) {
  for (std::size_t c = 0; c < sums[0].size(); ++c) {
    EXPECT_NEAR(sums[0][c], sums[1][c], 1e-4) << c;
    EXPECT_NEAR(squares[0][c], squares[1][c], 1e-4) << c;
  }
}

TEST(StoredNumbers, BatchNormalisation) {
  for (const std::int64_t channels : kChannels) {
    SCOPED_TRACE(channels);
    const std::int64_t count = kRows * channels;
    Twin x("x", count), addend("addend", count), dy("dy", count), mask("mask", count);
    std::vector<float> mean(static_cast<std::size_t>(channels)), scale(mean.size()), beta(mean.size());
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] = 0.1f * static_cast<float>(c % 5), scale[c] = 1 + 0.01f * static_cast<float>(c), beta[c] = -0.2f;
    std::vector<double> sums[2], squares[2];
    for (const bool bf16 : {false, true}) {
      sums[bf16].assign(mean.size(), 0), squares[bf16].assign(mean.size(), 0);
      addMoments(x.in(bf16), kRows, channels, mean.data(), sums[bf16].data(), squares[bf16].data());
    }
    expectNear(sums, squares);
    for (const bool added : {false, true}) {
      Twin y("y", count);
      for (const bool bf16 : {false, true})
        normalise({mean.data(), scale.data(), beta.data(), added}, x.in(bf16), added ? addend.in(bf16) : Stored{},
                  y.in(bf16), kRows, channels);
      y.expectRounded();
    }
    for (const bool masked : {false, true}) {
      Twin dx("dx", count);
      for (const bool bf16 : {false, true}) {
        const Stored positive = masked ? mask.in(bf16) : Stored{};
        sums[bf16].assign(mean.size(), 0), squares[bf16].assign(mean.size(), 0);
        addGradientSums(x.in(bf16), dy.in(bf16), positive, kRows, channels, mean.data(), sums[bf16].data(),
                        squares[bf16].data());
        normaliseGradient({mean.data(), scale.data(), beta.data(), mean.data()}, x.in(bf16), dy.in(bf16), positive,
                          dx.in(bf16), kRows, channels);
      }
      expectNear(sums, squares);
      dx.expectRounded();
    }
  }
}

// Ends that are of the other type: an image in f32, a pooling that knows no bf16.
TEST(StoredNumbers, BothTypesMayMeet) {
  const std::int64_t channels = 24, count = kRows * channels;
  Twin x("x", count), y("y", count);
  std::vector<float> mean(24, 0.5f), scale(24, 1.5f), beta(24, 0.25f);
  const NormalisePass pass{mean.data(), scale.data(), beta.data(), true};
  normalise(pass, x.in(true), {}, y.in(false), kRows, channels);
  normalise(pass, x.in(false), {}, y.in(true), kRows, channels);
  y.expectRounded();
}

// The first maximum of each window takes all of dy, by one number after another.
void expectMaxima(const PoolingGeometry& g, const Twin& x, const Twin& y, const Twin& dy, const Twin& dx, bool relu) {
  std::vector<float> expected(x.wide.size());
  std::size_t out = 0;
  for (std::int64_t n = 0; n < g.batch; ++n) {
    for (std::int64_t h = 0; h < g.output[1]; ++h) {
      for (std::int64_t w = 0; w < g.output[2]; ++w) {
        for (std::int64_t c = 0; c < g.channels; ++c, ++out) {
          std::size_t best = 0;
          for (std::int64_t tap = 0; tap < g.kernel[1] * g.kernel[2]; ++tap) {
            const std::int64_t row = h * g.strides[1] + tap / g.kernel[2],
                               column = w * g.strides[2] + tap % g.kernel[2];
            const auto at = static_cast<std::size_t>(((n * g.input[1] + row) * g.input[2] + column) * g.channels + c);
            if (tap == 0 || x.wide[at] > x.wide[best]) best = at;
          }
          ASSERT_EQ(y.wide[out], x.wide[best]);
          if (!relu || x.wide[best] > 0) expected[best] += dy.wide[out];
        }
      }
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_FLOAT_EQ(dx.wide[i], expected[i]) << i;
}

TEST(StoredNumbers, MaxPooling) {
  for (const auto& [kernel, channels] : {std::pair{2, 20}, {2, 32}, {3, 20}, {3, 32}}) {
    SCOPED_TRACE(testing::Message() << kernel << " " << channels);
    PoolingGeometry g;
    g.batch = 3, g.channels = channels;
    g.input = {1, 8, 6}, g.kernel = {1, kernel, kernel}, g.strides = {1, 2, 2}, g.before = {0, 0, 0};
    g.output = {1, (8 - kernel) / 2 + 1, (6 - kernel) / 2 + 1};
    EXPECT_EQ(windowsTile(g), kernel == 2);
    const std::int64_t inside = 3 * 48 * channels, outside = 3 * g.output[1] * g.output[2] * channels;
    Twin x("x", inside), y("y", outside), dy("dy", outside), dx("dx", inside);
    for (const bool bf16 : {false, true}) maxPooling(g, x.in(bf16), y.in(bf16), 0, 3);
    y.expectRounded();
    for (const bool relu : {false, true}) {
      for (const bool bf16 : {true, false})
        maxPoolingGradient(g, x.in(bf16), y.in(bf16), dy.in(bf16), dx.in(bf16 && windowsTile(g)), relu, 0, 3);
      if (windowsTile(g)) dx.expectRounded();
      expectMaxima(g, x, y, dy, dx, relu);
    }
  }
}

TEST(StoredNumbers, AveragePooling) {
  for (const std::int64_t stride : {2, 1}) {
    SCOPED_TRACE(stride);
    PoolingGeometry g;
    g.batch = 3, g.channels = 20;
    g.input = {1, 8, 6}, g.kernel = {1, 2, 2}, g.strides = {1, stride, stride}, g.before = {0, 0, 0};
    g.output = {1, (8 - 2) / stride + 1, (6 - 2) / stride + 1};
    const std::int64_t inside = 3 * 48 * 20, outside = 3 * g.output[1] * g.output[2] * 20;
    Twin x("x", inside), y("y", outside), dy("dy", outside), dx("dx", inside);
    for (const bool bf16 : {false, true}) {
      averagePooling(g, false, x.in(bf16), y.in(bf16), 0, 3);
      averagePoolingGradient(g, false, dy.in(bf16), dx.in(bf16 && windowsTile(g)), 0, 3);
    }
    y.expectRounded();
    if (windowsTile(g)) dx.expectRounded();
  }
}

TEST(StoredNumbers, Dropout) {
  for (const std::int64_t count : {5, 32, 500}) {
    Twin x("x", count), y("y", count);
    for (const bool bf16 : {false, true})
      dropoutSample(noiseKey(1, 2), 3, 1 << 22, 1.5f, x.in(bf16), y.in(bf16), count);
    y.expectRounded();
  }
}

// A block and a half, and ends of either type.
TEST(StoredNumbers, KernelsForF32InBlocks) {
  for (const std::int64_t count : {1, 17, 1024, 1500}) {
    for (int types = 0; types < 8; ++types) {
      Twin a("a", count), b("b", count), to("to", count);
      const auto multiply = [](const float* a, const float* b, float* to, std::int64_t n) {
        binary(BinaryFunction::multiply, a, b, to, n);
      };
      inBlocks(a.in(types & 1), b.in(types & 2), to.in(types & 4), count, multiply);
      for (std::size_t i = 0; i < a.wide.size(); ++i) {
        const float expected = a.wide[i] * b.wide[i];
        ASSERT_EQ(types & 4 ? fromBf16(to.half[i]) : to.wide[i], types & 4 ? fromBf16(toBf16(expected)) : expected);
      }
      inBlocks(a.in(true), {}, a.in(true), count, [](const float* a, const float* none, float* to, std::int64_t n) {
        EXPECT_EQ(none, nullptr);
        unary(UnaryFunction::negative, 0, a, to, n);
      });
      for (std::size_t i = 0; i < a.wide.size(); ++i) ASSERT_EQ(fromBf16(a.half[i]), -a.wide[i]) << "in place";
    }
  }
}

TEST(StoredNumbers, CellsOfRecurrentLayers) {
  const std::int64_t hidden = 40;
  Twin y("y", hidden), dy("dy", hidden), a("a", 4 * hidden), b("b", 3 * hidden), k("k", 3 * hidden);
  // What an LSTM's forward part leaves is rounded; its gradient is shown on a state that both types hold.
  Twin state("state", 5 * hidden), kept("kept", 5 * hidden), before("cell", hidden);
  for (const bool bf16 : {false, true}) {
    const std::vector<float> cell = before.wide;
    std::vector<float> gru = Twin("state", 4 * hidden).wide, dc = cell, dh = cell;
    lstmCell(state.in(bf16), nullptr, before.in(bf16), nullptr, y.in(bf16), hidden, 0, hidden);
    lstmCellGradient(kept.in(bf16), before.in(bf16), dy.in(bf16), nullptr, dc.data(), a.in(bf16), hidden, 0, hidden);
    std::vector<float> h = cell;
    gruCell(gru.data(), nullptr, cell.data(), h.data(), hidden, 0, hidden);
    gruCellGradient(gru.data(), cell.data(), dy.in(bf16), nullptr, dh.data(), b.in(bf16), k.in(bf16), hidden, 0,
                    hidden);
  }
  for (const Twin* twin : {&y, &state, &a, &b, &k}) twin->expectRounded();
}

// Gates that are as good as shut or open, and numbers that are none, whatever instructions compute them.
TEST(StoredNumbers, AnLstmCellFollowsItsDoubles) {
  const std::int64_t hidden = 67;  // whole vectors and a rest
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const bool bf16 : {false, true}) {
    Twin state("state", 5 * hidden), before("before", hidden), y("y", hidden);
    const float special[] = {0, 100, -100, 88, -88, 1e30f, -1e30f, 1e-4f};
    for (std::size_t i = 0; i < state.wide.size(); ++i) {
      const float value = i % 3 == 0 ? special[i / 3 % 8] : 3 * state.wide[i];
      state.half[i] = toBf16(value);
      state.wide[i] = fromBf16(state.half[i]);
    }
    const std::vector<float> gates = state.wide;
    std::vector<float> cell(static_cast<std::size_t>(hidden));
    lstmCell(state.in(bf16), nullptr, before.in(bf16), cell.data(), y.in(bf16), hidden, 0, hidden);
    for (std::int64_t u = 0; u < hidden; ++u) {
      const auto gate = [&](std::int64_t part) {
        return static_cast<double>(gates[static_cast<std::size_t>(part * hidden + u)]);
      };
      const auto at = static_cast<std::size_t>(u);
      const double c = sigmoid(gate(1)) * before.wide[at] + sigmoid(gate(0)) * std::tanh(gate(2));
      ASSERT_NEAR(cell[at], c, 2e-6) << u;
      ASSERT_NEAR(numberAt(y.in(bf16), u), sigmoid(gate(3)) * std::tanh(c), bf16 ? 4e-3 : 2e-6) << u;
      ASSERT_NEAR(numberAt(state.in(bf16), u), sigmoid(gate(0)), bf16 ? 2e-3 : 3e-7) << u;
    }
    state.wide = gates;
    for (const std::int64_t part : {0, 1, 2, 3}) {
      const std::int64_t at = part * hidden + 5 + 16 * part;
      state.wide[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
      state.half[static_cast<std::size_t>(at)] = 0x7fc0;
    }
    lstmCell(state.in(bf16), nullptr, before.in(bf16), nullptr, y.in(bf16), hidden, 0, hidden);
    for (std::int64_t u = 0; u < hidden; ++u)
      ASSERT_EQ(std::isnan(numberAt(y.in(bf16), u)), u % 16 == 5 && u < 64) << u;
  }
}

TEST(StoredNumbers, GeluAndItsGradientFollowTheirDoubles) {
  for (const std::int64_t count : {5, 16, 4099}) {
    for (const bool bf16 : {false, true}) {
      Twin x("x", count), dy("dy", count), y("y", count), dx("dx", count);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        x.half[at] = toBf16(static_cast<float>(24.0 * static_cast<double>(i) / static_cast<double>(count) - 12));
        x.wide[at] = fromBf16(x.half[at]);
      }
      gelu(x.in(bf16), y.in(bf16), count);
      geluGradient(x.in(bf16), dy.in(bf16), dx.in(bf16), count);
      for (std::int64_t i = 0; i < count; ++i) {
        const double at = x.wide[static_cast<std::size_t>(i)], slope = dy.wide[static_cast<std::size_t>(i)];
        const double phi = 0.5 * std::erfc(-at * std::sqrt(0.5)),
                     density = std::exp(-0.5 * at * at) * 0.3989422804014327;
        const double rounding = bf16 ? 1.0 / 256 : 4e-7;
        ASSERT_NEAR(numberAt(y.in(bf16), i), at * phi, rounding * std::abs(at * phi) + 2e-6) << at;
        const double expected = slope * (phi + at * density);
        ASSERT_NEAR(numberAt(dx.in(bf16), i), expected, rounding * std::abs(expected) + 4e-7 * std::abs(slope)) << at;
      }
      x.wide[2] = std::numeric_limits<float>::quiet_NaN(), x.half[2] = 0x7fc0;
      gelu(x.in(bf16), x.in(bf16), count);  // in place
      for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(std::isnan(numberAt(x.in(bf16), i)), i == 2);
      geluGradient(x.in(bf16), dy.in(bf16), dx.in(bf16), count);
      for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(std::isnan(numberAt(dx.in(bf16), i)), i == 2);
    }
  }
}

// As far apart as the rounding of probabilities, slopes and results says; blocks of queries, keys that fill no vector.
void expectClose(const Twin& found) {
  double off = 0, size = 0;
  for (std::size_t i = 0; i < found.wide.size(); ++i) {
    off += std::pow(fromBf16(found.half[i]) - found.wide[i], 2);
    size += std::pow(found.wide[i], 2);
  }
  EXPECT_LT(std::sqrt(off), 6e-3 * std::sqrt(size));
}

// Tiles of eight that are not full, heads of several panels and of an odd width, several blocks of queries.
TEST(StoredNumbers, Attention) {
  const struct {
    std::int64_t queries, keys, width;
    bool causal;
  } cases[] = {{67, 100, 24, false}, {67, 7, 24, false},   {67, 128, 24, false}, {67, 400, 24, false},
               {100, 100, 24, true}, {7, 7, 24, true},     {128, 128, 24, true}, {400, 400, 24, true},
               {1, 1, 2, true},      {130, 17, 70, false}, {129, 129, 70, true}, {33, 33, 25, true},
               {300, 301, 16, false}};
  for (const auto& [queries, keys, width, causal] : cases) {
    SCOPED_TRACE(testing::Message() << queries << " queries, " << keys << " keys, width " << width << ", " << causal);
    const std::int64_t stride = 2 * width;
    Twin q("q", queries * stride), k("k", keys * stride), v("v", keys * stride), dy("dy", queries * stride);
    Twin y("y", queries * stride), dq("dq", queries * stride), dk("dk", keys * stride), dv("dv", keys * stride);
    std::vector<float> statistics[2];
    for (const bool bf16 : {false, true}) {
      const AttentionHead head{queries, keys, width, stride, causal, 0.2f, bf16};
      std::vector<float> scratch(static_cast<std::size_t>(attentionScratch(head)),
                                 std::numeric_limits<float>::quiet_NaN());
      statistics[bf16].resize(static_cast<std::size_t>(queries));
      attentionForward(head, q.in(bf16), k.in(bf16), v.in(bf16), y.in(bf16), statistics[bf16].data(), scratch.data());
      std::fill(scratch.begin(), scratch.end(), std::numeric_limits<float>::quiet_NaN());
      attentionBackward(head, q.in(bf16), k.in(bf16), v.in(bf16), y.in(bf16), statistics[bf16].data(), dy.in(bf16),
                        dq.in(bf16), dk.in(bf16), dv.in(bf16), scratch.data());
    }
    for (std::size_t i = 0; i < statistics[0].size(); ++i) ASSERT_NEAR(statistics[0][i], statistics[1][i], 1e-5);
    for (const Twin* twin : {&y, &dq, &dk, &dv}) expectClose(*twin);
  }
}

TEST(StoredNumbers, AttentionKeepsNanToTheRowsThatSeeIt) {
  Twin q("q", 40 * 16), k("k", 40 * 16), v("v", 40 * 16), y("y", 40 * 16);
  q.half[20 * 16] = 0x7fc0;
  const std::uint32_t bits = 0x7fc00155;  // with digits that would become an exponent
  std::memcpy(&q.wide[20 * 16], &bits, sizeof(bits));
  for (const bool bf16 : {false, true}) {
    SCOPED_TRACE(bf16);
    const AttentionHead head{40, 40, 16, 16, true, 0.25f, bf16};
    std::vector<float> scratch(static_cast<std::size_t>(attentionScratch(head))), statistics(40);
    attentionForward(head, q.in(bf16), k.in(bf16), v.in(bf16), y.in(bf16), statistics.data(), scratch.data());
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(std::isnan(statistics[i]), i == 20) << i;
      EXPECT_EQ(std::isnan(bf16 ? fromBf16(y.half[i * 16 + 3]) : y.wide[i * 16 + 3]), i == 20) << i;
    }
  }
}

TEST(StoredNumbers, SumsOfRows) {
  std::vector<std::int64_t> widths(std::begin(kChannels), std::end(kChannels));
  widths.push_back(1100);  // more than are summed at once
  for (const std::int64_t columns : widths) {
    Twin x("x", kRows * columns);
    std::vector<float> sums[2];
    for (const bool bf16 : {false, true}) {
      sums[bf16].assign(static_cast<std::size_t>(columns), 1);
      sumRows(x.in(bf16), kRows, columns, columns, sums[bf16].data());
    }
    EXPECT_EQ(sums[0], sums[1]);
    for (std::int64_t c = 0; c < columns; ++c) {
      double sum = 1;
      for (std::int64_t r = 0; r < kRows; ++r) sum += x.wide[static_cast<std::size_t>(r * columns + c)];
      ASSERT_NEAR(sums[0][static_cast<std::size_t>(c)], sum, 1e-5) << c;
    }
  }
}

}  // namespace
}  // namespace loom::cpu
