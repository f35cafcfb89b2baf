// What flows where, as a person sees it: the mouse rests on a wire and the tensor of the first sample stands beside it,
// computed by the real program. Pictures are written where GRADLOOM_PICTURES names a folder.
#include "app/pages/network/wire_preview.h"

#include <QDir>
#include <QElapsedTimer>
#include <QHelpEvent>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "app/pages/network/inspector.h"
#include "app/pages/network/inspector_parts.h"
#include "app/pages/network/network_page.h"
#include "app/pages/network/network_strip.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/preview/tensor_card.h"
#include "widgets/theme/elevation.h"

namespace loom {
namespace {

constexpr int kSide = 12;

// A ring in every picture, larger from row to row; labels 0, 1, 2.
QByteArray ringTable(int rows) {
  QByteArray text;
  for (int i = 0; i < kSide * kSide; ++i) text += "x__" + QByteArray::number(i) + ",";
  text += "y:label\n";
  for (int row = 0; row < rows; ++row) {
    const double radius = 2 + row % 3;
    for (int i = 0; i < kSide * kSide; ++i) {
      const double distance = std::hypot(i / kSide - 5.5, i % kSide - 5.5);
      text += QByteArray::number(std::max(0.0, 1 - std::abs(distance - radius)), 'f', 3) + ",";
    }
    text += QByteArray::number(row % 3) + "\n";
  }
  return text;
}

constexpr const char* kProject = R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [1, 12, 12], "at": [0, 0]}, {"id": "conv1", "layer": "Convolution", "channels": 16, "kernel": [3, 3], "at": [0, 84]},
    {"id": "relu1", "layer": "ReLU", "at": [0, 168]}, {"id": "fc", "layer": "Linear", "outputs": 3, "at": [0, 252]},
    {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 336]}, {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [264, 252]}],
    "edges": [["x", "conv1"], ["conv1", "relu1"], ["relu1", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
    "datasets": {"training": {"csv": "table.csv"}}, "training": {"epochs": 2, "batch": 8}})";

}  // namespace

class WirePreviewTest : public QObject {
  Q_OBJECT

