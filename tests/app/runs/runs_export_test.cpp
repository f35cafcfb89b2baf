// What leaves the Runs page and comes back to it, by clicks in the real window: pictures, drawings and points of each
// chart, the table, all series, the curves for TensorBoard.
#include "tests/app/runs/runs_export_test.h"

#include <QDirIterator>
#include <QImage>
#include <QLabel>

#include "app/pages/runs/run_board.h"
#include "app/shell/problems_panel.h"
#include "tests/app/menu_and_dialogue.h"
#include "tests/app/runs/runs_page_fixture.h"
#include "tests/patience.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/notice.h"

namespace loom {

class RunsExportTest : public RunsPageFixture {
  Q_OBJECT

  static constexpr int kSteps = 30, kFewer = 20;

  QString out(const char* name) { return m_open->path(QString::fromLatin1(name)); }
  QByteArray content(const QString& file) {
    QFile open(file);
    return open.open(QIODevice::ReadOnly) ? open.readAll() : QByteArray();
  }
  QStringList lines(const QString& file) { return QString::fromUtf8(content(file)).split('\n', Qt::SkipEmptyParts); }
  // Of the export menu of the page; the dialogue that comes gets the name.
  void exportTo(const QString& file, const QStringList& words) {
    nameTheFile(file);
    pick(m_open->part<QAbstractButton>("runs-export"), words);
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(file), kPatience);
    QTRY_VERIFY(!QApplication::activeModalWidget());
  }
  // As a trainer leaves it: the log that TensorBoard's files are made from.
  void writeLog(const QString& run, int steps) {
    QByteArray log;
    for (int i = 1; i <= steps; ++i)
      log += QByteArray::fromStdString(Json{
                 {"v", 1},
                 {"seq", 5000 + i},
                 {"attempt", 1},
                 {"time", 1e9 + i},
                 {"kind", "step"},
                 {"step", i},
                 {"epoch", 0.1 * i},
                 {"samples", 2 * i},
                 {"loss", 1.0 / i}}.dump()) +
             '\n';
    m_open->write("p/runs/" + run + "/events.jsonl", log);
  }
  // Of a picture on paper: light at its edge, and something drawn within.
  static bool isDrawn(const QImage& picture) {
    int ink = 0;
    for (int y = 0; y < picture.height(); y += 2)
      for (int x = 0; x < picture.width(); x += 2) ink += picture.pixelColor(x, y).lightness() < 200;
    return picture.pixelColor(1, 1).lightness() > 240 && ink > 200;
  }

