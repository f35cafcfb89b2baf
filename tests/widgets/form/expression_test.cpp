// What may be typed where a number is wanted, and how the arrow keys step.
#include "widgets/controls/expression.h"

#include <QtTest>
#include <cmath>

#include "widgets/form/text_editors.h"

using namespace loom;

class ExpressionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_data();
  void values();
  void problems_data();
  void problems();
  void variables();
  void hostileTextEnds();
  void steps_data();
  void steps();
  void shortest();
  void lists();
};

void ExpressionTest::values_data() {
  QTest::addColumn<double>("value");
  QTest::addColumn<bool>("plain");
  QTest::newRow("6.4e0") << 6.4 << true;
  QTest::newRow("0.1*32") << 0.1 * 32 << false;
  QTest::newRow("1+2*3") << 7.0 << false;
  QTest::newRow("(1+2)*3") << 9.0 << false;
  QTest::newRow("2^3^2") << 512.0 << false;
  QTest::newRow("-2^2") << -4.0 << false;
  QTest::newRow("2^-1") << 0.5 << false;
  QTest::newRow("8/2/2") << 2.0 << false;
  QTest::newRow("1e-4") << 1e-4 << true;
  QTest::newRow("1E+3") << 1000.0 << true;
  QTest::newRow(".5") << 0.5 << true;
  QTest::newRow("45,000") << 45000.0 << true;
  QTest::newRow("45_000") << 45000.0 << true;
  QTest::newRow("32 k") << 32000.0 << false;
  QTest::newRow("50%") << 0.5 << false;
  QTest::newRow(" 3 ") << 3.0 << true;
  QTest::newRow("3×4") << 12.0 << false;
  QTest::newRow("−3") << -3.0 << true;
}

void ExpressionTest::values() {
  QFETCH(double, value);
  QFETCH(bool, plain);
  const ExpressionResult result = evaluateExpression(QString::fromUtf8(QTest::currentDataTag()));
  QVERIFY2(result.value, qPrintable(result.problem));
  QCOMPARE(*result.value, value);
  QCOMPARE(result.plain, plain);
}

void ExpressionTest::problems_data() {
  QTest::addColumn<QString>("word");
  QTest::newRow("") << "missing";
  QTest::newRow("1+") << "missing";
  QTest::newRow("(1") << "bracket";
  QTest::newRow("1)") << ")";
  QTest::newRow("1/0") << "zero";
  QTest::newRow("abc") << "abc";
  QTest::newRow("1.2.3") << "1.2.3";
  QTest::newRow("3 3") << "3";
  QTest::newRow("1,00") << ",00";
  QTest::newRow("10^999") << "finite";
  QTest::newRow("nan") << "nan";
  QTest::newRow("0x10") << "x10";
}

void ExpressionTest::problems() {
  QFETCH(QString, word);
  const ExpressionResult result = evaluateExpression(QString::fromUtf8(QTest::currentDataTag()));
  QVERIFY(!result.value);
  QVERIFY2(result.problem.contains(word), qPrintable(result.problem));
}

void ExpressionTest::variables() {
  const auto variable = [](const QString& name) -> std::optional<double> {
    return name == QLatin1String("channels") ? std::optional(16.0) : std::nullopt;
  };
  QCOMPARE(evaluateExpression("channels*2", variable).value, std::optional(32.0));
  QVERIFY(!evaluateExpression("channels", variable).plain);
  QVERIFY(evaluateExpression("chanels*2", variable).problem.contains("chanels"));
}

void ExpressionTest::hostileTextEnds() {
  QVERIFY(!evaluateExpression(QString(100000, '(')).value);
  QVERIFY(!evaluateExpression(QString(100000, '-')).value);
  QVERIFY(!evaluateExpression(QStringLiteral("2") + QStringLiteral("^2").repeated(100000)).value);
}

void ExpressionTest::steps_data() {
  QTest::addColumn<double>("from");
  QTest::addColumn<int>("up");
  QTest::addColumn<bool>("ten");
  QTest::addColumn<bool>("integer");
  QTest::addColumn<double>("to");
  QTest::newRow("1 up") << 1.0 << 1 << false << false << 2.0;
  QTest::newRow("2 up") << 2.0 << 1 << false << false << 5.0;
  QTest::newRow("5 up") << 5.0 << 1 << false << false << 10.0;
  QTest::newRow("6.4 up") << 6.4 << 1 << false << false << 10.0;
  QTest::newRow("6.4 down") << 6.4 << -1 << false << false << 5.0;
  QTest::newRow("1 down") << 1.0 << -1 << false << false << 0.5;
  QTest::newRow("0.0005 down") << 0.0005 << -1 << false << false << 0.0002;
  QTest::newRow("1e-4 up") << 1e-4 << 1 << false << false << 2e-4;
  QTest::newRow("0 up") << 0.0 << 1 << false << false << 0.1;
  QTest::newRow("-1 up") << -1.0 << 1 << false << false << -0.5;
  QTest::newRow("-1 down") << -1.0 << -1 << false << false << -2.0;
  QTest::newRow("0.1 ten") << 0.1 << 1 << true << false << 1.0;
  QTest::newRow("0.1 tenth") << 0.1 << -1 << true << false << 0.01;
  QTest::newRow("int 3") << 3.0 << 1 << false << true << 4.0;
  QTest::newRow("int 9") << 9.0 << 1 << false << true << 10.0;
  QTest::newRow("int 10 down") << 10.0 << -1 << false << true << 9.0;
  QTest::newRow("int 10 up") << 10.0 << 1 << false << true << 20.0;
  QTest::newRow("int 128") << 128.0 << 1 << false << true << 200.0;
  QTest::newRow("int 128 down") << 128.0 << -1 << false << true << 100.0;
}

void ExpressionTest::steps() {
  QFETCH(double, from);
  QFETCH(int, up);
  QFETCH(bool, ten);
  QFETCH(bool, integer);
  QFETCH(double, to);
  QCOMPARE(stepped(from, up, ten, integer), to);
}

void ExpressionTest::shortest() {
  QCOMPARE(shortestNumber(6.4), QStringLiteral("6.4"));
  QCOMPARE(shortestNumber(0.008), QStringLiteral("0.008"));
  QCOMPARE(shortestNumber(1e-4), QStringLiteral("1e-4"));
  QCOMPARE(shortestNumber(45000), QStringLiteral("45000"));
  QCOMPARE(shortestNumber(-0.5), QStringLiteral("-0.5"));
  for (const double value : {0.1, 1.0 / 3, 1e300, -2.5e-8, 123456.789, 1e15, 9007199254740993.0}) {
    QCOMPARE(shortestNumber(value).toDouble(), value);
  }
}

void ExpressionTest::lists() {
  for (const char* text : {"3,32,32", "3 32 32", "[3, 32, 32]", "3×32×32", "3x32x32", "3 × 32 × 32"}) {
    const ListText list = readNumberList(QString::fromUtf8(text), true);
    QVERIFY2(list.value, qPrintable(list.problem));
    QVERIFY(*list.value == Json::array({3, 32, 32}));
  }
  QVERIFY(*readNumberList("0.9, 0.999", false).value == Json::array({0.9, 0.999}));
  QVERIFY(readNumberList("3, 2.5", true).problem.contains("2.5"));
  QVERIFY(readNumberList("3, two", true).problem.contains("two"));
  QVERIFY(readNumberList("3, 4", true, 3).problem.contains("2 stand"));
  QCOMPARE(writeNumberList(Json::array({0.9, 0.999}), ", "), QStringLiteral("0.9, 0.999"));
}

QTEST_MAIN(ExpressionTest)
#include "expression_test.moc"
