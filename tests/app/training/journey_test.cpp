#include "tests/app/training/journey_test.h"

#include <cmath>
#include <random>

#include "tests/app/training/journey_acts.h"
#include "tests/patience.h"

namespace loom {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : m_random(seed) {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(m_random()) / 4294967295.0;
  }

 private:
  std::mt19937 m_random;
};

// 800 houses with dates, two columns of words and holes; the last column is their price.
QByteArray houses() {
  Chance chance(7);
  const char* const towns[] = {"Ulm", "Bern", "Chur"};
  const char* const states[] = {"new", "old", "mended", "worn"};
  QByteArray rows = "id,sold,town,state,area,humidity,price\n";
  for (int i = 0; i < 800; ++i) {
    const double area = chance.between(3000, 20000);  // square decimetres
    rows += QByteArray::number(5000 + i) + ",2024-" + QByteArray::number(1 + i % 12).rightJustified(2, '0') + '-' +
            QByteArray::number(1 + i % 28).rightJustified(2, '0') + ',' + towns[i % 3] + ',' +
            (i % 97 == 5 ? "" : states[i % 4]) + ',' + QByteArray::number(area, 'f', 1) + ',' +
            (i % 26 == 3 ? "" : QByteArray::number(chance.between(30, 70), 'f', 1)) + ',' +
            (i % 200 == 11 ? "" : QByteArray::number(0.03 * area + 50 * (i % 3) + chance.between(-10, 10), 'f', 1)) +
            '\n';
  }
  return rows;
}

// 800 rows with dates, two columns of words and holes; what is to be told is a class.
QByteArray pumps(int rows, bool target) {
  QByteArray text = target ? "pump,when,town,fluid,flow,heat,state\n" : "heat,flow,town,fluid,when\n";
  const char* const towns[] = {"Ulm", "Bern", "Chur"};
  const char* const fluids[] = {"water", "oil"};
  for (int i = 0; i < rows; ++i) {
    const double flow = 10 + i * 37 % 100 / 10.0, heat = 20 + i * 53 % 60;
    const char* const state = heat > 60 ? "worn" : flow > 15 && i % 2 ? "leak" : "ok";
    const QByteArray flowText = i % 41 == 7 ? QByteArray() : QByteArray::number(flow);
    const QByteArray town = i % 53 == 9 ? "" : towns[i % 3],
                     when = "2026-0" + QByteArray::number(1 + i % 9) + "-1" + QByteArray::number(i % 9);
    if (target)
      text += "p" + QByteArray::number(i) + "," + when + "," + town + "," + fluids[i % 2] + "," + flowText + "," +
              QByteArray::number(heat) + "," + state + "\n";
    else
      text += QByteArray::number(heat) + "," + flowText + "," + town + "," + fluids[i % 2] + "," + when + "\n";
  }
  return text;
}

// As a spreadsheet of such a country writes it: semicolons, decimal commas, points between thousands, Windows-1252.
QByteArray inWindows1252(const QString& text) {
  QByteArray bytes;
  for (const QChar each : text) bytes += each == QChar(0x20AC) ? '\x80' : each.toLatin1();
  return bytes;
}
double priceOf(int i, double area) {
  return 3000 * area + 40000 * (i % 3) + 10000 * (i % 2);
}
double areaOf(int i) {
  return 40 + i * 37 % 1600 / 10.0;
}
QByteArray haeuser(int rows, bool target) {
  const QLocale german(QLocale::German, QLocale::Germany);
  const QString streets[] = {"Mühlgasse", "Königstraße", "Am Bühl"}, states[] = {"schön", "mäßig"};
  QString text = target ? "Größe;Verkauft am;Straße;Zustand;Preis in €\r\n" : "Zustand;Verkauft am;Größe;Straße\r\n";
  for (int i = 0; i < rows; ++i) {
    const QString area = german.toString(areaOf(i), 'f', 1),
                  date = QStringLiteral("%1.%2.2024")
                             .arg(1 + i % 28, 2, 10, QLatin1Char('0'))
                             .arg(1 + i % 12, 2, 10, QLatin1Char('0')),
                  price = german.toString(priceOf(i, areaOf(i)), 'f', 2);
    text += target ? QStringList{area, date, streets[i % 3], states[i % 2], price}.join(';')
                   : QStringList{states[i % 2], date, area, streets[i % 3]}.join(';');
    text += "\r\n";
  }
  return inWindows1252(text);
}