 private Q_SLOTS:
  void init() {
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kProject));
    QTRY_VERIFY(workspace().document());
    const QString a = addRun("a", {{"name", "SGD"}}), b = addRun("b", {{"name", "LARS"}});
    addSteps(a, kSteps);
    addSteps(b, kFewer, 3);
    showPage("runs");
    QTRY_COMPARE(page().lossChart().shownPoints(), std::int64_t{kSteps + kFewer});
  }
  void cleanup() { m_open.reset(); }

  void aRunThatIsDeletedLeavesTheOthersAsTheyWere() {
    const QString a = addRun("a", {{"name", "SGD"}}), b = addRun("b", {{"name", "LARS"}});
    addEvents(a, 5);
    addEvents(b, 5);
    showPage("runs");
    auto* charts = page().findChild<ChartStack*>();
    const auto highlighted = [&] { return charts->panels().front()->highlighted(); };
    choose(a);
    QTRY_COMPARE(highlighted(), a);
    // Ctrl+Z means what was done last, also when its notice has gone; the project's own step is next.
    const Json batch = workspace().document()->project().training.settings.value("batch", Json());
    workspace().document()->setSetting("batch", 5);
    table().setFocus();
    QTest::keyClick(&table(), Qt::Key_Delete);
    QTRY_COMPARE(highlighted(), QString());
    QVERIFY(store().find(b));
    QTRY_COMPARE(row(a), -1);
    NoticeArea& notice = m_open->window().notice();
    notice.dismiss();
    QTest::keyClick(&m_open->window(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_VERIFY(row(a) >= 0);
    QCOMPARE(workspace().document()->project().training.settings.value("batch", Json()), Json(5));
    QTest::keyClick(&m_open->window(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(workspace().document()->project().training.settings.value("batch", Json()), batch);
    QVERIFY2(notice.sentence().startsWith("Undone in the project: "), qPrintable(notice.sentence()));
  }

  // Every chart of the board has a menu of its own there, also one that a person added.
  void eachChartOfTheBoardIsWrittenByItself() {
    page().board().add("step.gradient_norm");
    QTRY_COMPARE(page().board().chart("step.gradient_norm")->panel->shownPoints(), std::int64_t{kSteps + kFewer});
    exportTo(out("loss.png"), {"Training loss", "As PNG…"});
    const QImage picture(out("loss.png"));
    QVERIFY(picture.width() >= page().lossChart().width());
    QVERIFY(isDrawn(picture));
    QTRY_VERIFY(m_open->window().notice().sentence().contains("loss.png"));
    exportTo(out("loss.svg"), {"Training loss", "As SVG…"});
    const QByteArray drawing = content(out("loss.svg"));
    QVERIFY(drawing.contains("<svg") && drawing.contains("Training loss"));
    QVERIFY2(drawing.count("<polyline") + drawing.count("<path") > 2, "its lines are strokes, not a picture");
    exportTo(out("norm.csv"), {"Gradient norm", "As CSV…"});
    const QStringList rows = lines(out("norm.csv"));
    QCOMPARE(rows.size(), 1 + kSteps + kFewer);
    QCOMPARE(rows[0], QString("line,step,value"));
    QVERIFY2(rows.contains("a,7,7") && rows.contains("b,7,21"), qPrintable(rows.mid(0, 10).join(' ')));
  }

  void aChartsOwnMenuWritesItsPoints() {
    nameTheFile(out("own.csv"));
    pick(page().lossChart().findChild<QAbstractButton*>("chart-menu"), {"Export all points as CSV..."});
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(out("own.csv")), kPatience);
    QCOMPARE(lines(out("own.csv")).size(), 1 + kSteps + kFewer);
    QVERIFY(lines(out("own.csv")).contains("a,4,0.25"));
  }

  void theTableAndAllSeriesAreWritten() {
    exportTo(out("runs.csv"), {"Table as CSV..."});
    const QStringList rows = lines(out("runs.csv"));
    QCOMPARE(rows.size(), 3);
    QVERIFY2(rows[0].startsWith("id,name,") && rows[0].contains("optimizer.name"), qPrintable(rows[0]));
    QVERIFY(rows[1].contains("LARS") && rows[2].contains("SGD"));
    exportTo(out("series.csv"), {"Series of the charts as CSV..."});
    const QStringList points = lines(out("series.csv"));
    QCOMPARE(points.size(), 1 + kSteps + kFewer);  // nothing was validated: the loss alone has points
    QCOMPARE(points[0], QString("chart,line,step,value"));
    QVERIFY(points.contains("Training loss,a,4,0.25"));
  }

  void theRunsGoToTensorBoard() {
    writeLog("a", kSteps);
    writeLog("b", kFewer);
    const QString folder = out("board");
    QVERIFY(QDir().mkpath(folder));
    nameTheFile(folder);
    pick(m_open->part<QAbstractButton>("runs-export"), {"2 runs for TensorBoard…"});
    QTRY_VERIFY2_WITH_TIMEOUT(m_open->window().notice().sentence().contains("tensorboard --logdir"),
                              qPrintable(m_open->window().notice().sentence()), kPatience);
    QVERIFY(m_open->window().notice().sentence().startsWith("2 runs, "));
    QStringList runs;
    QDirIterator files(folder, {"events.out.tfevents.*"}, QDir::Files, QDirIterator::Subdirectories);
    while (files.hasNext()) {
      const QFileInfo file(files.next());
      runs << file.dir().dirName();
      QVERIFY(content(file.filePath()).count("loss") >= kFewer);
    }
    runs.sort();
    QCOMPARE(runs, (QStringList{"a", "b"}));
  }

  void whatCannotBeWrittenIsToldWithItsPlace() {
    nameTheFile("/proc/loss.csv");
    pick(m_open->part<QAbstractButton>("runs-export"), {"Training loss", "As CSV…"});
    QTRY_COMPARE_WITH_TIMEOUT(m_open->window().problems().errors(), 1, kPatience);
  }
};

int testRunsExport(int argc, char** argv) {
  RunsExportTest test;
  return QTest::qExec(&test, argc, argv);
}

}  // namespace loom

#include "runs_export_test.moc"