  struct Opened : OpenedWindow {
    explicit Opened(const QByteArray& project = kProject, int rows = 48) {
      write("table.csv", ringTable(rows));
      const QString file = write("rings.loom", project);
      [&] { QVERIFY(workspace().openProject(file)); }();
      window().showPage("network");
      page = qobject_cast<NetworkPage*>(window().page("network"));
      [&] {
        QVERIFY(page);
        QTRY_VERIFY(page->isVisible());
      }();
      page->view().fit();
      QCoreApplication::processEvents();
    }
    QPoint on(const Edge& edge) {
      const auto& way = page->scene().wayOf(edge);
      return page->view().mapFromScene((way[(way.size() - 1) / 2] + way[way.size() / 2]) / 2);
    }
    void rest(const Edge& edge) {
      const QPoint at = on(edge);
      QTest::mouseMove(page->view().viewport(), at + QPoint(1, 0));
      QTest::mouseMove(page->view().viewport(), at);
    }
    void away() { QTest::mouseMove(page->view().viewport(), QPoint(6, 6)); }
    // To its end, and back to this page.
    void train() {
      QVERIFY(workspace().train());
      QTRY_VERIFY_WITH_TIMEOUT(!workspace().runs().isEmpty() && workspace().runs().back().state == RunState::finished,
                               60000);
      window().showPage("network");
      QTRY_VERIFY(page->isVisible());
    }
    TensorCard& card() { return page->wirePreview().card(); }
    NetworkPage* page = nullptr;
  };
  static Edge edge(const char* from, const char* to, const char* port = "input") {
    return {{from, "output"}, {to, port}};
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }
  void theMouseRestingOnAWireShowsWhatFlowsThere() {
    Opened opened;
    QVERIFY(!opened.page->wirePreview().line().runs());
    QElapsedTimer rested;
    rested.start();
    opened.rest(edge("x", "conv1"));
    QTest::qWait(120);
    QVERIFY2(!opened.card().isVisible() || rested.elapsed() >= 300, "it opens after 300 ms");
    QTRY_VERIFY(opened.card().isVisible());
    QCOMPARE(opened.card().title(), QString("x to conv1"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    const TensorSummary x = *opened.card().face().tensor();
    QCOMPARE(x.shape, (Shape{1, 12, 12}));
    QCOMPARE(x.tiles, 1);
    const QList<QByteArray> row = ringTable(1).split('\n')[1].split(',');
    for (std::size_t i = 0; i < x.first.size(); ++i) QCOMPARE(x.first[i], row[static_cast<qsizetype>(i)].toFloat());
    QCOMPARE(opened.card().subtitle(), QString("first sample of training"));
    QCOMPARE(opened.card().weights(), QString("initial weights"));
    // Another wire, another tensor, by the program that runs already.
    opened.rest(edge("relu1", "fc"));
    QTRY_COMPARE(opened.card().title(), QString("relu1 to fc"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QCOMPARE(opened.card().face().tensor()->channels, 16);
    QCOMPARE(opened.card().face().tensor()->least, 0.0);
    auto* next = opened.card().findChild<Button*>("tensorNext");
    QVERIFY(next->isVisible());
    QTest::mouseClick(next, Qt::LeftButton);
    QCOMPARE(opened.card().face().firstTile(), 8);
    QTest::mouseClick(next, Qt::LeftButton);
    QCOMPARE(opened.card().face().firstTile(), 0);
    opened.away();
    QTRY_VERIFY(!opened.card().isVisible());
  }

  // As Arrange sets a chain: sixteen pixels from card to card, all of them within reach of a pin.
  void aWireBetweenCardsThatStandCloseIsLookedAtToo() {
    Opened opened(QByteArray(kProject)
                      .replace("[0, 84]", "[0, 60]")
                      .replace("[0, 168]", "[0, 120]")
                      .replace("[0, 252]", "[0, 180]")
                      .replace("[0, 336]", "[0, 240]"));
    for (const auto& [from, to] : {std::pair("x", "conv1"), std::pair("relu1", "fc")}) {
      opened.rest(edge(from, to));
      QTRY_COMPARE(opened.card().title(), QString("%1 to %2").arg(from, to));
      QTRY_VERIFY(opened.card().isVisible());
      QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    }
  }

  void aClickPinsItAndEscLetsItGo() {
    Opened opened;
    opened.rest(edge("conv1", "relu1"));
    QTRY_VERIFY(opened.card().isVisible());
    const QPoint middle = opened.card().rect().center();
    QTest::mouseMove(&opened.card(), middle);
    QTest::mouseClick(&opened.card(), Qt::LeftButton, {}, QPoint(middle.x(), opened.card().height() - 26));
    QVERIFY(opened.card().isPinned());
    opened.away();
    QTest::qWait(600);
    QVERIFY(opened.card().isVisible());
    opened.page->view().setFocus();
    QTest::keyClick(&opened.page->view(), Qt::Key_Escape);
    QVERIFY(!opened.card().isVisible());
  }

  void byKeysAndInTheInspector() {
    Opened opened;
    QTest::mouseClick(opened.page->view().viewport(), Qt::LeftButton, {}, opened.on(edge("relu1", "fc")));
    QCOMPARE(opened.page->scene().picked().wires.size(), std::size_t{1});
    QTest::keyClick(&opened.page->view(), Qt::Key_T);
    QVERIFY(opened.card().isVisible() && opened.card().isPinned());
    TensorFace& shown = opened.page->inspector().tensor();
    QTRY_VERIFY(shown.isVisible() && shown.tensor() && !shown.isLoading());
    QCOMPARE(shown.tensor()->channels, 16);
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QCOMPARE(opened.card().face().tensor()->pixels, shown.tensor()->pixels);
    QTest::qWait(350);
    QVERIFY2(opened.card().isPinned(), "a mouse that has rested takes no pin away");
    QTest::keyClick(&opened.page->view(), Qt::Key_T);
    QVERIFY(!opened.card().isVisible());
  }

  void aDrawingThatChangesIsComputedAnew() {
    Opened opened;
    opened.rest(edge("conv1", "relu1"));
    QTRY_VERIFY(opened.card().isVisible());
    // At once, while the first answer is on its way.
    QVERIFY(opened.document().setField("main", "conv1", "channels", 5));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QCOMPARE(opened.card().face().tensor()->channels, 5);
    // A wire that is gone takes its card along.
    opened.document().removeNodes("main", {"relu1"}, false);
    QTRY_VERIFY(!opened.card().isVisible());
  }

  void withoutDataItSaysSo() {
    Json project = parseJson(kProject, "project");
    project.erase("datasets");
    Opened opened(QByteArray::fromStdString(project.dump()));
    opened.rest(edge("conv1", "relu1"));
    QTRY_VERIFY(opened.card().isVisible() && !opened.card().face().sentence().isEmpty());
    QVERIFY2(opened.card().face().sentence().contains("no dataset"), qPrintable(opened.card().face().sentence()));
    QVERIFY2(opened.card().face().sentence().contains("Data"), qPrintable(opened.card().face().sentence()));
  }

  void theWeightsOfARunAreNamedAndCanBeLeft() {
    Opened opened;
    opened.train();
    opened.rest(edge("fc", "loss"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    const std::vector<float> trained = opened.card().face().tensor()->first;
    QCOMPARE(trained.size(), std::size_t{3});
    const QString name = opened.workspace().runs().back().name;
    QVERIFY2(opened.card().weights().startsWith("weights of " + name + ", step "), qPrintable(opened.card().weights()));
    auto* other = opened.card().findChild<Button*>("tensorWeights");
    QVERIFY(other->isVisible());
    QTest::mouseMove(other, other->rect().center());
    QTest::mouseClick(other, Qt::LeftButton);
    const auto choose = [&](const QString& words) {
      QTRY_VERIFY(opened.part<QMenu>("weights-menu"));
      auto* const menu = opened.part<QMenu>("weights-menu");
      for (QAction* action : menu->actions())
        if (action->text() == words) QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(action).center());
      QTRY_VERIFY(!opened.part<QMenu>("weights-menu"));
    };
    choose("Initial weights");
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QCOMPARE(opened.card().weights(), QString("initial weights"));
    QVERIFY(opened.card().face().tensor()->first != trained);
    QTest::mouseClick(other, Qt::LeftButton);
    choose(name + " (best)");
    QTRY_VERIFY(opened.card().face().tensor() && opened.card().face().tensor()->first == trained);
    // However long the name is, the link beside it stands there whole, and all of the words in their tooltip.
    const QString longer = "a run with a name that no card of this width has the room for";
    opened.workspace().store().change(opened.workspace().runs().back().id, [&](RunRecord& run) { run.name = longer; });
    opened.away();
    QTRY_VERIFY(!opened.card().isVisible());
    opened.rest(edge("fc", "loss"));
    QTRY_VERIFY(opened.card().isVisible() && opened.card().weights().contains(longer));
    const auto* const words = other->parentWidget()->findChild<QLabel*>();
    QVERIFY(words->toolTip().contains(longer));
    QVERIFY2(words->text().startsWith("weights of a run") && words->text().endsWith(QChar(0x2026)),
             qPrintable(words->text()));
    QVERIFY(words->fontMetrics().horizontalAdvance(words->text()) <= words->width());
    QVERIFY(words->geometry().right() < other->x() && other->width() >= other->sizeHint().width());
    QVERIFY(other->mapTo(&opened.card(), QPoint(other->width(), 0)).x() <=
            opened.card().width() - shadowMargin(Elevation::menu));
  }

  // A later run that is worse, or was never trained to anything, is not whose weights are meant.
  void theBestRunIsMeantAndNotTheNewest() {
    Opened opened;
    opened.train();
    const QString best = opened.workspace().runs().back().name;
    QVERIFY(opened.workspace().train(
        {.name = "worse", .overrides = {"optimizer.name=Adam", "optimizer.learning_rate=1e-9"}}));
    const auto worseHasEnded = [&] {
      const auto& runs = opened.workspace().runs();
      return std::any_of(runs.begin(), runs.end(),
                         [](const auto& run) { return run.name == "worse" && run.state == RunState::finished; });
    };
    const auto states = [&] {
      QStringList told;
      for (const auto& run : opened.workspace().runs())
        told << QStringLiteral("%1 %2 %3").arg(run.name).arg(static_cast<int>(run.state)).arg(run.message);
      return told.join("; ");
    };
    QTRY_VERIFY2(worseHasEnded(), qPrintable(states()));
    opened.window().showPage("network");
    QTRY_VERIFY(opened.page->isVisible());
    opened.rest(edge("fc", "loss"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QVERIFY2(opened.card().weights().startsWith("weights of " + best + ", "), qPrintable(opened.card().weights()));
  }

  // Backwards along the wires, by the link below the values.
  void whereInfinityStartsIsShown() {
    QByteArray project = kProject;
    project.replace(R"("at": [0, 336]})", R"("at": [0, 420]}, {"id": "log", "layer": "Log", "at": [0, 252]})");
    project.replace(R"("outputs": 3, "at": [0, 252])", R"("outputs": 3, "at": [0, 336])");
    project.replace(R"(["relu1", "fc"])", R"(["relu1", "log"], ["log", "fc"])");
    Opened opened(project);
    opened.rest(edge("x", "conv1"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    auto* start = opened.card().findChild<Button*>("tensorStart");
    QVERIFY(!start->isVisible());
    QTest::mouseClick(opened.page->view().viewport(), Qt::LeftButton, {}, opened.on(edge("fc", "loss")));
    opened.page->view().setFocus();
    QTest::keyClick(&opened.page->view(), Qt::Key_T);
    QTRY_COMPARE(opened.card().title(), QString("fc to loss"));
    QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
    QVERIFY(start->isVisible());
    QTest::mouseClick(start, Qt::LeftButton);
    QTRY_COMPARE(opened.page->scene().picked().wires, std::set<Edge>{edge("log", "fc")});
    QTRY_COMPARE(opened.card().title(), QString("log to fc"));
    QVERIFY(opened.card().isPinned());
    QVERIFY2(opened.page->view().hint().text().contains("log"), qPrintable(opened.page->view().hint().text()));
  }

  // All kinds of cost as bars on the cards, totals in the strip, and after a run what was measured beside what was
  // predicted.
  void everyKindOfCostAndWhatWasMeasured() {
    Opened opened;
    NetworkScene& scene = opened.page->scene();
    QTRY_COMPARE(scene.costs().batch, 8);
    const auto bars = [&](CostKind kind) {
      scene.setCostKind(kind);
      double longest = 0, share = 0;
      for (const char* id : {"x", "conv1", "relu1", "fc", "loss", "y"}) {
        longest = std::max(longest, scene.card(id)->content().bar);
        share += scene.card(id)->content().share;
      }
      return std::pair(longest, std::round(share * 1e6) / 1e6);
    };
    for (const CostKind kind : kCostKinds)
      if (kind != CostKind::measuredTime) QCOMPARE(bars(kind), std::pair(1.0, 1.0));
    QCOMPARE(bars(CostKind::measuredTime), std::pair(0.0, 0.0));  // nothing was trained yet
    // 16 channels of 10 x 10 for 8 samples are read again behind the convolution or the ReLU.
    QVERIFY(scene.costs().total.activations >= 8 * 16 * 100 * 4);
    const QString strip = opened.page->findChild<NetworkStrip*>()->figures();
    QVERIFY2(strip.contains("at batch 8, predicted") && strip.contains(" and "), qPrintable(strip));
    // The network's own memory stands beside the figure of the strip, each under a name of its own.
    const auto spoken = [&] { return opened.page->inspector().findChild<CostTable*>()->accessibleName(); };
    scene.pick({});
    QTRY_VERIFY2(spoken().contains("Memory of the layers "), qPrintable(spoken()));
    const QString whole = formatBytes(scene.costs().stepMemory);
    QVERIFY(scene.costs().stepMemory > scene.costs().total.memory);
    QVERIFY2(strip.simplified().contains(whole.simplified()), qPrintable(strip));  // its text has plain blanks
    QVERIFY2(spoken().contains("Memory of the step " + whole), qPrintable(spoken()));
    scene.pickNode("conv1");
    QTRY_VERIFY2(!spoken().contains("Memory of the"), qPrintable(spoken()));
    for (const char* words :
         {"Parameters", "Multiply-adds", "Output values", "Of a step at 8", "Activations", "Memory", "Time, predicted"})
      QVERIFY2(spoken().contains(words), words);
    QVERIFY(!spoken().contains("Time, measured"));
    // What a neighbour keeps, or what is computed in its place, takes nothing of its own: that is not 0 bytes.
    int keptElsewhere = 0;
    for (const char* id : {"conv1", "relu1", "fc"}) {
      scene.pickNode(id);
      QTRY_VERIFY(spoken().contains("Of a step at 8"));
      const bool none = scene.costs().nodes.at(id).activations == 0;
      QVERIFY2(spoken().contains("Activations –") == none && !spoken().contains("0\u202F"
                                                                                "B"),
               qPrintable(spoken()));
      keptElsewhere += none;
    }
    QVERIFY(keptElsewhere > 0);
    // Why is said where the mouse rests on it, and of the figures below the canvas what they count.
    auto& table = *opened.page->inspector().findChild<CostTable*>();
    const auto told = [&](const char* words) {
      int rows = 0;
      for (int y = 10; y < table.height(); y += 29) {
        QHelpEvent help(QEvent::ToolTip, QPoint(20, y), table.mapToGlobal(QPoint(20, y)));
        QApplication::sendEvent(&table, &help);
        rows += QToolTip::text().contains(words);
      }
      return rows;
    };
    QTRY_COMPARE(told("where a neighbour keeps it"), 1);
    QTRY_COMPARE(told("slots of the optimizer"), 1);
    QToolTip::hideText();
    QStringList figures;
    for (const QLabel* label : opened.page->findChild<NetworkStrip*>()->findChildren<QLabel*>())
      figures << label->toolTip();
    QVERIFY2(figures.filter("is all that a training step at 8 takes").size() == 1, qPrintable(figures.join(" | ")));
    scene.pickNode("conv1");
    opened.train();
    QTRY_VERIFY(scene.costs().total.measured > 0);
    QCOMPARE(bars(CostKind::measuredTime), std::pair(1.0, 1.0));
    QTRY_VERIFY2(spoken().contains("Time, measured"), qPrintable(spoken()));
  }

  // In place and folded: the cards have the kinds of a step too, and together what stands on the card outside.
  void whatIsOpenedInPlaceOrFoldedHasItsCosts() {
    Opened opened;
    NetworkScene& scene = opened.page->scene();
    NetworkView& view = opened.page->view();
    const std::string use = opened.document().makeUnit("main", {"conv1", "relu1"}, "Front");
    QCoreApplication::processEvents();
    QTRY_COMPARE(scene.costs().nodes.contains(use), true);
    // Chosen before it is opened.
    scene.setCostKind(CostKind::memory);
    view.setFocus();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(scene.card(use)->pos()));
    QTest::keyClick(&view, Qt::Key_Space);
    QVERIFY(view.unitView() && view.unitView()->isOpen());
    NetworkScene& inside = view.unitView()->scene();
    QTRY_COMPARE(inside.costs().batch, 8);
    const auto bars = [&] {
      double longest = 0, share = 0;
      for (const char* id : {"conv1", "relu1"}) {
        longest = std::max(longest, inside.card(id)->content().bar);
        share += inside.card(id)->content().share;
      }
      return std::pair(longest, std::round(share * 1e6) / 1e6);
    };
    QCOMPARE(inside.costKind(), CostKind::memory);
    for (const CostKind kind : {CostKind::memory, CostKind::activations, CostKind::time, CostKind::parameters}) {
      scene.setCostKind(kind);  // and while it is open
      QCOMPARE(inside.costKind(), kind);
      QCOMPARE(bars(), std::pair(1.0, 1.0));
    }
    QCOMPARE(inside.costs().total.memory, scene.costs().nodes.at(use).memory);
    inside.pickNode("conv1");
    const auto spoken = [&] { return opened.page->inspector().findChild<CostTable*>()->accessibleName(); };
    QTRY_VERIFY2(spoken().contains("Memory") && spoken().contains("Time, predicted"), qPrintable(spoken()));
    // After a run what was measured stands there as well.
    opened.train();
    QTRY_VERIFY(inside.costs().total.measured > 0);
    scene.setCostKind(CostKind::measuredTime);
    QCOMPARE(bars(), std::pair(1.0, 1.0));
    QTRY_VERIFY2(spoken().contains("Time, measured"), qPrintable(spoken()));
    // Closed and opened for another use, nothing of the one before is shown.
    QTest::keyClick(&view.unitView()->view(), Qt::Key_Escape);
    QTest::keyClick(&view.unitView()->view(), Qt::Key_Escape);
    QVERIFY(!view.unitView()->isOpen());
    QCOMPARE(inside.costs().batch, 0);

    const std::string group = opened.document().makeGroup("main", {use, "fc"}, "Body");
    opened.document().setFolded("main", group, true);
    QTRY_VERIFY(scene.card(group));
    for (const CostKind kind : {CostKind::activations, CostKind::memory, CostKind::time, CostKind::measuredTime}) {
      scene.setCostKind(kind);
      QTRY_VERIFY2(scene.card(group)->content().share > 0, qPrintable(costName(kind)));
      double others = 0;
      for (const char* id : {"x", "loss", "y"}) others += scene.card(id)->content().share;
      QVERIFY2(std::abs(scene.card(group)->content().share + others - 1) < 1e-6, qPrintable(costName(kind)));
    }
  }

  void pictures() {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) QSKIP("GRADLOOM_PICTURES names no folder");
    QDir().mkpath(folder);
    Opened opened;
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      Theme::of(this).setMode(mode);
      QTest::mouseClick(opened.page->view().viewport(), Qt::LeftButton, {}, opened.on(edge("conv1", "relu1")));
      opened.rest(edge("relu1", "fc"));
      QTRY_VERIFY(opened.card().isVisible() && opened.card().face().tensor() && !opened.card().face().isLoading());
      TensorFace& shown = opened.page->inspector().tensor();
      QTRY_VERIFY(shown.tensor() && !shown.isLoading());
      QTest::qWait(100);
      const QString word = mode == ThemeMode::light ? "light" : "dark";
      QVERIFY(opened.window().grab().save(folder + "/wire-" + word + ".png"));
      opened.rest(edge("fc", "loss"));
      QTRY_COMPARE(opened.card().title(), QString("fc to loss"));
      QTRY_VERIFY(opened.card().face().tensor() && !opened.card().face().isLoading());
      QVERIFY(opened.window().grab().save(folder + "/wire-vector-" + word + ".png"));
      opened.away();
      QTRY_VERIFY(!opened.card().isVisible());
    }
  }
};

}  // namespace loom

QTEST_MAIN(loom::WirePreviewTest)
#include "wire_preview_test.moc"
