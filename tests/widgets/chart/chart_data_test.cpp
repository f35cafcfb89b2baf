// Reduction to pixel columns loses neither minimum, maximum, last value nor anything that is not finite; smoothing is
// what its definition says; lines break at gaps; labels do not touch.
#include "widgets/chart/chart_data.h"

#include <QSignalSpy>
#include <QtTest>
#include <cmath>
#include <random>

#include "widgets/chart/smoothing.h"

using namespace loom;

class ChartDataTest : public QObject {
  Q_OBJECT

 private:
  static std::vector<std::pair<double, double>> noisy(int count, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 0.1);
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i < count; ++i) points.emplace_back(i, 2 * std::exp(-i / (count / 4.0)) + normal(random));
    return points;
  }

 private Q_SLOTS:
  void foldingKeepsExtremes();
  void foldingKeepsWhatIsNotFinite();
  void fewPointsAreExact();
  void neighboursRunOutOfTheFrame();
  void smoothingIsItsDefinition();
  void smoothingHasNoBiasAndNoLag();
  void smoothingIgnoresTheZoom();
  void noMoreThanTwoPointsAColumn();
  void linesBreakAtGaps();
  void infinitiesStandAtTheirEdge();
  void excursionsAreMarkedOnce();
  void logScaleAndBack();
  void stacksAddUp();
  void valueAtIsTheNearest();
  void labelsSpread();
  void axisZoomsAndFollows();
  void framesAreAtMostThirtyASecond();
};

void ChartDataTest::foldingKeepsExtremes() {
  auto points = noisy(100000);
  points[54321].second = 77;
  points[12345].second = -55;
  const VectorSource source(points);
  const ChartColumns folded = source.columns(XUnit::step, 0, 99999, 800);
  QVERIFY(!folded.exact);
  QCOMPARE(folded.points, 100000);
  QVERIFY(folded.columns.size() <= 800);
  std::int64_t count = 0;
  double low = 1e9, high = -1e9;
  for (const ChartColumn& column : folded.columns) {
    // Each column against its own points, read again.
    double columnLow = 1e9, columnHigh = -1e9;
    for (auto i = static_cast<std::size_t>(column.xFirst); i <= static_cast<std::size_t>(column.x); ++i) {
      columnLow = std::min(columnLow, points[i].second);
      columnHigh = std::max(columnHigh, points[i].second);
    }
    QCOMPARE(column.minimum, columnLow);
    QCOMPARE(column.maximum, columnHigh);
    QCOMPARE(column.last, points[static_cast<std::size_t>(column.x)].second);
    count += column.count;
    low = std::min(low, column.minimum);
    high = std::max(high, column.maximum);
  }
  QCOMPARE(count, 100000);
  QCOMPARE(low, -55.0);
  QCOMPARE(high, 77.0);
  QCOMPARE(folded.columns.back().last, points.back().second);
}

void ChartDataTest::foldingKeepsWhatIsNotFinite() {
  auto points = noisy(50000);
  points[20000].second = std::nan("");
  points[30000].second = -INFINITY;
  const ChartColumns folded = VectorSource(points).columns(XUnit::step, 0, 49999, 500);
  std::vector<std::pair<double, double>> bad;
  for (const ChartColumn& column : folded.columns) {
    if (column.bad) bad.emplace_back(column.badX, *column.bad);
    QVERIFY(std::isfinite(column.minimum) && std::isfinite(column.maximum));
  }
  QCOMPARE(bad.size(), std::size_t{2});
  QCOMPARE(bad[0].first, 20000.0);
  QVERIFY(std::isnan(bad[0].second));
  QCOMPARE(bad[1].first, 30000.0);
  QVERIFY(std::isinf(bad[1].second) && bad[1].second < 0);
}

