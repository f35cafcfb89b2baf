// The table at the end of section 6 of the design, and ticks.
#include "widgets/chart/format.h"

#include <QtTest>
#include <cmath>

#include "widgets/chart/ticks.h"

using namespace loom;

class FormatTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void formats_data();
  void formats();
  void meanAndDeviation();
  void shortNumbers();
  void shapes();
  void paddedDurations();
  void ticksAreOneTwoFive_data();
  void ticksAreOneTwoFive();
  void logTicks_();
  void ranges();
  void outliersAreLeftOut();
};

void FormatTest::formats_data() {
  QTest::addColumn<int>("kind");
  QTest::addColumn<double>("value");
  QTest::addColumn<QString>("text");
  // "_" stands for the narrow no-break space, "-" at the front for the true minus.
  const auto row = [](const char* text, ValueKind kind, double value) {
    QTest::addRow("%d %s %g", int(kind), text, value) << int(kind) << value << QString::fromUtf8(text);
  };
  using K = ValueKind;
  row("2.30", K::loss, 2.3);
  row("0.199", K::loss, 0.1991);
  row("4.1e-5", K::loss, 4.1e-5);
  row("1.00", K::loss, 0.99987);
  row("12.3", K::loss, 12.34);
  row("1,234", K::loss, 1234.2);
  row("0.001", K::loss, 0.001);
  row("9.9e-4", K::loss, 0.00099);
  row("-0.500", K::loss, -0.5);
  row("NaN", K::loss, std::nan(""));
  row("inf", K::loss, INFINITY);
  row("-inf", K::rate, -INFINITY);
  row("88.59_%", K::accuracy, 0.88594);
  row("96.2_%", K::training, 0.9624);
  row("100.00_%", K::accuracy, 1);
  row("6.4", K::rate, 6.4);
  row("0.008", K::rate, 0.008);
  row("1e-4", K::rate, 1e-4);
  row("1.25e-5", K::rate, 1.25e-5);
  row("0.123", K::rate, 0.12345);
  row("0", K::rate, 0);
  row("42,240", K::count, 42240);
  row("999,999", K::count, 999999);
  row("40.8_M", K::count, 40.8e6);
  row("1.00_M", K::count, 1e6);
  row("1.00_G", K::count, 999.96e6);
  row("4.00_MiB", K::bytes, 4 * 1048576.0);
  row("131_MiB", K::bytes, 131 * 1048576.0);
  row("512_B", K::bytes, 512);
  row("1.00_KiB", K::bytes, 1024);
  row("172_ms", K::duration, 0.172);
  row("5.2_ms", K::duration, 0.0052);
  row("18_µs", K::duration, 18e-6);
  row("36_s", K::duration, 36);
  row("9.2_s", K::duration, 9.2);
  row("3_m_58_s", K::duration, 238);
  row("1_m_0_s", K::duration, 59.7);
  row("2_h_14_m", K::duration, 8040);
  row("1_d_4_h", K::duration, 100800);
  row("172_ms", K::milliseconds, 172);
  row("23,800", K::throughput, 23812);
  row("1.5", K::plain, 1.5);
  row("-3", K::plain, -3);
}

void FormatTest::formats() {
  QFETCH(int, kind);
  QFETCH(double, value);
  QFETCH(QString, text);
  text.replace('_', QChar(0x202F));
  if (text.startsWith('-')) text[0] = QChar(0x2212);
  QCOMPARE(formatValue(static_cast<ValueKind>(kind), value), text);
}

void FormatTest::meanAndDeviation() {
  QCOMPARE(formatMeanDeviation(90.7123, 0.1399), QString::fromUtf8("90.71 ± 0.14"));
  QCOMPARE(formatMeanDeviation(90.7123, 2.51), QString::fromUtf8("90.7 ± 2.5"));
  QCOMPARE(formatMeanDeviation(90.7123, 31), QString::fromUtf8("91 ± 31"));
}

void FormatTest::shortNumbers() {
  const QString minus(QChar(0x2212));
  QCOMPARE(formatShort(26746), QString("26,746"));
  QCOMPARE(formatShort(48202.4), QString("48,202"));
  QCOMPARE(formatShort(0.0331), QString("0.0331"));
  QCOMPARE(formatShort(-12.34), minus + "12.3");
  QCOMPARE(formatShort(7), QString("7"));
  QCOMPARE(formatShort(4.1e-5), QString("4.1e-5"));
  QCOMPARE(formatShort(12.2e6), "12.2" + kNarrowSpace + "M");
  QCOMPARE(formatShort(3e38), QString("3e38"));
  QCOMPARE(formatShort(std::nan("")), QString("NaN"));
}

void FormatTest::shapes() {
  QCOMPARE(formatShape({16, 32, 32}), QString::fromUtf8("16×32×32"));
  QCOMPARE(formatShape({}), QStringLiteral("scalar"));
  QCOMPARE(formatThroughput(23812, "samples"), QStringLiteral("23,800") + kNarrowSpace + QStringLiteral("samples/s"));
}