// A low tone, a high one, or noise.
QByteArray sound(int kind, double seconds, unsigned seed) {
  Chance chance(seed);
  const int rate = 4000, samples = static_cast<int>(rate * seconds);
  const double turn = 6.283185307 * (kind == 0 ? 150 : 900) * chance.between(0.9, 1.1) / rate;
  QByteArray wave = "RIFF----WAVEfmt ";
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int b = 0; b < bytes; ++b) wave += static_cast<char>(value >> (8 * b));
  };
  put(16, 4), put(1, 2), put(1, 2), put(rate, 4), put(2 * rate, 4), put(2, 2), put(16, 2);
  wave += "data";
  put(static_cast<std::uint32_t>(2 * samples), 4);
  for (int i = 0; i < samples; ++i)
    put(static_cast<std::uint16_t>(
            static_cast<std::int16_t>(kind == 2 ? chance.between(-15000, 15000) : 20000 * std::sin(turn * i))),
        2);
  return wave;
}

}  // namespace

class JourneyTest : public JourneyActs {
  Q_OBJECT

  QStringList kindsOfSteps() {
    QStringList kinds;
    for (const Json& step : data().prepare) kinds << QString::fromStdString(step.at("step"));
    return kinds;
  }

 private Q_SLOTS:
  void init() { begin(); }
  void cleanup() { end(); }

  // (a) What the doctor finds is mended by clicks, the rest by the start; the price comes out in its own unit.
  void fromATableWithDatesWordsAndHolesToAPrice() {
    const QString csv = m_open->write("downloads/houses.csv", houses());
    m_open->click("new-network");
    goTo("data");
    m_open->drop({csv});
    press("price: 4 empty", "Skip 4 rows");
    press("humidity: 31 empty", "Fill with mean");
    press("town is text", "One column a class");
    QTRY_COMPARE(kindsOfSteps(), (QStringList{"SkipRows", "Fill", "Encode"}));
    m_open->click("feeds-draw");
    QTRY_COMPARE(window().currentPage(), QString("network"));
    answer("price");
    if (QTest::currentTestFailed()) return;
    QVERIFY(kindsOfSteps().startsWith("SkipRows") && kindsOfSteps().endsWith("Join"));
    QVERIFY(data().prepare.back().at("into") == "x");
    QCOMPARE(
        std::count_if(data().prepare.begin(), data().prepare.end(),
                      [](const Json& step) { return step.at("step") == "Fill" && step.value("with", "") == "mean"; }),
        1);
    waitUntilSound();
    goTo("data");
    QTRY_COMPARE(faultsOfFeeds(), QString());
    picture("price-data");
    train(1);
    if (QTest::currentTestFailed()) return;
    predict(m_open->write("downloads/new.csv",
                          "town,note,area,humidity,state,sold\n"
                          "Ulm,first,9000,,old,2025-02-03\nChur,,15000,44.5,new,2024-11-30\n"),
            2);
    if (QTest::currentTestFailed()) return;
    picture("price-predicted");
    QVERIFY2(std::abs(value(0) - 270) < 60, qPrintable(QString::number(value(0))));
    QVERIFY2(std::abs(value(1) - 550) < 60, qPrintable(QString::number(value(1))));
    QCOMPARE(QDir(m_open->path("downloads")).entryList(QDir::Files), (QStringList{"houses.csv", "new.csv"}));
  }