void ChartDataTest::fewPointsAreExact() {
  const auto points = noisy(300);
  const ChartColumns exact = VectorSource(points).columns(XUnit::step, 0, 299, 800);
  QVERIFY(exact.exact);
  QCOMPARE(exact.columns.size(), std::size_t{300});
  for (std::size_t i = 0; i < 300; ++i) {
    QCOMPARE(exact.columns[i].x, points[i].first);
    QCOMPARE(exact.columns[i].last, points[i].second);
  }
  QVERIFY(VectorSource().columns(XUnit::step, 0, 1, 10).columns.empty());
}

void ChartDataTest::neighboursRunOutOfTheFrame() {
  const VectorSource source(noisy(1000));
  const ChartColumns part = source.columns(XUnit::step, 400.5, 410.5, 800);
  QCOMPARE(part.points, 10);
  QCOMPARE(part.columns.front().x, 400.0);
  QCOMPARE(part.columns.back().x, 411.0);
}

void ChartDataTest::smoothingIsItsDefinition() {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> x, y, weights;
  double at = 0;
  for (int i = 0; i < 60; ++i) {
    at += uniform(random) * 3;  // uneven distances
    x.push_back(at);
    y.push_back(uniform(random) * 10 - 5);
    weights.push_back(1 + std::floor(uniform(random) * 5));
  }
  const double span = 250, weight = 0.93;
  const std::vector<double> fast = smooth(x, y, weight, span, weights);
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0, total = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double w = weights[j] * std::pow(weight, 1000 * std::abs(x[i] - x[j]) / span);
      sum += w * y[j];
      total += w;
    }
    QVERIFY(std::abs(fast[i] - sum / total) < 1e-9);
  }
  QCOMPARE(smooth(x, y, 0, span), y);
}

void ChartDataTest::smoothingHasNoBiasAndNoLag() {
  std::vector<double> x, constant, falling;
  for (int i = 0; i <= 1000; ++i) {
    x.push_back(i);
    constant.push_back(3);
    falling.push_back(10 - 0.01 * i);
  }
  for (const double value : smooth(x, constant, 0.95, 1000)) QVERIFY(std::abs(value - 3) < 1e-9);
  const std::vector<double> smoothed = smooth(x, falling, 0.95, 1000);
  // In the middle a straight fall is drawn where it is; a causal mean would lie 0.19 above.
  QVERIFY(std::abs(smoothed[500] - falling[500]) < 1e-6);
}

void ChartDataTest::smoothingIgnoresTheZoom() {
  XAxisModel axis;
  axis.setFull({0, 2000});
  ChartLine line{.id = "a", .name = "a", .source = std::make_shared<VectorSource>(noisy(2000))};
  const LineData whole = readLine(line, axis, 4000, 0.9);
  axis.show({800, 1200});
  const LineData part = readLine(line, axis, 4000, 0.9);
  const auto at = [](const LineData& data, double x) {
    for (std::size_t i = 0; i < data.columns.columns.size(); ++i) {
      if (data.columns.columns[i].x == x) return data.smoothed[i];
    }
    return 0.0;
  };
  QVERIFY(std::abs(at(whole, 1000) - at(part, 1000)) < 1e-6);
}

void ChartDataTest::noMoreThanTwoPointsAColumn() {
  XAxisModel axis;
  axis.setFull({0, 199999});
  ChartLine line{.id = "a", .name = "a", .source = std::make_shared<VectorSource>(noisy(200000))};
  const YScale scale{{-1, 3}, false, 300};
  for (const double smoothing : {0.0, 0.9}) {
    const DrawnLine drawn = drawLine(line, readLine(line, axis, 640, smoothing), axis, 640, scale, smoothing);
    qsizetype points = 0;
    for (const LineSegment& segment : drawn.segments) {
      points += segment.line.size();
      QVERIFY(segment.upper.size() <= 2 * 640 && segment.faint.size() <= 2 * 640);
      QCOMPARE(segment.upper.isEmpty(), smoothing == 0);
    }
    QVERIFY(points >= 600 && points <= 2 * 640);
    QVERIFY(!drawn.exact);
    QCOMPARE(drawn.points, 200000);
  }
}

