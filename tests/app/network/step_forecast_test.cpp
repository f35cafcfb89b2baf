// From what the times under the canvas are predicted, by the real `loom plan`: this machine's measurement where it is
// kept, and how it is made there.
#include "app/pages/network/step_forecast.h"

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

#include "app/pages/network/network_page.h"
#include "app/pages/network/network_strip.h"
#include "app/pages/network/processor_measurement.h"
#include "engine/base/json.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/network_view.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"

namespace loom {
namespace {

constexpr const char* kProject = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [64], "at": [0, 0]}, {"id": "fc1", "layer": "Linear", "outputs": 256, "at": [0, 84]},
    {"id": "relu1", "layer": "ReLU", "at": [0, 168]}, {"id": "fc2", "layer": "Linear", "outputs": 3, "at": [0, 252]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 336]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 252]}],
    "edges": [["x", "fc1"], ["fc1", "relu1"], ["relu1", "fc2"], ["fc2", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "table.csv"}}, "training": {"epochs": 1, "batch": 32, "threads": 1}})";

// A product takes a nanosecond for each multiply-add's operation in f32, a quarter of it in bf16; a byte of a pass 0.1
// ns.
Json measuredStages() {
  Json stages = Json::array();
  const auto add = [&](const char* op, const char* kind, const char* factors, double operations, double us, int sizes) {
    stages.push_back({{"op", op},
                      {"kernel", op},
                      {"kind", kind},
                      {"factors", factors},
                      {"bytes", 10000},
                      {"operations", operations},
                      {"us", us},
                      {"sizes", std::vector<double>(static_cast<std::size_t>(sizes), 0.0)}});
  };
  add("matmul", "product", "f32", 1000, 1, 5);
  add("matmul", "product", "bf16", 1000, 0.25, 5);
  for (const char* factors : {"f32", "bf16"}) {
    add("unary", "memory", factors, 0, 1, 1);
    add("update", "update", factors, 0, 1, 1);
  }
  return stages;
}

}  // namespace

class StepForecastTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  std::unique_ptr<OpenedWindow> m_open;
  NetworkPage* m_page = nullptr;

  QString path(const char* name) { return m_folder.filePath(name); }
  void write(const QString& file, const QByteArray& text) {
    QDir().mkpath(QFileInfo(file).absolutePath());
    QFile out(file);
    QVERIFY(out.open(QIODevice::WriteOnly) && out.write(text) == text.size());
  }
  Json plan() {
    QProcess loom;
    loom.start(LOOM_PROGRAM, {"plan", m_open->document().path(), "--json"});
    [&] { QVERIFY(loom.waitForFinished(60000)); }();
    return parseJson(loom.readAllStandardOutput().toStdString(), "plan")["step"];
  }
  // As `loom plan --calibrate` would have kept it for one thread of this machine.
  QByteArray keptTimes(const char* day) {
    const Json kept = {
        {"gradloom_processor_times", 1},
        {"machines",
         {{plan()["device"].get<std::string>(),
           {{"program", "gradloom 1"}, {"date", day}, {"between_stages_us", 1.0}, {"stages", measuredStages()}}}}}};
    return QByteArray::fromStdString(kept.dump());
  }
  QString keptFile() { return path("cache/gradloom/processors.json"); }
  NetworkStrip& strip() { return *m_page->findChild<NetworkStrip*>(); }
  Button& source() { return *m_open->part<Button>("strip-source"); }
  const NetworkCosts& costs() { return m_page->scene().costs(); }
  void waitUntilSettled() {
    QTRY_VERIFY(costs().batch == 32 && strip().settled() &&
                strip().shownForecast().source != StepForecast::Source::none);
  }

 private Q_SLOTS:
  void initTestCase() {
    qputenv("XDG_CACHE_HOME", path("cache").toLocal8Bit());
    // The real program, but a measurement is one that waits until it is told to go on.
    write(path("loom"),
          "#!/bin/sh\ncase \"$*\" in\n*--calibrate*)\n echo \"$*\" > " + path("asked").toLocal8Bit() +
              "\n echo 'measuring this processor: 1 of 2, dense in f32' >&2\n while [ ! -e " +
              path("go").toLocal8Bit() + " ]; do sleep 0.02; done\n if [ -e " + path("fail").toLocal8Bit() +
              " ]; then echo 'the disk is full' >&2; exit 4; fi\n echo 'measuring this processor: 2 of 2, dense in "
              "bf16' >&2\n mkdir -p " +
              path("cache/gradloom").toLocal8Bit() + "; cp " + path("kept.json").toLocal8Bit() + ' ' +
              keptFile().toLocal8Bit() + ";;\n*) echo plan >> " + path("plans").toLocal8Bit() + "; if [ -e " +
              path("slow").toLocal8Bit() + " ]; then sleep 0.5; fi; exec " LOOM_PROGRAM " \"$@\";;\nesac\n");
    QFile::setPermissions(path("loom"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("GRADLOOM_PROGRAM", path("loom").toLocal8Bit());
  }
  void init() {
    for (const char* each : {"asked", "go", "fail", "slow", "plans"}) QFile::remove(path(each));
    QDir(path("cache")).removeRecursively();
    m_open = std::make_unique<OpenedWindow>();
    QByteArray head, row;
    for (int i = 0; i < 64; ++i) {
      head += "x__" + QByteArray::number(i) + ',';
      row += "0.5,";
    }
    m_open->write("table.csv", head + "y:label\n" + row + "0\n" + row + "2\n");
    QVERIFY(m_open->workspace().openProject(m_open->write("dense.loom", kProject)));
    m_open->window().showPage("network");
    m_page = qobject_cast<NetworkPage*>(m_open->window().page("network"));
    QTRY_VERIFY(m_page && m_page->isVisible());
    QTRY_COMPARE(m_open->workspace().errors(), 0);
  }
  void cleanup() { m_open.reset(); }

  void timesAreThoseOfTheMeasurementAndAddUpToTheStep() {
    write(keptFile(), keptTimes("2026-11-23"));
    m_page->scene().setCostKind(CostKind::time);
    strip().hide();
    strip().show();  // looks anew
    QTRY_VERIFY(strip().shownForecast().source == StepForecast::Source::measured && strip().settled());
    const Json step = plan();
    QVERIFY(step["measured"].get<bool>());
    const double whole = step["step_seconds"].get<double>();
    double sum = 0;
    for (const auto& [node, cost] : costs().nodes) sum += cost.seconds;
    QVERIFY2(std::abs(sum / whole - 1) < 1e-9, qPrintable(QString("%1 and %2").arg(sum).arg(whole)));
    QVERIFY(std::abs(costs().step.seconds / whole - 1) < 1e-9);
    QVERIFY2(strip().figures().simplified().contains(formatDuration(whole).simplified() + " at batch 32, predicted"),
             qPrintable(strip().figures()));
    // Three products of 32 x 64 x 256 would take 3.1 ms; the input has no gradient, so it is two. The update is 1 µs a
    // 10 kB.
    const double product = 2 * 32 * 64 * 256 * 1e-9;
    QVERIFY2(std::abs(costs().nodes.at("fc1").seconds / (2 * product) - 1) < 0.05,
             qPrintable(QString::number(costs().nodes.at("fc1").seconds)));
    QCOMPARE(source().text(), QString("measured 23 Nov%1").arg(QDate::currentDate().year() == 2026 ? "" : " 2026"));
    QVERIFY2(source().toolTip().contains("from this machine's measurement of 23 Nov") &&
                 source().toolTip().contains("stages measured on 2026-11-23"),
             qPrintable(source().toolTip()));
  }

  void itFollowsThreadsAndPrecision() {
    write(keptFile(), keptTimes("2025-01-02"));
    strip().hide();
    strip().show();
    QTRY_VERIFY(strip().shownForecast().source == StepForecast::Source::measured && strip().settled());
    QCOMPARE(source().text(), QString("measured 2 Jan 2025"));
    const double f32 = costs().step.seconds;
    m_open->document().setSetting("precision", "bf16");
    QTRY_VERIFY(strip().settled() && costs().step.seconds < 0.5 * f32);
    QVERIFY(strip().shownForecast().source == StepForecast::Source::measured);
    m_open->document().setSetting("threads", 2);  // nothing was measured of so many
    QTRY_COMPARE(strip().shownForecast().source, StepForecast::Source::assumed);
    QCOMPARE(source().text(), QString("speeds assumed, measure"));
  }

  void whatIsShownIsGreyUntilItIsFoundAnew() {
    waitUntilSettled();
    const double before = costs().step.seconds;
    m_page->scene().setCostKind(CostKind::time);
    write(path("slow"), "");
    m_open->document().setSetting("batch", 4096);
    QVERIFY(!strip().settled());
    QVERIFY(m_page->scene().costsFaint());
    QCOMPARE(costs().step.seconds, before);  // the last figures stay
    QVERIFY(strip().figures().contains("at batch 32"));
    QTRY_COMPARE(costs().batch, 4096);
    QTRY_VERIFY(strip().settled() && !m_page->scene().costsFaint());
    QVERIFY(costs().step.seconds > before);
    // What is counted from the drawing alone follows at once and is never grey.
    m_page->scene().setCostKind(CostKind::parameters);
    m_open->document().setSetting("batch", 32);
    QVERIFY(!strip().settled() && !m_page->scene().costsFaint());
  }

  // A drawing that is only moved is the same to the plan.
  void whatIsMovedIsNotPlannedAnew() {
    waitUntilSettled();
    const auto plans = [&] {
      QFile file(path("plans"));
      return file.open(QIODevice::ReadOnly) ? file.readAll().count('\n') : 0;
    };
    const auto before = plans();
    QVERIFY(before > 0);
    m_open->document().moveNodes("main", {{"fc1", QPointF(24, 84)}});
    QVERIFY(!strip().settled());
    QTRY_VERIFY(strip().settled());
    QCOMPARE(plans(), before);
    m_open->document().setSetting("batch", 16);
    QTRY_COMPARE(costs().batch, 16);
    QCOMPARE(plans(), before + 1);
  }

  void oneClickMeasuresAndThePlanIsFromIt() {
    write(path("kept.json"), keptTimes("2026-11-23"));
    waitUntilSettled();
    QCOMPARE(source().text(), QString("speeds assumed, measure"));
    m_open->click("strip-source");
    QTRY_COMPARE(source().text(), QString("Measuring, 1 of 2"));
    QVERIFY(!source().isEnabled());
    QVERIFY(m_open->part<Button>("strip-cancel")->isVisible());
    write(path("go"), "");
    QTRY_VERIFY(source().text().startsWith("measured 23 Nov"));
    QVERIFY(!m_open->part<Button>("strip-cancel")->isVisible());
    QFile asked(path("asked"));
    QVERIFY(asked.open(QIODevice::ReadOnly));
    QCOMPARE(asked.readAll().trimmed(), QByteArray("plan --calibrate --threads 1"));  // as the settings say
  }

  void cancelledNothingIsKept() {
    write(path("kept.json"), "{}");
    waitUntilSettled();
    m_open->activate();
    // From the list of commands too; the keyboard goes from the button to Cancel and back.
    QAction* command = m_open->window().findChild<Commands*>()
                           ? m_open->window().findChild<Commands*>()->find("network.measure-processor")
                           : nullptr;
    if (command) QVERIFY(command->isEnabled());
    source().setFocus(Qt::TabFocusReason);
    QTest::keyClick(&source(), Qt::Key_Space);
    QTRY_COMPARE(source().text(), QString("Measuring, 1 of 2"));
    auto* cancel = m_open->part<Button>("strip-cancel");
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(cancel));
    QTest::keyClick(cancel, Qt::Key_Space);
    QTRY_COMPARE(source().text(), QString("speeds assumed, measure"));
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(&source()));
    write(path("go"), "");
    QTest::qWait(200);
    QVERIFY(!QFile::exists(keptFile()));
  }

  void whyNothingWasMeasuredIsSaid() {
    waitUntilSettled();
    write(path("fail"), "");
    write(path("go"), "");
    m_open->click("strip-source");
    QTRY_COMPARE(source().text(), QString("Not measured: try again"));
    QVERIFY2(source().toolTip().contains("the disk is full"), qPrintable(source().toolTip()));
  }

  void withoutTheProgramItIsAGuessAndSaysSo() {
    qputenv("GRADLOOM_PROGRAM", "/nowhere/loom");
    strip().hide();
    strip().show();
    QTRY_COMPARE(strip().shownForecast().source, StepForecast::Source::rough);
    QVERIFY(costs().step.seconds > 0);
    QVERIFY2(source().toolTip().contains("rough guesses"), qPrintable(source().toolTip()));
    qputenv("GRADLOOM_PROGRAM", path("loom").toLocal8Bit());
  }
};

}  // namespace loom

QTEST_MAIN(loom::StepForecastTest)
#include "step_forecast_test.moc"