  // (b)
  void fromATableToThePredictionOfAClass() {
    const QString csv = m_open->write("downloads/pumps.csv", pumps(800, true));
    m_open->click("new-network");
    QVERIFY(m_open->document().addDataset({.name = "training", .csv = csv.toStdString(), .prepare = {}}));
    QTRY_COMPARE(window().currentPage(), QString("network"));
    pressText("Start from data");
    QTRY_VERIFY_WITH_TIMEOUT(
        m_open->part<QListWidget>("target-columns") && m_open->part<QListWidget>("target-columns")->isVisible(),
        kJourneyPatience);
    picture("target-card");
    auto* const columns = m_open->part<QListWidget>("target-columns");
    QCOMPARE(columns->item(0)->text(), QString("state"));  // the last column first, and chosen
    QCOMPARE(columns->currentRow(), 0);
    QVERIFY(columns->item(0)->data(Qt::AccessibleTextRole).toString().contains("3 classes"));
    QVERIFY(!(columns->item(6)->flags() & Qt::ItemIsEnabled));  // pump: another text in every row
    // Another one is looked at, and the first chosen again.
    QTest::mouseClick(columns->viewport(), Qt::LeftButton, {}, columns->visualItemRect(columns->item(1)).center());
    QCOMPARE(columns->currentItem()->text(), QString("heat"));
    QVERIFY(m_open->part<QLabel>("target-result")->text().contains("pump"));
    answer("state");
    if (QTest::currentTestFailed()) return;
    QCOMPARE(m_open->document().undoStack().undoText(), QString("Start from data"));
    m_open->document().setSetting("epochs", 8);
    waitUntilSound();
    for (const Problem& problem : m_open->document().problems()) QFAIL(problem.message.c_str());
    picture("started");
    train(1);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(m_open->document().path(), m_open->path("own/pumps/pumps.loom"));

    // A new file: other order, no target, no number of the pump.
    predict(m_open->write("downloads/new.csv", pumps(30, false)), 30);
    if (QTest::currentTestFailed()) return;
    const QStringList words{"ok", "worn", "leak"};
    for (int row = 0; row < 30; ++row)
      QVERIFY2(words.contains(predicted().item(row, 5)->text()), qPrintable(predicted().item(row, 5)->text()));
    picture("predicted");
    const QByteArrayList lines = saved("out.csv").split('\n');
    QCOMPARE(lines[0].trimmed(),
             QByteArray("heat,flow,town,fluid,when,state'_leak,state'_ok,state'_worn,state'_class"));
    QVERIFY(words.contains(QString::fromUtf8(lines[1].trimmed().split(',').last())));

    // From another folder, with the same data.
    QDir().mkpath(m_open->path("elsewhere/deep"));
    QVERIFY(workspace().saveAs(m_open->path("elsewhere/deep/copy.loom")));
    m_open->document().setSetting("epochs", 2);
    train(1);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(workspace().errors(), 0);
  }

  // (d) And the project is moved afterwards, away from sounds that stay where they are.
  void fromSoundsOfUnequalLengthToTheClassOfAnother() {
    Chance chance(3);
    const char* const kinds[] = {"low", "high", "noise"};
    for (unsigned i = 0; i < 200; ++i)
      m_open->write(QStringLiteral("downloads/tones/%1/%2.wav").arg(kinds[i % 3]).arg(i),
                    sound(static_cast<int>(i % 3),
                          i == 4   ? 1.2
                          : i == 5 ? 0.3
                                   : chance.between(0.3, 1.2),
                          i));
    m_open->click("new-network");
    goTo("data");
    m_open->drop({m_open->path("downloads/tones")});
    QTRY_COMPARE_WITH_TIMEOUT(m_open->project().datasets.size(), std::size_t{1}, kJourneyPatience);
    QCOMPARE(data().csv, m_open->path("own/tones/data/tones/index.csv").toStdString());
    QTRY_COMPARE_WITH_TIMEOUT(rows(), 200, kJourneyPatience);
    QTRY_VERIFY(workspace().errors() > 0);
    const auto lengths = [](int steps) {
      return std::vector<Json>{{{"step", "Pad"}, {"to", {steps}}, {"variable", "x"}},
                               {{"step", "Crop"}, {"size", {steps}}, {"position", "centre"}, {"variable", "x"}}};
    };
    press("x: of several lengths", "Cut to the shortest");
    QTRY_COMPARE(data().prepare, lengths(1200));
    QTRY_VERIFY2(!titles().contains("x: of several lengths"), qPrintable(titles()));
    m_open->undo();
    press("x: of several lengths", "Pad to the longest");
    QTRY_COMPARE(data().prepare, lengths(4800));
    QTRY_VERIFY2(!titles().contains("x: of several lengths"), qPrintable(titles()));
    QTRY_VERIFY(window().settled());
    picture("sounds-padded");
    m_open->click("feeds-draw");
    answer("y");
    if (QTest::currentTestFailed()) return;
    QCOMPARE(drawn().find("x")->values.at("shape"), Json::array({4800, 1}));
    QCOMPARE(data().prepare, lengths(4800));  // what the person chose is not cut again
    m_open->document().setSetting("epochs", 6);
    waitUntilSound();
    train(1);
    if (QTest::currentTestFailed()) return;
    predict(m_open->write("downloads/unheard.wav", sound(1, 0.7, 1001)), 1);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(predicted().item(0, 1)->text(), QString("high"));
    // Longer than all that it learnt from.
    predict(m_open->write("downloads/hiss.wav", sound(2, 1.4, 1002)), 1);
    if (QTest::currentTestFailed()) return;
    QTRY_COMPARE_WITH_TIMEOUT(predicted().item(0, 1)->text(), QString("noise"), kJourneyPatience);
    picture("sounds-predicted");

    QVERIFY(workspace().closeProject());
    QDir().mkpath(m_open->path("moved/a/b/c"));
    QVERIFY(QDir().rename(m_open->path("own/tones"), m_open->path("moved/a/b/c/tones")));
    window().openProject(m_open->path("moved/a/b/c/tones/tones.loom"));
    m_open->document().setSetting("epochs", 1);
    waitUntilSound();
    const auto before = workspace().runs().size();
    train(static_cast<int>(before) + 1);
    if (QTest::currentTestFailed()) return;
  }