void ChartDataTest::linesBreakAtGaps() {
  auto source = std::make_shared<VectorSource>();
  for (int i = 0; i < 30; ++i) source->append(i, i == 10 ? std::nan("") : 1.0);
  XAxisModel axis;
  axis.setFull({0, 29});
  const ChartLine line{.id = "a", .name = "a", .source = source};
  const LineData data = readLine(line, axis, 290, 0.9);
  const DrawnLine drawn = drawLine(line, data, axis, 290, {{0, 2}, false, 100}, 0.9);
  QCOMPARE(drawn.segments.size(), std::size_t{2});
  QCOMPARE(drawn.segments[0].line.size(), 10);
  QCOMPARE(drawn.segments[1].line.size(), 19);
  QCOMPARE(drawn.marks.size(), std::size_t{1});
  QVERIFY(drawn.marks[0].top && !drawn.marks[0].finite);
  QCOMPARE(drawn.marks[0].at, 10.0);
  QVERIFY(std::isnan(data.smoothed[10]));
  QCOMPARE(data.smoothed[11], 1.0);
}

void ChartDataTest::infinitiesStandAtTheirEdge() {
  auto source = std::make_shared<VectorSource>();
  for (int i = 0; i < 30; ++i) source->append(i, i == 5 ? INFINITY : i == 20 ? -INFINITY : 1.0);
  XAxisModel axis;
  axis.setFull({0, 29});
  const ChartLine line{.id = "a", .name = "a", .source = source};
  const DrawnLine drawn = drawLine(line, readLine(line, axis, 290, 0), axis, 290, {{0, 2}, false, 100}, 0);
  QCOMPARE(drawn.marks.size(), std::size_t{2});
  QVERIFY(drawn.marks[0].top);
  QVERIFY(!drawn.marks[1].top);
  QCOMPARE(drawn.segments.size(), std::size_t{3});
}

void ChartDataTest::excursionsAreMarkedOnce() {
  auto source = std::make_shared<VectorSource>();
  for (int i = 0; i < 100; ++i) source->append(i, i < 20 ? 9.0 : i >= 50 && i < 55 ? 8.0 : 1.0);
  XAxisModel axis;
  axis.setFull({0, 99});
  const ChartLine line{.id = "a", .name = "a", .source = source};
  const DrawnLine drawn = drawLine(line, readLine(line, axis, 990, 0), axis, 990, {{0, 2}, false, 100}, 0);
  QCOMPARE(drawn.marks.size(), std::size_t{1});
  QCOMPARE(drawn.marks[0].at, 50.0);
  QVERIFY(drawn.marks[0].finite && drawn.marks[0].top);
}

void ChartDataTest::logScaleAndBack() {
  const YScale scale{{0.01, 10}, true, 300};
  QCOMPARE(scale.toPixel(10), 0.0);
  QCOMPARE(scale.toPixel(0.01), 300.0);
  QVERIFY(std::abs(scale.toPixel(1) - 100) < 1e-9);
  QVERIFY(std::abs(scale.toValue(scale.toPixel(0.37)) - 0.37) < 1e-12);
  QVERIFY(scale.toPixel(0) > 300);
  QVERIFY(scale.toPixel(-1) > 300);
}

