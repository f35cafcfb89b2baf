// Two runs side by side: their drawings laid over each other, with names, and in the colours of what both recorded of
// their layers. Real events. Pictures are written where GRADLOOM_PICTURES names a folder.
#include "app/pages/runs/compare_card.h"

#include <QComboBox>
#include <QDir>
#include <QSlider>

#include "app/pages/runs/overlay_view.h"
#include "engine/run/layer_record.h"
#include "tests/app/runs/runs_page_fixture.h"
#include "tests/patience.h"

namespace loom {

class CompareCardTest : public RunsPageFixture {
  Q_OBJECT

  // Layer `out` with this gradient norm at some steps, and a rectifier where the run has one.
  QByteArray recorded(std::initializer_list<std::pair<int, double>> steps) {
    QByteArray log;
    for (const auto& [step, norm] : steps) {
      LayerRecord layer;
      layer.norms = LayerRecord::Norms{.weight = 1, .gradient = norm, .update = 0.01};
      Json event{{"v", 1},       {"seq", 9000 + step}, {"attempt", 1}, {"time", 1e9 + step}, {"kind", "recorded"},
                 {"step", step}, {"ms", 1.0}};
      event["updates"] = Json::array({Json{{"network", "main"}, {"layers", {{"out", layer.toJson()}}}}});
      log += QByteArray::fromStdString(event.dump()) + '\n';
    }
    return log;
  }
  QString addRecorded(const QString& name, const QByteArray& log, const Json& nodes = {}) {
    const QString id = addRun(name, {{"name", "SGD"}}, nodes);
    m_open->write("p/runs/" + name + "/events.jsonl", log);
    store().change(id, [](RunRecord& run) { run.settings["record_layers"] = 5; });
    addEvents(id, 5);
    return id;
  }
  // A chain of so many layers, and the same with one more.
  static DrawingOverlay chainsOf(int count) {
    Json project = Json::parse(kProject);
    Json& main = project["networks"]["main"];
    main["nodes"] = main["edges"] = Json::array();
    const auto add = [&](const std::string& id) {
      main["nodes"].push_back({{"id", id}, {"layer", "ReLU"}, {"at", {0, 60 * main["nodes"].size()}}});
    };
    for (int i = 0; i < count; ++i) add("layer" + std::to_string(i));
    const Project first = readProject(project.dump(), "p").project;
    add("late");
    return overlayOf(first, readProject(project.dump(), "p").project);
  }
  QWidget* card() { return m_open->window().findChild<QWidget*>("compare-card"); }
  template <class Part>
  Part* part(const char* name) {
    return card()->findChild<Part*>(name);
  }
  void compare() {
    showPage("runs");
    QTRY_COMPARE(page().rows().ticked(), std::size_t{2});
    m_open->click("compare");
    QVERIFY(card());
    QTRY_VERIFY(!part<OverlayView>("compared-drawings")->overlay().nodes.empty());
  }
  void picture(const char* name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES");
    if (folder.isEmpty()) return;
    for (const ThemeMode mode : {ThemeMode::dark, ThemeMode::light}) {
      Theme::of().setMode(mode);
      QTest::qWait(200);
      card()->grab().save(
          QDir(folder).filePath(QString::fromLatin1(name) + (mode == ThemeMode::dark ? "-dark.png" : "-light.png")));
    }
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,0\n0,1,1\n1,1,1\n0,0,0\n");
    m_open->window().openProject(m_open->write("p/project.loom", kProject));
    QTRY_VERIFY(workspace().document());
  }
  void cleanup() {
    workspace().document()->discardRecovery();
    m_open.reset();
  }

  void bothRunsColourTheirHalvesOfACard() {
    Json nodes = Json::parse(kProject)["networks"]["main"]["nodes"];
    nodes[2]["outputs"] = 5;
    addRecorded("a", recorded({{5, 0.001}, {10, 0.001}, {20, 0.001}}));
    addRecorded("b", recorded({{5, 1.0}, {10, 1.0}}), nodes);
    compare();
    auto* const view = part<OverlayView>("compared-drawings");
    auto* const colour = part<QComboBox>("compared-colour");
    QTRY_VERIFY(colour->isVisible());
    QVERIFY(view->figures().isEmpty() && view->title().isEmpty());  // what differs, until another is chosen
    QVERIFY(!part<QSlider>("compared-step")->isVisible());
    colour->setFocus();
    QTest::keyClick(colour, Qt::Key_Down);
    QTRY_VERIFY(!view->figures().isEmpty());
    // The newest stands first in the table: b on the left, a on the right. A changed node is coloured too.
    QCOMPARE(view->title(), QString("Gradient norm at step 20: b | a"));
    const NodeFigure out = view->figures().value("out");
    QVERIFY2(out.before && *out.before > out.step && out.step >= 0, qPrintable(QString::number(out.step)));
    QCOMPARE(out.card, QString("1 | 0.00100"));
    QVERIFY2(out.words.contains("b, step 10") && out.words.contains("a, step 20"), qPrintable(out.words));
    QVERIFY(!view->figures().contains("loss"));
    picture("compare-gradient-norm");
    auto* const slider = part<QSlider>("compared-step");
    QCOMPARE(slider->maximum(), 2);  // 5, 10, 20
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Home);
    QVERIFY2(view->title().startsWith("Gradient norm at step 5:"), qPrintable(view->title()));
    colour->setFocus();
    QTest::keyClick(colour, Qt::Key_Home);
    QVERIFY(view->figures().isEmpty() && view->title().isEmpty());
    picture("compare");
  }

  void ofRunsThatRecordedNothingThereIsNothingToChoose() {
    for (const char* name : {"a", "b"}) addEvents(addRun(name, {{"name", name == QString("a") ? "SGD" : "LARS"}}), 5);
    compare();
    QTest::qWait(200);
    QVERIFY(!part<QComboBox>("compared-colour")->isVisible());
  }

  // A drawing that is shown whole is small: names that have no room on the cards stand beside them, none over another.
  void namesAreThereAlsoWhereCardsAreSmall() {
    OverlayView view;
    view.resize(440, 300);
    view.setOverlay(chainsOf(14));
    QCOMPARE(view.overlay().nodes.size(), std::size_t{15});
    QCOMPARE(view.namedNodes(), 15);
    view.setOverlay(chainsOf(80));  // too many for as many lines of words: what differs is named first
    QVERIFY(view.namedNodes() > 0 && view.namedNodes() < 81);
    QVERIFY(view.isNamed("late"));
  }
};

}  // namespace loom

QTEST_MAIN(loom::CompareCardTest)
#include "compare_card_test.moc"
