// A person has layers recorded, sees them in colours on the canvas and as distributions over the steps, and measures
// the loss around the run's weights. Real events, the real loom. Pictures are written where GRADLOOM_PICTURES names a
// folder.
#include "app/pages/training/run_layers.h"

#include <QComboBox>
#include <QDir>
#include <QHelpEvent>
#include <QLabel>
#include <QSlider>
#include <QTabBar>
#include <QToolTip>
#include <cmath>

#include "app/layer_records.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_page.h"
#include "app/pages/runs/overlay_view.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/run_drawing.h"
#include "app/pages/training/run_landscape.h"
#include "app/pages/training/training_page.h"
#include "tests/app/opened_window.h"
#include "tests/app/training/journey_test.h"
#include "tests/app/training/segmentation_test.h"
#include "widgets/canvas/cost_legend.h"
#include "widgets/canvas/network_view.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"

namespace loom {
namespace {

constexpr int kPatience = 30000;

// A unit that is used twice, a rectifier, and a folded group would be nodes of their own on the canvas.
QByteArray project(int every) {
  return QStringLiteral(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]}, {"id": "first", "unit": "Dense", "at": [0, 80]},
    {"id": "second", "unit": "Dense", "at": [0, 160]}, {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 240]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 320]},
    {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [280, 240]}],
    "edges": [["x", "first"], ["first", "second"], ["second", "out"], ["out", "loss"], ["y", "loss.target"]]}},
    "units": {"Dense": {"nodes": [{"id": "in", "layer": "Input"}, {"id": "fc", "layer": "Linear", "outputs": 6, "at": [0, 80]},
      {"id": "relu", "layer": "ReLU", "at": [0, 160]}, {"id": "give", "layer": "Output", "at": [0, 240]}],
      "edges": [["in", "fc"], ["fc", "relu"], ["relu", "give"]]}},
    "datasets": {"training": {"csv": "train.csv"}, "validation": {"csv": "val.csv"}},
    "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 5, "batch": 8,
                 "record_layers": %1, "optimizer": {"name": "Adam", "learning_rate": 0.02}}})")
      .arg(every)
      .toUtf8();
}

QByteArray rows(int count, double shift) {
  QByteArray text = "x__0,x__1,y:label\n";
  for (int i = 0; i < count; ++i) {
    const double angle = 0.7 * i + shift;
    text += QByteArray::number(std::sin(angle) + 0.8 * (i % 2)) + ',' + QByteArray::number(std::cos(2.3 * angle)) +
            ',' + QByteArray::number(i % 2) + '\n';
  }
  return text;
}

}  // namespace

class RunLayersTest : public QObject {
  Q_OBJECT

