#include "launcher/store/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "launcher/store/column_codec.h"
#include "launcher/store/number_set.h"

namespace loom {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<SeriesPoint> noise(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<SeriesPoint> points;
  std::int64_t step = 0;
  for (int i = 0; i < count; ++i) {
    step += 1 + random() % 3;
    double value = std::normal_distribution<>(0, 10)(random);
    if (random() % 50 == 0) value = random() % 3 == 0 ? kNaN : random() % 2 ? kInfinity : -kInfinity;
    points.push_back({step, value});
  }
  return points;
}

SeriesSummary bruteForce(const std::vector<SeriesPoint>& points, std::int64_t from, std::int64_t to) {
  SeriesSummary sum;
  sum.firstStep = points[from].step;
  sum.lastStep = points[to - 1].step;
  sum.last = points[to - 1].value;
  sum.count = to - from;
  for (std::int64_t i = from; i < to; ++i) {
    const double value = points[i].value;
    if (std::isfinite(value)) {
      sum.min = std::fmin(sum.min, value);
      sum.max = std::fmax(sum.max, value);
    } else if (sum.badStep < 0) {
      sum.badStep = points[i].step;
      sum.badValue = value;
    }
  }
  return sum;
}

bool sameBits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b;
}

void expectSame(const SeriesSummary& a, const SeriesSummary& b) {
  EXPECT_EQ(a.firstStep, b.firstStep);
  EXPECT_EQ(a.lastStep, b.lastStep);
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.badStep, b.badStep);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_TRUE(sameBits(a.last, b.last)) << a.last << " " << b.last;
  EXPECT_TRUE(sameBits(a.badValue, b.badValue));
}

TEST(Series, coverIsExactAtEveryLevelAndRange) {
  const auto points = noise(20011, 1);
  Series series;
  for (const auto& each : points) series.add(each.step, each.value);
  ASSERT_EQ(series.count(), 20011);
  ASSERT_EQ(series.levels(), 4);  // 16^3 = 4096 fits, 16^4 does not
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    std::int64_t from = random() % points.size(), to = random() % points.size();
    if (from > to) std::swap(from, to);
    ++to;
    const int level = static_cast<int>(random() % 4);
    SeriesSummary sum;
    std::int64_t next = from;
    series.cover(from, to, level, [&](const SeriesSummary& each, int at, std::int64_t index) {
      EXPECT_EQ(index << (4 * at), next);
      EXPECT_LE(at, level);
      expectSame(each, bruteForce(points, next, next + each.count));
      next += each.count;
      sum.add(each);
    });
    EXPECT_EQ(next, to);
    expectSame(sum, bruteForce(points, from, to));
  }
}

TEST(Series, findsStepsAndValuesBetweenThem) {
  const auto points = noise(5000, 3);
  Series series;
  for (const auto& each : points) series.add(each.step, static_cast<double>(each.step) * 2);
  for (std::int64_t step = 0; step <= points.back().step + 2; ++step) {
    const auto wanted = std::lower_bound(points.begin(), points.end(), step,
                                         [](const SeriesPoint& p, std::int64_t s) { return p.step < s; });
    ASSERT_EQ(series.lowerBound(step), wanted - points.begin()) << step;
    const double inside = static_cast<double>(std::clamp(step, points.front().step, points.back().step));
    ASSERT_DOUBLE_EQ(series.valueAt(step), inside * 2);
    ASSERT_EQ(series.lowerBoundValue(static_cast<double>(step) * 2), wanted - points.begin());
  }
}

TEST(Series, latePointsFindTheirPlace) {
  Series ordered, shuffled;
  auto points = noise(700, 4);
  for (const auto& each : points) ordered.add(each.step, each.value);
  std::shuffle(points.begin(), points.end(), std::mt19937(5));
  for (const auto& each : points) shuffled.add(each.step, each.value);
  ASSERT_EQ(shuffled.count(), ordered.count());
  for (std::int64_t i = 0; i < ordered.count(); ++i) {
    EXPECT_EQ(shuffled.point(i).step, ordered.point(i).step);
    EXPECT_TRUE(sameBits(shuffled.point(i).value, ordered.point(i).value));
  }
  for (std::int64_t i = 0; i < ordered.entries(2); ++i) expectSame(shuffled.summary(2, i), ordered.summary(2, i));
}