void ChartDataTest::stacksAddUp() {
  XAxisModel axis;
  axis.setFull({0, 100});
  auto below_ = std::make_shared<VectorSource>(), above = std::make_shared<VectorSource>();
  for (int i = 0; i < 100; ++i) {
    below_->append(i, 30);
    above->append(i, 10);
  }
  const ChartLine first{.id = "a", .name = "a", .kind = LineKind::stacked, .source = below_};
  const ChartLine second{.id = "b", .name = "b", .kind = LineKind::stacked, .source = above};
  const YScale scale{{0, 50}, false, 100};
  std::vector<double> below(10, 0.0);
  DrawnLine a, b;
  drawStacked(a, readLine(first, axis, 100, 0), axis, 100, scale, below);
  drawStacked(b, readLine(second, axis, 100, 0), axis, 100, scale, below);
  QCOMPARE(a.bars.size(), 10);
  QCOMPARE(a.bars[0].bottom(), 100.0);
  QCOMPARE(a.bars[0].top(), 40.0);
  QCOMPARE(b.bars[0].bottom(), 40.0);
  QCOMPARE(b.bars[0].top(), 20.0);
}

void ChartDataTest::valueAtIsTheNearest() {
  auto source = std::make_shared<VectorSource>();
  for (int i = 0; i < 10; ++i) source->append(i * 10, i);
  XAxisModel axis;
  axis.setFull({0, 200});
  const ChartLine line{.id = "a", .name = "a", .kind = LineKind::validation, .source = source};
  const LineData data = readLine(line, axis, 400, 0);
  QCOMPARE(valueAt(line, data, 34)->value, 3.0);
  QCOMPARE(valueAt(line, data, 36)->x, 40.0);
  QCOMPARE(valueAt(line, data, 94)->value, 9.0);
  QVERIFY(!valueAt(line, data, 120));
}

void ChartDataTest::labelsSpread() {
  const std::vector<double> places = spread({50, 52, 54, 200, 10}, 17, 220);
  QCOMPARE(places[3], 200.0);
  QCOMPARE(places[4], 10.0);
  QVERIFY(std::abs(places[1] - 52) < 1e-9);  // the middle of three stays, the others make room
  QCOMPARE(places[1] - places[0], 17.0);
  QCOMPARE(places[2] - places[1], 17.0);
  const std::vector<double> tight = spread({0, 0, 0, 0}, 17, 68);
  for (std::size_t i = 0; i < 4; ++i) QCOMPARE(tight[i], 8.5 + 17 * static_cast<double>(i));
  const std::vector<double> low = spread({300, 299}, 17, 300);
  QVERIFY(low[0] <= 291.5 + 1e-9 && low[1] < low[0]);
}

void ChartDataTest::axisZoomsAndFollows() {
  XAxisModel axis;
  axis.setFull({0, 1000});
  QSignalSpy following(&axis, &XAxisModel::followingChanged);
  axis.zoom(0.5, 200);
  QCOMPARE(axis.visible(), (Interval{100, 600}));
  QVERIFY(!axis.isFollowing());
  axis.setFull({0, 2000});  // a live run grows: what a person looks at stays
  QCOMPARE(axis.visible(), (Interval{100, 600}));
  axis.pan(-500);
  QCOMPARE(axis.visible(), (Interval{0, 500}));
  axis.follow();
  QCOMPARE(axis.visible(), (Interval{0, 2000}));
  QCOMPARE(following.count(), 2);
  axis.show({900, 300});
  QCOMPARE(axis.visible(), (Interval{300, 900}));
  axis.zoom(100, 500);
  QVERIFY(axis.isFollowing());
  QVERIFY(std::abs(axis.xAt(axis.place(777)) - 777) < 1e-9);
  axis.setLogarithmic(true);
  QVERIFY(std::abs(axis.xAt(axis.place(777)) - 777) < 1e-6);
}

void ChartDataTest::framesAreAtMostThirtyASecond() {
  XAxisModel axis;
  QSignalSpy frames(&axis, &XAxisModel::frame);
  QElapsedTimer clock;
  clock.start();
  while (clock.elapsed() < 400) {
    axis.requestFrame();
    QCoreApplication::processEvents(QEventLoop::AllEvents, 1);
  }
  QVERIFY2(frames.count() >= 2 && frames.count() <= 14, qPrintable(QString::number(frames.count())));
}

QTEST_MAIN(ChartDataTest)
#include "chart_data_test.moc"