  std::unique_ptr<OpenedWindow> m_open;
  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  TrainingPage& page() { return *static_cast<TrainingPage*>(window().page("training")); }
  NetworkPage& network() { return *static_cast<NetworkPage*>(window().page("network")); }
  LayerRecords& records() { return LayerRecords::of(workspace()); }

  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    for (const ThemeMode mode : {ThemeMode::dark, ThemeMode::light}) {
      Theme::of().setMode(mode);
      QTest::qWait(200);
      window().grab().save(
          QDir(folder).filePath(QString::fromLatin1(name) + (mode == ThemeMode::dark ? "-dark.png" : "-light.png")));
    }
  }
  void open(int every) {
    m_open->write("p/train.csv", rows(64, 0));
    m_open->write("p/val.csv", rows(24, 0.3));
    window().openProject(m_open->write("p/wires.loom", project(every)));
    QVERIFY(workspace().document());
    QTRY_COMPARE(workspace().errors(), 0);
  }
  void train(const TrainOptions& options = {}) {
    QVERIFY(workspace().train(options));
    const auto newest = [this] { return workspace().runs().back(); };
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(newest().state) && newest().state != RunState::queued, kPatience);
    QCOMPARE(newest().state, RunState::finished);
    window().showPage("training");
    QTRY_VERIFY(window().settled());
  }
  void showTab(const QString& name) {
    auto* const tabs = m_open->part<QTabBar>("training-tabs");
    int index = 0;
    while (index < tabs->count() && tabs->tabText(index) != name) ++index;
    QVERIFY(tabs->tabRect(index).right() < tabs->width() + 2);
    QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(index).center());
    QCOMPARE(tabs->currentIndex(), index);
  }
  QString text(const char* name) { return m_open->part<QLabel>(name)->text(); }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void init() { m_open = std::make_unique<OpenedWindow>(); }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void whatWasRecordedIsSeenOnTheCanvasAndOverTheSteps() {
    open(4);
    train();  // 40 steps: 1, 5, ... 37
    showTab("Layers");
    QTRY_COMPARE_WITH_TIMEOUT(records().steps()->size(), std::size_t{10}, kPatience);
    auto* const view = m_open->part<DistributionView>("layers-view");
    QTRY_VERIFY(view->isVisible());
    auto* const layers = m_open->part<QComboBox>("layers-layer");
    QStringList names;
    for (int i = 0; i < layers->count(); ++i) names << layers->itemText(i);
    for (const char* name : {"first/fc", "first/relu", "second/fc", "second/relu", "out", "x"})
      QVERIFY2(names.contains(name), name);
    layers->setFocus();
    QTest::keyClick(layers, Qt::Key_Home);
    for (int i = 0; i < layers->count() && layers->currentText() != "second/relu"; ++i)
      QTest::keyClick(layers, Qt::Key_Down);
    QCOMPARE(layers->currentText(), QString("second/relu"));
    // What is under the pointer is told, and a click chooses its step.
    const LayerRecord& third = records().steps()->at(2).networks.at("main").at("second/relu");
    const QPoint there = view->placeOf(9, third.activations.quantile(0.9)).toPoint();
    const QString words = view->wordsAt(there);
    QVERIFY2(words.startsWith("Step 9: 48 values from 0 to "), qPrintable(words));  // 8 samples of 6 units
    QTest::mouseClick(view, Qt::LeftButton, {}, there);
    QCOMPARE(records().shown()->step, 9);
    QVERIFY2(text("layers-facts").startsWith("Step 9: " + QString::number(third.dead) + " of 6 units dead, from 0 to"),
             qPrintable(text("layers-facts")));
    QTest::keyClick(view, Qt::Key_Right);
    QCOMPARE(records().shown()->step, 13);
    picture("layers-activations");
    auto* const part = m_open->part<SegmentedControl>("layers-part");
    QTest::mouseClick(part, Qt::LeftButton, {}, part->segment(1).center());
    QVERIFY(view->toCsv().startsWith("step,count,not_finite,least,q5,q25,q50,q75,q95,most,mean,deviation\n1,48,0,"));
    QCOMPARE(view->toCsv().count('\n'), 11);
    picture("layers-gradients");
    m_open->part<RunLayers>("run-layers")->saveTo(m_open->path(""));
    QVERIFY(QFileInfo(m_open->path("layer-second-relu-gradients.csv")).size() > 100);
    QVERIFY(!QImage(m_open->path("layer-second-relu-gradients.png")).isNull());

    // All layers in the run's own drawing, at the same step: what is on the canvas does not matter.
    QTest::mouseClick(part, Qt::LeftButton, {}, part->segment(2).center());
    const RunDrawing& drawing = m_open->part<RunLayers>("run-layers")->drawing();
    QTRY_VERIFY_WITH_TIMEOUT(drawing.view().figures().size() > 2, kPatience);
    QVERIFY(!view->isVisible());
    QCOMPARE(drawing.view().title(), "Gradient norm at step 13, " + workspace().runs().back().name);
    const auto colourOf = [&](const char* node) { return drawing.view().figures().value(node).step; };
    QVERIFY(colourOf("out") >= 0 && colourOf("first") >= 0);
    QCOMPARE(colourOf("loss"), -1);
    QVERIFY(drawing.view().cardOf("first").isValid());
    picture("layers-drawing");
    auto* const colour = m_open->part<QComboBox>("drawing-colour");
    colour->setFocus();
    QTest::keyClick(colour, Qt::Key_Down);
    QTest::keyClick(colour, Qt::Key_Down);
    QVERIFY2(drawing.view().title().startsWith("Dead units at step 13"), qPrintable(drawing.view().title()));
    QCOMPARE(colourOf("out"), -1);  // it is no rectifier
    auto* const slider = m_open->part<QSlider>("drawing-step");
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Home);
    QCOMPARE(records().shown()->step, 1);
    QVERIFY(drawing.view().title().startsWith("Dead units at step 1,"));
    const LayerRecord& dead = records().steps()->front().networks.at("main").at("second/relu");
    const NodeFigure second = drawing.view().figures().value("second");
    QVERIFY2(second.words.contains(QStringLiteral("Dead units %1 of 6").arg(dead.dead)), qPrintable(second.words));
    // A change of the drawing in the editor changes nothing of what the run was.
    QVERIFY(drawing.view().overlay().isSame());
    m_open->part<RunLayers>("run-layers")->saveTo(m_open->path(""));
    QFile figures(m_open->path("drawing-dead-units-step-1.csv"));
    QVERIFY(figures.open(QIODevice::ReadOnly));
    QVERIFY(figures.readLine().startsWith("node,gradient_norm,update_ratio,dead_units,activation_range"));
    QVERIFY(!QImage(m_open->path("drawing-dead-units-step-1.png")).isNull());
    QTest::keyClick(slider, Qt::Key_Right);
    QTest::keyClick(slider, Qt::Key_Right);
    QTest::keyClick(slider, Qt::Key_Right);
    QCOMPARE(records().shown()->step, 13);
    QTest::mouseClick(part, Qt::LeftButton, {}, part->segment(1).center());
    QVERIFY(view->isVisible());

    // On the canvas at the same step, by a click.
    m_open->click("layers-on-canvas");
    QTRY_VERIFY(network().isVisible());
    NetworkScene& scene = network().scene();
    QCOMPARE(scene.costKind(), CostKind::gradientNorm);
    QTRY_COMPARE(scene.recorded().step, 13);
    CostLegend& legend = network().view().costLegend();
    QTRY_VERIFY(legend.isVisible());
    QCOMPARE(legend.title(), "Gradient norm at step 13, " + workspace().runs().back().name);
    const RecordedStep& shown = records().steps()->at(3);
    const auto& recorded = shown.networks.at("main");
    QVERIFY(std::abs(scene.recorded("out")->values[0] - recorded.at("out").norms->gradient) < 1e-12);
    // A unit's card is of what stands inside.
    QVERIFY(std::abs(scene.recorded("first")->values[0] - recorded.at("first/fc").norms->gradient) < 1e-12);
    QVERIFY(!scene.recorded("loss"));
    const auto step = [&](const char* node) { return scene.card(node)->content().step.value_or(-2); };
    QVERIFY(step("out") >= 0 && step("first") >= 0);
    QCOMPARE(step("loss"), CostScale::kNone);
    QVERIFY(!scene.card("out")->content().cost.isEmpty());
    picture("canvas-gradient-norm");
    // The slider leads to another step: the first, by its key.
    legend.stepSlider().setFocus();
    QTest::keyClick(&legend.stepSlider(), Qt::Key_Home);
    QTRY_COMPARE(scene.recorded().step, 1);
    QCOMPARE(records().shown()->step, 1);
    QVERIFY(legend.title().startsWith("Gradient norm at step 1,"));
    // The other kinds, by the commands that Ctrl+K finds; and the tooltip of a card says all of it.
    for (const auto& [command, kind] : {std::pair{"network.colour-update-ratio", CostKind::updateRatio},
                                        std::pair{"network.colour-activation-range", CostKind::activationRange},
                                        std::pair{"network.colour-dead-units", CostKind::deadUnits}}) {
      workspace().context().commands->find(QString::fromLatin1(command))->trigger();
      QCOMPARE(scene.costKind(), kind);
      QVERIFY(step(kind == CostKind::deadUnits ? "second" : "out") >= 0);
    }
    QCOMPARE(step("out"), CostScale::kNone);  // it is no rectifier
    const LayerRecord& relu = records().steps()->front().networks.at("main").at("second/relu");
    QCOMPARE(scene.recorded("second")->values[2], static_cast<double>(relu.dead) / 6);
    picture("canvas-dead-units");
    NetworkView& canvas = network().view();
    const QPoint at = canvas.mapFromScene(scene.card("second")->pos());
    QHelpEvent help(QEvent::ToolTip, at, canvas.viewport()->mapToGlobal(at));
    QApplication::sendEvent(canvas.viewport(), &help);
    QTRY_VERIFY(QToolTip::text().contains("Dead units"));
    QVERIFY2(QToolTip::text().contains("Update ratio") && QToolTip::text().contains("Activations"),
             qPrintable(QToolTip::text()));
    QToolTip::hideText();
    // The cursor of the curves is the same one.
    window().showPage("training");
    showTab("Curves");
    QTRY_VERIFY(window().settled());
    page().curves().stack().axis()->setCursor(22);
    QTRY_COMPARE_WITH_TIMEOUT(records().shown()->step, 21, kPatience);
  }

  void whereNothingWasRecordedTheRemedyIsAClickAway() {
    open(0);
    window().showPage("network");
    workspace().context().commands->find("network.colour-dead-units")->trigger();
    CostLegend& legend = network().view().costLegend();
    QTRY_VERIFY(legend.isVisible() && legend.remedy().isVisible());
    QVERIFY(!legend.stepSlider().isVisible());
    QVERIFY(legend.title().startsWith("No run has recorded its layers"));
    picture("canvas-nothing-recorded");
    QTest::mouseClick(&legend.remedy(), Qt::LeftButton);
    QTRY_VERIFY(window().page("settings") && window().page("settings")->isVisible());
    train();
    QVERIFY(!QFile(workspace().runs().back().folder + "/events.jsonl").readAll().contains("recorded"));
    showTab("Layers");
    QVERIFY(m_open->part<QWidget>("layers-empty")->isVisible());
    picture("layers-empty");
  }

  void theLossAroundARunIsMeasuredAndStopped() {
    open(0);
    train();
    const QString first = workspace().runs().back().id;
    train({.name = "other", .overrides = {"seed=9"}});
    showTab("Landscape");
    picture("landscape-empty");
    m_open->click("landscape-measure");
    const auto& landscape = page().landscape();
    QTRY_VERIFY_WITH_TIMEOUT(!landscape.runs(), kPatience);
    QVERIFY2(text("landscape-fault").isEmpty(), qPrintable(text("landscape-fault")));
    QCOMPARE(landscape.plot().plot().lines.size(), 2);
    QCOMPARE(landscape.plot().plot().lines[0].points.size(), 25);
    QVERIFY2(text("landscape-words").startsWith("Training loss "), qPrintable(text("landscape-words")));
    picture("landscape-random");
    // Over a plane: the run itself is where both directions meet, and the first one is that of the line.
    const QPolygonF line = landscape.plot().plot().lines[0].points;
    auto* const along = m_open->part<QComboBox>("landscape-along");
    along->setFocus();
    QTest::keyClick(along, Qt::Key_Down);
    m_open->click("landscape-measure");
    QTRY_VERIFY_WITH_TIMEOUT(!landscape.runs(), kPatience);
    QVERIFY2(text("landscape-fault").isEmpty(), qPrintable(text("landscape-fault")));
    HeatView& plane = landscape.plane();
    QVERIFY(plane.isVisible());
    QCOMPARE(plane.map().columns, 13);
    QCOMPARE(static_cast<int>(plane.map().values.size()), 169);
    for (const double each : plane.map().values) QVERIFY(std::isfinite(each));
    for (const auto& [column, place] : {std::pair{6, 12}, std::pair{0, 0}, std::pair{12, 24}, std::pair{9, 18}})
      QVERIFY2(std::abs(plane.map().at(column, 6) - line[place].y()) < 1e-5 * line[place].y(),
               qPrintable(QString("%1: %2 %3").arg(column).arg(plane.map().at(column, 6)).arg(line[place].y())));
    QVERIFY(plane.levels().size() >= 3);
    QVERIFY2(text("landscape-words").startsWith("Training loss "), qPrintable(text("landscape-words")));
    // What is under the pointer is told.
    const QString told = plane.wordsAt(plane.placeOf({0.5, -1}));
    QVERIFY2(told.startsWith("0.50, \u22121.00: training loss ") || told.startsWith("0.50, -1.00: training loss "),
             qPrintable(told));
    QVERIFY(plane.wordsAt(QPointF(1, 1)).isEmpty());
    picture("landscape-plane");
    const double training = plane.map().at(0, 0);
    auto* const losses = m_open->part<SegmentedControl>("landscape-losses");
    QTest::mouseClick(losses, Qt::LeftButton, {}, losses->segment(1).center());
    QVERIFY(plane.map().at(0, 0) != training);
    QVERIFY(plane.map().valueName.startsWith("validation"));
    m_open->part<RunLandscape>("run-landscape")->saveTo(m_open->path(""));
    QFile table(m_open->path("landscape.csv"));
    QVERIFY(table.open(QIODevice::ReadOnly));
    QCOMPARE(table.readAll().count('\n'), 170);
    QVERIFY(QImage(m_open->path("landscape.png")).height() > 800);
    // Stopped half-way it shows what was measured.
    m_open->click("landscape-measure");
    QVERIFY(QTest::qWaitFor(
        [&] {
          if (plane.map().isEmpty()) return false;
          if (landscape.runs()) m_open->click("landscape-measure");  // a quick machine may have come to the end
          return true;
        },
        kPatience));
    QVERIFY(!landscape.runs());
    // Along the line: its ends are what the two runs say of themselves.
    along->setFocus();
    QTest::keyClick(along, Qt::Key_Down);
    QCOMPARE(along->currentData().toString(), first);
    m_open->click("landscape-measure");
    QTRY_VERIFY_WITH_TIMEOUT(!landscape.runs(), kPatience);
    QVERIFY2(text("landscape-fault").isEmpty(), qPrintable(text("landscape-fault")));
    picture("landscape-line");
    const QPolygonF validation = landscape.plot().plot().lines[1].points;
    QCOMPARE(validation.size(), 25);
    const auto lossOf = [&](const QString& id) {
      return workspace().store().lastValue(id, series::kValidationLoss).value_or(-1);
    };
    const auto at = [&](double place) {
      for (const QPointF& each : validation)
        if (std::abs(each.x() - place) < 1e-6) return each.y();
      return -1.0;
    };
    QVERIFY2(at(0) > 0 && at(1) > 0, "both ends are points of it");
    for (const auto& [place, id] : {std::pair{0.0, workspace().runs().back().id}, std::pair{1.0, first}}) {
      double best = 1e9;
      for (const SeriesPoint& point : workspace().store().points(id, series::kValidationLoss))
        best = std::min(best, point.value);
      QVERIFY2(std::abs(at(place) - best) < 1e-5, qPrintable(QString("%1: %2 %3").arg(place).arg(at(place)).arg(best)));
      QVERIFY(lossOf(id) > 0);
    }
    m_open->part<RunLandscape>("run-landscape")->saveTo(m_open->path(""));
    QVERIFY(QFileInfo(m_open->path("landscape.csv")).size() > 200);
    QVERIFY(!QImage(m_open->path("landscape.png")).isNull());
    // Stopped: what was measured stays, and it says so.
    m_open->click("landscape-measure");
    m_open->click("landscape-measure");
    QVERIFY(!landscape.runs());
    QCOMPARE(m_open->part<QAbstractButton>("landscape-measure")->text().startsWith("Measure"), true);
    // A folder that cannot be written is told.
    m_open->part<RunLandscape>("run-landscape")->saveTo("/proc/none");
    QVERIFY(text("landscape-fault").contains("another folder"));
  }
};

int testRunLayers(int argc, char** argv) {
  RunLayersTest test;
  const int failed = QTest::qExec(&test, argc, argv);
  return failed + testSegmentation(argc, argv);
}

}  // namespace loom

#include "run_layers_test.moc"