TEST(Series, savedBlocksComeBackAndGrowOn) {
  std::map<std::pair<int, std::int64_t>, QByteArray> disk;
  int written = 0;
  const auto store = [&](int level, std::int64_t block, const QByteArray& data) {
    disk[{level, block}] = data;
    ++written;
  };
  const auto load = [&](int level, std::int64_t block) { return disk.at({level, block}); };
  const auto points = noise(30000, 6);
  Series series;
  std::int64_t done = 0;
  // Saved at odd places, loaded again each time: like a window that is closed and opened while a run goes on.
  for (const std::int64_t until : {1, 15, 16, 17, 4095, 4096, 4097, 16384, 20000, 30000}) {
    for (; done < until; ++done) series.add(points[done].step, points[done].value);
    series.save(store);
    EXPECT_FALSE(series.dirty());
    series = Series(done, load);
  }
  expectSame(
      [&] {
        SeriesSummary sum;
        series.cover(0, 30000, 3, [&](const SeriesSummary& each, int, std::int64_t) { sum.add(each); });
        return sum;
      }(),
      bruteForce(points, 0, 30000));
  for (std::int64_t i = 0; i < 30000; i += 7) EXPECT_TRUE(sameBits(series.point(i).value, points[i].value));
  written = 0;
  series.add(points.back().step + 1, 1);
  series.save(store);
  EXPECT_EQ(written, 1);  // only the block that grew
}

// A window that follows a run for days: what nobody looks at goes once it is saved, and comes back when it is asked
// for.
TEST(Series, memoryStaysFlatWhileItGrows) {
  const std::vector<SeriesPoint> points = noise(200'000, 3);
  std::map<std::pair<int, std::int64_t>, QByteArray> stored;
  const auto load = [&](int level, std::int64_t block) { return stored.at({level, block}); };
  Series series;
  std::size_t most = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    series.add(points[i].step, points[i].value);
    if (i % 1000 != 999) continue;
    series.save([&](int level, std::int64_t block, const QByteArray& data) { stored[{level, block}] = data; });
    series.setLoad(load);
    series.dropIdle();
    most = std::max(most, series.bytes());
  }
  EXPECT_LE(most, 256u << 10);  // an open block a level; all of it would take 4.5 MB
  for (std::size_t i = 0; i < points.size(); i += 97) EXPECT_TRUE(sameBits(series.point(i).value, points[i].value));
  expectSame(series.summary(3, 40), bruteForce(points, 40 * 4096, 41 * 4096));
}

TEST(ColumnCodec, keepsEveryBitAndRefusesDamage) {
  const std::uint64_t payload = 0x7ff8dead0000beefull;  // a NaN that carries something
  const WordColumns columns{{1, 2, 3, ~0ull}, {payload, 0, 0x8000000000000000ull, 1}};
  const QByteArray data = encodeColumns(columns, {false, true});
  EXPECT_EQ(decodeColumns(data, {false, true}), columns);
  EXPECT_ANY_THROW(decodeColumns(data.left(data.size() - 3), {false, true}));
  EXPECT_ANY_THROW(decodeColumns(QByteArray("x"), {false, true}));
  EXPECT_ANY_THROW(decodeColumns(data, {false, true, true}));
}

TEST(ColumnCodec, aLossCurveShrinks) {
  WordColumns columns(2);
  for (int i = 0; i < 4096; ++i) {
    columns[0].push_back(i + 1);
    columns[1].push_back(
        std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<float>(2.3 / (1 + i * 0.01) + 0.01 * (i % 7)))));
  }
  EXPECT_LT(encodeColumns(columns, {false, true}).size(), 4096 * 5);
}

TEST(NumberSet, insertsMeltAndAnswer) {
  NumberSet set;
  std::vector<int> numbers(500);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937(7));
  for (const int each : numbers) EXPECT_TRUE(set.insert(each));
  for (const int each : numbers) EXPECT_FALSE(set.insert(each));
  EXPECT_EQ(set.intervals().size(), 1u);
  EXPECT_TRUE(set.insert(900));
  EXPECT_EQ(set.toText(), "0-499,900-900");
  EXPECT_EQ(NumberSet::fromText(set.toText()).toText(), set.toText());
  EXPECT_EQ(NumberSet::fromText("garbage,3-1,-5--2,7-9").toText(), "-5--2,7-9");
  const std::vector<NumberSet::Interval> gaps{{-3, -1}, {500, 899}, {901, 950}};
  EXPECT_EQ(set.missingFrom({-3, 950}), gaps);
}

}  // namespace
}  // namespace loom
