#include "tests/app/training/journey_test.h"

#include <QLabel>
#include <QListWidget>
#include <QStandardPaths>
#include <QTableWidget>

#include "app/pages/network/target_card.h"
#include "app/pages/training/run_prediction.h"
#include "app/pages/training/training_page.h"
#include "launcher/remote/models.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"

namespace loom {
namespace {

constexpr int kJourneyPatience = 60000;

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

}  // namespace

class JourneyTest : public QObject {
  Q_OBJECT

  std::unique_ptr<OpenedWindow> m_open;
  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (!folder.isEmpty()) window().grab().save(QDir(folder).filePath(QString::fromLatin1(name) + ".png"));
  }
  void pressText(const QString& text) {
    for (QAbstractButton* each : window().findChildren<QAbstractButton*>())
      if (each->isVisible() && each->text() == text) return QTest::mouseClick(each, Qt::LeftButton);
    QFAIL(qPrintable("no button " + text));
  }
  void waitForRun(int number) {
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().size(), number, kJourneyPatience);
    QTRY_VERIFY_WITH_TIMEOUT(workspace().runs().back().state >= RunState::finished, kJourneyPatience);
    QVERIFY2(workspace().runs().back().state == RunState::finished, qPrintable(workspace().runs().back().message));
  }

 private Q_SLOTS:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM);
  }
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    qputenv("GRADLOOM_PROJECTS", m_open->path("own").toUtf8());
  }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

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
    QTest::mouseClick(columns->viewport(), Qt::LeftButton, {}, columns->visualItemRect(columns->item(0)).center());
    QVERIFY(m_open->part<QLabel>("target-result")->text().contains("pump"));
    m_open->click("target-make");
    QTRY_VERIFY_WITH_TIMEOUT(!m_open->document().isBlank(), kJourneyPatience);
    QCOMPARE(m_open->document().undoStack().undoText(), QString("Start from data"));
    QTRY_VERIFY(!m_open->part<QWidget>("target-card"));
    m_open->document().setSetting("epochs", 8);
    // What is known of the data follows, and nothing is wrong.
    QTRY_VERIFY_WITH_TIMEOUT(
        !m_open->document().knownColumns().empty() && m_open->document().knownColumns().front().shapes.contains("x"),
        kJourneyPatience);
    QTRY_VERIFY(m_open->document().checksAreCurrent());
    for (const Problem& problem : m_open->document().problems()) QFAIL(problem.message.c_str());
    picture("started");
    m_open->click("train");
    QTRY_VERIFY(m_open->part<QLineEdit>("project-name") && m_open->part<QLineEdit>("project-name")->isVisible());
    QCOMPARE(m_open->part<QLineEdit>("project-name")->text(), QString("pumps"));
    QTest::keyClick(m_open->part<QLineEdit>("project-name"), Qt::Key_Return);
    waitForRun(1);
    QCOMPARE(m_open->document().path(), m_open->path("own/pumps/pumps.loom"));

    // A new file: other order, no target, no number of the pump.
    m_open->activate();
    window().showPage("training");
    QTRY_VERIFY(window().settled());
    m_open->drop({m_open->write("downloads/new.csv", pumps(30, false))});
    auto& page = *static_cast<TrainingPage*>(window().page("training"));
    QTRY_VERIFY2_WITH_TIMEOUT(page.prediction().predictions(),
                              qPrintable(m_open->part<QLabel>("predict-words")->text()), kJourneyPatience);
    auto* const table = m_open->part<QTableWidget>("predict-table");
    QCOMPARE(table->rowCount(), 30);
    const QStringList words{"ok", "worn", "leak"};
    for (int row = 0; row < 30; ++row)
      QVERIFY2(words.contains(table->item(row, 1)->text()), qPrintable(table->item(row, 1)->text()));
    picture("predicted");
    page.prediction().saveTo(m_open->path("out.csv"));
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(m_open->path("out.csv")), kJourneyPatience);
    QFile out(m_open->path("out.csv"));
    QVERIFY(out.open(QIODevice::ReadOnly));
    QCOMPARE(out.readLine().trimmed(),
             QByteArray("heat,flow,town,fluid,when,state'__0,state'__1,state'__2,state'_class"));
    QVERIFY(words.contains(QString::fromUtf8(out.readLine().trimmed().split(',').last())));

    // From another folder, with the same data.
    QDir().mkpath(m_open->path("elsewhere/deep"));
    QVERIFY(workspace().saveAs(m_open->path("elsewhere/deep/copy.loom")));
    m_open->document().setSetting("epochs", 2);
    m_open->click("train");
    waitForRun(1);
    QCOMPARE(workspace().errors(), 0);
  }
};

int testJourney(int argc, char** argv) {
  JourneyTest journey;
  return QTest::qExec(&journey, argc, argv);
}

}  // namespace loom

#include "journey_test.moc"