void FormatTest::paddedDurations() {
  QCOMPARE(formatDuration(246, true), QStringLiteral("4_m_06_s").replace('_', kNarrowSpace));
}

void FormatTest::ticksAreOneTwoFive_data() {
  QTest::addColumn<double>("low");
  QTest::addColumn<double>("high");
  QTest::addColumn<int>("most");
  QTest::newRow("loss") << 0.0 << 2.5 << 8;
  QTest::newRow("percent") << 0.0 << 100.0 << 6;
  QTest::newRow("steps") << 0.0 << 1320.0 << 8;
  QTest::newRow("zoomed") << 461.3 << 462.9 << 8;
  QTest::newRow("tiny") << 1e-9 << 7e-9 << 5;
  QTest::newRow("negative") << -3.0 << 4.0 << 8;
  QTest::newRow("far steps") << 5e6 << 5.01e6 << 8;
  QTest::newRow("huge") << 1e12 << 9e12 << 8;
}

void FormatTest::ticksAreOneTwoFive() {
  QFETCH(double, low);
  QFETCH(double, high);
  QFETCH(int, most);
  const Ticks ticks = linearTicks({low, high}, most);
  QVERIFY(static_cast<int>(ticks.values.size()) <= most);
  QVERIFY(ticks.values.size() >= 3);
  const double step = ticks.values[1] - ticks.values[0];
  const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
  QVERIFY(std::abs(mantissa - 1) < 1e-6 || std::abs(mantissa - 2) < 1e-6 || std::abs(mantissa - 5) < 1e-6 ||
          std::abs(mantissa - 10) < 1e-6);
  for (const double value : ticks.values) QVERIFY(value >= low - step * 1e-6 && value <= high + step * 1e-6);
  // All labels share decimals and no two are alike.
  QSet<QString> labels;
  for (const double value : ticks.values) labels << tickLabel(value, ticks);
  QCOMPARE(labels.size(), static_cast<qsizetype>(ticks.values.size()));
}

void FormatTest::logTicks_() {
  QCOMPARE(logTicks({0.02, 5}, 8).values, (std::vector<double>{0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5}));
  for (const double value : logTicks({1e-6, 10}, 8).values)
    QVERIFY(std::abs(std::log10(value) - std::round(std::log10(value))) < 1e-9);
  QVERIFY(logTicks({1e-30, 1e30}, 8).values.size() <= 9);
  QVERIFY(logTicks({0, 1}).values.empty());
}

void FormatTest::ranges() {
  QCOMPARE(niceRange({0.2, 2.3}, 6), (Interval{0, 2.5}));
  const Interval narrow = niceRange({91.0, 91.9}, 6);
  QVERIFY(narrow.low > 90 && narrow.low <= 91 && narrow.high >= 91.9 && narrow.high < 93);
  QCOMPARE(niceRange({0, 0}), (Interval{0, 1}));
  const Interval constant = niceRange({3, 3});
  QVERIFY(constant.low < 3 && constant.high > 3 && constant.low > 0);
  QCOMPARE(niceLogRange({0.03, 4.2}), (Interval{0.02, 5}));
  // Ticks that lie close together are told apart by what is written.
  for (const Interval close : {Interval{0.0019998, 0.002}, {1.99999, 2.00001}, {0, 4e-5}, {0.00199, 0.00201}}) {
    const Ticks ticks = linearTicks(niceRange(close), 6);
    QStringList labels;
    for (const double value : ticks.values) labels << tickLabel(value, ticks);
    QVERIFY2(labels.removeDuplicates() == 0, qPrintable(labels.join(' ')));
  }
  // An axis has one unit.
  const Ticks million = linearTicks({0, 1e6}, 6);
  QStringList units;
  for (const double value : million.values) units << QString(tickLabel(value, million)).replace(kNarrowSpace, " ");
  QCOMPARE(units, (QStringList{"0", "0.2 M", "0.4 M", "0.6 M", "0.8 M", "1.0 M"}));
  QCOMPARE(formatLoss(183709855920.0), QString("1.84e11"));
  QCOMPARE(formatValue(ValueKind::milliseconds, 0), QString("0") + kNarrowSpace + "ms");
  QCOMPARE(niceRange({std::nan(""), std::nan("")}), (Interval{0, 1}));
}

void FormatTest::outliersAreLeftOut() {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(1 + 0.001 * i);
  values[2] = 500;    // within the first 1 %
  values[500] = 900;  // an outlier
  values[600] = std::nan("");
  const Interval range = robustRange(values);
  QVERIFY(range.high < 2.1);
  QVERIFY(range.low >= 1 && range.low < 1.02);
  // Few values are all believed.
  QCOMPARE(robustRange({1, 2, 900}), (Interval{1, 900}));
}

QTEST_MAIN(FormatTest)
#include "format_test.moc"