  // (e)
  void aFileOfASemicolonCountryAndANewOneOfTheSameKind() {
    const QString csv = m_open->write("Müller/häuser.csv", haeuser(400, true));
    m_open->click("new-network");
    goTo("data");
    m_open->drop({csv});
    auto* const format = m_open->part<QAbstractButton>("csv-format");
    for (const char* word : {"semicolons", "decimal comma", "thousands", "Windows-1252"})
      QTRY_VERIFY2(format->text().contains(word), qPrintable(format->text()));
    m_open->click("feeds-draw");
    answer("Preis in €");
    if (QTest::currentTestFailed()) return;
    waitUntilSound();
    train(1);
    if (QTest::currentTestFailed()) return;
    predict(m_open->write("Müller/neu.csv", haeuser(12, false)), 12);
    if (QTest::currentTestFailed()) return;
    picture("semicolon-predicted");
    for (int row = 0; row < 12; ++row)
      QVERIFY2(std::abs(value(row) / priceOf(row, areaOf(row)) - 1) < 0.25,
               qPrintable(QStringLiteral("row %1: %2").arg(row).arg(value(row))));
    // What is saved is a file of the same kind, for the same spreadsheet.
    const QString out = QString::fromUtf8(saved("out.csv"));
    QVERIFY2(out.startsWith("Zustand;Verkauft am;Größe;Straße;Preis in €'\n"), qPrintable(out));
    const QString price = out.section('\n', 1, 1).section(';', -1);
    QVERIFY2(price.contains(',') && !price.contains('.'), qPrintable(price));
  }

  // Two columns of one name are two, and are called so wherever a row is read; a percent is a number.
  void columnsOfOneNameAndPercents() {
    QByteArray text = "rate,share,rate,price\n";
    for (int i = 0; i < 90; ++i)
      text +=
          QStringLiteral("%1,%2 %,%3,%4\n").arg(i % 9).arg(i * 7 % 31).arg(i % 5).arg(i * 7 % 31 * 2 + i % 5).toUtf8();
    m_open->click("new-network");
    goTo("data");
    m_open->drop({m_open->write("rates.csv", text)});
    auto* const format = m_open->part<QAbstractButton>("csv-format");
    QTRY_VERIFY2(format->text().contains("percents in column 2"), qPrintable(format->text()));
    press("2 columns have the name 'rate': column 1 is called 'rate_1' here", "Keep");
    QTRY_VERIFY2(!titles().contains("'rate_1'") && titles().contains("'rate_2'"), qPrintable(titles()));
    picture("names-and-percents");
    m_open->click("feeds-draw");
    answer("price");
    if (QTest::currentTestFailed()) return;
    waitUntilSound();
    train(1);
    if (QTest::currentTestFailed()) return;
    m_open->part<QTabBar>("training-tabs")->setCurrentIndex(4);
    m_open->click("predict-type-empty");
    QTRY_VERIFY(m_open->part<QLineEdit>("row-rate_1") && m_open->part<QLineEdit>("row-rate_1")->isVisible());
    QTest::keyClicks(m_open->part<QLineEdit>("row-rate_1"), "1");
    QTest::keyClicks(m_open->part<QLineEdit>("row-rate_2"), "3");
    QTest::keyClicks(m_open->part<QLineEdit>("row-share"), "20");  // the sign need not be typed
    picture("percent-typed");
    m_open->click("predict-row");
    QTRY_VERIFY_WITH_TIMEOUT(prediction().predictions(), kJourneyPatience);
    const float typed = value(0);
    predict(m_open->write("new.csv", "share,rate,rate\n20%,1,3\n5%,2,2\n"), 2);
    if (QTest::currentTestFailed()) return;
    QCOMPARE(value(0), typed);
  }
};

int testJourney(int argc, char** argv) {
  JourneyTest journey;
  return QTest::qExec(&journey, argc, argv);
}

}  // namespace loom

#include "journey_test.moc"
