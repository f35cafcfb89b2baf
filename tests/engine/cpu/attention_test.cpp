// Attention of one head and its gradient against sums in double, in f32; scratch is NaN before each call, and so is
// what stands between the heads' rows, which nothing writes.
#include "engine/cpu/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/philox.h"

namespace loom::cpu::attention_test {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

// Rows of a head among those of others.
struct Rows {
  std::int64_t rows, width, stride;
  std::vector<float> numbers;

  Rows(const char* name, std::int64_t count, std::int64_t headWidth, bool random = true)
      : rows(count), width(headWidth), stride(headWidth + 3), numbers(static_cast<std::size_t>(rows * stride), kNan) {
    const Philox source(7, name);
    for (std::int64_t r = 0; r < rows && random; ++r)
      for (std::int64_t w = 0; w < width; ++w)
        at(r, w) = static_cast<float>(source.normal(static_cast<std::uint64_t>(r * width + w)));
  }
  float& at(std::int64_t row, std::int64_t column) { return numbers[static_cast<std::size_t>(row * stride + column)]; }
  Stored stored() { return inF32(numbers.data()); }
};
// The same in double.
struct Sums {
  std::int64_t width;
  std::vector<double> sums;

  Sums(std::int64_t rows, std::int64_t columns) : width(columns), sums(static_cast<std::size_t>(rows * columns)) {}
  double& at(std::int64_t row, std::int64_t column) { return sums[static_cast<std::size_t>(row * width + column)]; }
};
void expectNear(Rows& found, Sums& expected, const char* what) {
  for (std::int64_t r = 0; r < found.rows; ++r) {
    for (std::int64_t w = 0; w < found.width; ++w)
      ASSERT_NEAR(found.at(r, w), expected.at(r, w), 3e-5 * (1 + std::abs(expected.at(r, w)))) << what << ' ' << r;
    for (std::int64_t w = found.width; w < found.stride; ++w)
      ASSERT_TRUE(std::isnan(found.at(r, w))) << what << ' ' << r;
  }
}

void check(std::int64_t queries, std::int64_t keys, std::int64_t width, bool causal) {
  SCOPED_TRACE(testing::Message() << queries << " queries, " << keys << " keys, width " << width << ", " << causal);
  Rows q("q", queries, width), k("k", keys, width), v("v", keys, width), dy("dy", queries, width);
  Rows y("y", queries, width, false), dq = y, dk("dk", keys, width, false), dv = dk;
  const float scale = 0.3f;
  const AttentionHead head{queries, keys, width, q.stride, causal, scale};
  std::vector<float> statistics(static_cast<std::size_t>(queries));
  std::vector<float> scratch(static_cast<std::size_t>(attentionScratch(head)), kNan);
  attentionForward(head, q.stored(), k.stored(), v.stored(), y.stored(), statistics.data(), scratch.data());
  std::fill(scratch.begin(), scratch.end(), kNan);
  attentionBackward(head, q.stored(), k.stored(), v.stored(), y.stored(), statistics.data(), dy.stored(), dq.stored(),
                    dk.stored(), dv.stored(), scratch.data());

  Sums out(queries, width), toQ(queries, width), toK(keys, width), toV(keys, width);
  for (std::int64_t i = 0; i < queries; ++i) {
    const std::int64_t seen = causal ? std::min(keys, i + 1) : keys;
    std::vector<double> p(static_cast<std::size_t>(seen)), dp(p.size());
    double top = -1e30, sum = 0, d = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      double& score = p[static_cast<std::size_t>(j)];
      for (std::int64_t w = 0; w < width; ++w) {
        score += scale * static_cast<double>(q.at(i, w)) * k.at(j, w);
        dp[static_cast<std::size_t>(j)] += static_cast<double>(dy.at(i, w)) * v.at(j, w);
      }
      top = std::max(top, score);
    }
    for (double& score : p) sum += score = std::exp(score - top);
    ASSERT_NEAR(statistics[static_cast<std::size_t>(i)], top + std::log(sum), 1e-5);
    for (std::size_t j = 0; j < p.size(); ++j) d += (p[j] /= sum) * dp[j];
    for (std::int64_t j = 0; j < seen; ++j) {
      const double weight = p[static_cast<std::size_t>(j)],
                   slope = weight * (dp[static_cast<std::size_t>(j)] - d) * scale;
      for (std::int64_t w = 0; w < width; ++w) {
        out.at(i, w) += weight * v.at(j, w);
        toQ.at(i, w) += slope * k.at(j, w);
        toK.at(j, w) += slope * q.at(i, w);
        toV.at(j, w) += weight * dy.at(i, w);
      }
    }
  }
  expectNear(y, out, "y");
  expectNear(dq, toQ, "dq");
  expectNear(dk, toK, "dk");
  expectNear(dv, toV, "dv");
}

TEST(Attention, followsItsDoublesAtEverySizeThatCrossesATile) {
  for (const std::int64_t keys : {1, 2, 5, 6, 7, 8, 9, 16, 17, 49, 128, 131, 260, 400}) {
    for (const std::int64_t width : {1, 8, 9, 16, 24, 70}) {
      if (keys > 128 && width != 24) continue;  // several blocks of queries: one width is enough
      check(keys, keys, width, true);
      for (const std::int64_t queries : {1, 7, 67}) check(queries, keys, width, false);
    }
  }
}

}  // namespace
}  // namespace loom::cpu::attention_test
