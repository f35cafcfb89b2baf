// What the doctor offers at the Data page, pressed with the mouse: a column of words, broken rows, columns of unlike
// scale. Each remedy leads on to a run.
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "app/pages/data/findings_list.h"
#include "app/pages/data/samples_model.h"
#include "app/pages/data/samples_view.h"
#include "app/pages/network/network_page.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"

namespace loom {

constexpr int kPatience = 60000;

class RemediesTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  QLabel& doctor() { return *m_open->part<QLabel>("doctor"); }
  FindingsList& list() { return *m_open->window().findChild<FindingsList*>(); }
  QString finding(int row) { return list().model()->index(row, 0).data().toString(); }
  QAbstractItemModel& samples() {
    return *m_open->window().findChild<SamplesView*>()->findChild<QTableView*>()->model();
  }
  QString cell(int row, int column) {
    QString said;
    [&] {
      QTRY_VERIFY((said = samples().index(row, column).data().toString()) != QString::fromUtf8(SamplesModel::kNotYet));
    }();
    return said;
  }
  QPushButton* remedy(const QString& text, int row = 0) {
    QWidget* const place = list().indexWidget(list().model()->index(row, 0));
    for (QPushButton* button : place ? place->findChildren<QPushButton*>() : QList<QPushButton*>())
      if (button->text() == text) return button;
    return nullptr;
  }
  // Where a person would press it: in sight, with nothing over it.
  void press(const QString& text, int row = 0) {
    QTRY_VERIFY2(remedy(text, row), qPrintable(text));
    list().scrollTo(list().model()->index(row, 0));
    QTRY_VERIFY2(!remedy(text, row)->visibleRegion().isEmpty(), qPrintable(text));
    const QPoint at = remedy(text, row)->mapTo(&m_open->window(), remedy(text, row)->rect().center());
    QCOMPARE(m_open->window().childAt(at), static_cast<QWidget*>(remedy(text, row)));
    QTest::mouseClick(remedy(text, row), Qt::LeftButton);
    QCoreApplication::processEvents();
  }
  const DatasetSpec& dataset() { return m_open->project().datasets[0]; }
  static QByteArray words(int rows) {
    QByteArray all = "x,kind\n";
    for (int i = 0; i < rows; ++i) all += QByteArray::number(i % 2 ? i : -i) + (i % 2 ? ",ham\n" : ",spam\n");
    return all;
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->click("new-network");
    QVERIFY(m_open->workspace().saveAs(m_open->path("project.loom")));
    m_open->window().showPage("data");
  }
  void cleanup() { m_open.reset(); }

  // From a column of words by three clicks to a trained run.
  void aColumnOfWordsBecomesClassesAndTrains() {
    m_open->drop({m_open->write("words.csv", words(60))});
    QTRY_COMPARE(list().model()->rowCount(), 1);
    QVERIFY2(finding(0).contains("60 of 60 cells are words") && finding(0).contains("spam"), qPrintable(finding(0)));
    QCOMPARE(samples().rowCount(), 60);  // the rows are shown as they stand
    QCOMPARE(cell(0, 2), QString("spam"));
    QVERIFY(m_open->workspace().errors() > 0);
    press("Encode as classes");
    QTRY_COMPARE(dataset().csv, m_open->path("words.clean.csv").toStdString());
    QTRY_VERIFY2(doctor().text().contains("no fault in 60 rows"), qPrintable(doctor().text()));
    QCOMPARE(cell(0, 2), QString("1  spam"));
    QTRY_COMPARE(m_open->workspace().errors(), 0);
    m_open->window().showPage("network");
    auto& network = static_cast<NetworkPage&>(*m_open->window().page("network"));
    QPushButton* start = nullptr;
    for (QPushButton* each : network.view().emptyCanvas().findChildren<QPushButton*>())
      if (each->text() == "Start from data") start = each;
    QVERIFY(start && start->isVisible());
    QTRY_VERIFY(!m_open->document().knownColumns().empty());
    QTest::mouseClick(start, Qt::LeftButton);
    QVERIFY(network.scene().network().nodes.size() >= 4);
    m_open->click("train");
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().size(), 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(m_open->workspace().runs().front().state, RunState::finished, kPatience);
  }

  void aColumnOfWordsIsLeftOut() {
    m_open->drop({m_open->write("words.csv", words(60))});
    press("Leave out");
    QTRY_COMPARE(dataset().csv, m_open->path("words.clean.csv").toStdString());
    QTRY_VERIFY2(doctor().text().contains("no fault in 60 rows"), qPrintable(doctor().text()));
    QCOMPARE(samples().columnCount(), 2);  // the line, and x
    QFile before(m_open->path("words.csv"));
    QVERIFY(before.open(QIODevice::ReadOnly));
    QCOMPARE(before.readAll(), words(60));  // the file itself stays
    // The notice takes it back, and so does Ctrl+Z.
    QTRY_VERIFY(m_open->window().notice().isShowing());
    QTest::mouseClick(m_open->window().notice().actionButton(), Qt::LeftButton);
    QCOMPARE(dataset().csv, m_open->path("words.csv").toStdString());
    press("Encode as classes");
    QTRY_VERIFY(dataset().csv != m_open->path("words.csv").toStdString());
    m_open->undo();
    QCOMPARE(dataset().csv, m_open->path("words.csv").toStdString());
  }

  void aBrokenRowIsSkippedAndTheGoodOnesStay() {
    m_open->drop({m_open->write("broken.csv", "x,y:label\n1,0\n2,oops\n3,1\n4,0\n")});
    QTRY_COMPARE(samples().rowCount(), 4);
    press("Skip row");
    QTRY_VERIFY2(doctor().text().contains("no fault in 3 rows"), qPrintable(doctor().text()));
    QCOMPARE(samples().rowCount(), 3);
    QCOMPARE(cell(1, 1), QString("3"));
  }

  void oneOfSeveralBrokenRowsIsSkippedOrAllOfThem() {
    m_open->drop({m_open->write("broken.csv", "x,y:label\n1,0\n2,oops\n3,1\nfour,1\n5\n6,0\n")});
    QTRY_COMPARE(list().model()->rowCount(), 3);
    press("Skip row", 1);  // line 5
    QTRY_VERIFY2(doctor().text().startsWith("Doctor: 2 errors"), qPrintable(doctor().text()));
    press("Skip all broken rows");
    QTRY_VERIFY2(doctor().text().contains("no fault in 3 rows"), qPrintable(doctor().text()));
    QCOMPARE(samples().rowCount(), 3);
  }

  // Columns that stand by themselves: one finding and one step for all of them, without what is predicted.
  void separateColumnsOfUnlikeScaleAreNormalisedByOneClick() {
    QByteArray rows = "a,b,c,d,y\n";
    for (int i = 0; i < 40; ++i)
      rows += QByteArray::number(0.5 + i) + ',' + QByteArray::number(1000.5 * i) + ',' + QByteArray::number(0.001 * i) +
              ',' + QByteArray::number(7.5 * i) + ',' + QByteArray::number(0.25 * i) + '\n';
    m_open->drop({m_open->write("table.csv", rows)});
    QTRY_VERIFY2(doctor().text().contains("no fault in 40 rows"), qPrintable(doctor().text()));
    QCOMPARE(list().model()->rowCount(), 1);
    QCOMPARE(list().model()->index(0, 0).data(FindingsModel::place).toString(), QString("4 columns"));
    press("Normalise 4 columns");
    QTRY_COMPARE(dataset().prepare.size(), std::size_t{1});
    QCOMPARE(dataset().prepare[0]["variable"], Json::array({"a", "b", "c", "d"}));
    QTRY_COMPARE(list().model()->rowCount(), 0);
    m_open->undo();
    QTRY_COMPARE(list().model()->rowCount(), 1);
  }
};

}  // namespace loom

QTEST_MAIN(loom::RemediesTest)
#include "remedies_test.moc"
