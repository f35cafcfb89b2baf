// The registry of commands in the real window: every command once, keys that a person changes, lists that are recorded
// and run again.
#include "widgets/controls/commands.h"

#include <QContextMenuEvent>
#include <QJsonDocument>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QMenu>
#include <QSet>
#include <QStandardPaths>
#include <QTabBar>
#include <QTimer>
#include <QTreeWidget>

#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_page.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/training_page.h"
#include "app/preferences.h"
#include "app/shell/keys_card.h"
#include "app/shell/message_bar.h"
#include "app/shell/search_panel.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/network_view.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/popover.h"

namespace loom {
namespace {

const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } } })";

}  // namespace

class CommandsTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Commands& commands() { return window().commands(); }
  NetworkView& view() { return static_cast<NetworkPage*>(window().page("network"))->view(); }
  std::size_t nodes() { return m_open->project().networks.front().nodes.size(); }
  void press(QWidget* on, const char* keys) {
    QTest::keySequence(on, QKeySequence(QString::fromLatin1(keys)));
    QCoreApplication::processEvents();
  }
  // What Ctrl+K shows for these words.
  QList<SearchHit> hitsFor(const char* words) {
    window().focusSearch();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Delete);
    QTest::keyClicks(QApplication::focusWidget(), QString::fromLatin1(words));
    QCoreApplication::processEvents();
    const QList<SearchHit> hits = window().findChild<SearchPanel*>()->hits();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    return hits;
  }
  KeysCard* keysCard() {
    commands().run("keys");
    return window().findChild<KeysCard*>("keys");
  }
  // As a person: find it, go to the field, press.
  void changeKeys(KeysCard& card, const char* find, const char* keys) {
    auto* const search = card.findChild<QLineEdit*>();
    search->setFocus();
    search->clear();
    QTest::keyClicks(search, QString::fromLatin1(find));
    auto* const edit = card.findChild<QKeySequenceEdit*>("keys-edit");
    edit->setFocus();
    edit->clear();
    QTest::keySequence(edit, QKeySequence(QString::fromLatin1(keys)));
    QTest::qWait(1200);  // the field waits a second for further presses
  }

 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    window().openProject(m_open->write("commands.loom", kProject));
    QVERIFY(window().workspace().document());
    window().showPage("network");
  }
  void cleanup() {
    window().workspace().document()->discardRecovery();
    m_open.reset();
  }

  void everyCommandIsThereOnceAndNoKeyMeansTwoThings() {
    QVERIFY(keysCard());  // makes every page
    QSet<QString> ids;
    for (const QAction* action : commands().all()) {
      const QString id = Commands::idOf(*action);
      QVERIFY2(!ids.contains(id), qPrintable(id));
      ids << id;
      QVERIFY2(!action->text().isEmpty(), qPrintable(id));
      QCOMPARE(commands().find(id), action);
      const QString other = commands().whoHas(id, action->shortcuts());
      QVERIFY2(other.isEmpty(), qPrintable(id + " and " + other + " share " + keysText(*action)));
    }
    QVERIFY(ids.size() > 120);
    for (const char* id : {"save",
                           "page-network",
                           "network.arrange",
                           "data.check",
                           "settings.search",
                           "training.best",
                           "runs.compare",
                           "hosts.add",
                           "network.zoom-in",
                           "network.nudge-left",
                           "network.wire",
                           "network.paste",
                           "chart.copy-values",
                           "runs.delete",
                           "network.save-unit",
                           "network.outline-go",
                           "network.outline-rename",
                           "runs.open",
                           "runs.draw",
                           "runs.select-all",
                           "data.pictures",
                           "data.larger"})
      QVERIFY2(ids.contains(id), id);
  }

  void aCommandIsFoundByWordsInAnyOrderAndByThoseOfOtherPrograms() {
    const auto first = [&](const char* words) {
      const QList<SearchHit> hits = hitsFor(words);
      return hits.isEmpty() ? QString() : hits.front().text;
    };
    QCOMPARE(first("import onnx"), QString("Import..."));
    QCOMPARE(first("150 text"), QString("Text size 150 %"));
    QCOMPARE(first("theme dark"), QString("Dark colours"));
    QCOMPARE(first("import nothing"), QString());
  }

  void keysAreChangedByPressingThemAndStay() {
    KeysCard* card = keysCard();
    changeKeys(*card, "Duplicate", "Ctrl+Shift+U");
    QCOMPARE(card->chosen(), QString("network.duplicate"));
    QCOMPARE(keysText(*commands().find("network.duplicate")), QString("Ctrl+Shift+U"));
    card->hide();
    view().setFocus();
    press(view().viewport(), "Ctrl+A");
    press(&window(), "Ctrl+Shift+U");
    QCOMPARE(nodes(), std::size_t(8));

    // Another window, the same person.
    QCOMPARE(Preferences(m_open->path("gradloom.ini")).changedKeys().value("network.duplicate"),
             QStringList{"Ctrl+Shift+U"});

    card = keysCard();
    card->choose("network.duplicate");
    m_open->click("keys-usual");
    QCOMPARE(keysText(*commands().find("network.duplicate")), QString("Ctrl+D"));
    QVERIFY(window().workspace().preferences().changedKeys().isEmpty());
  }

  void keysThatAnotherHasAreTakenOverOnlyWhenToldSo() {
    KeysCard* const card = keysCard();
    changeKeys(*card, "Arrange", "Ctrl+S");
    QCOMPARE(keysText(*commands().find("network.arrange")), QString("Ctrl+L"));
    QCOMPARE(keysText(*commands().find("save")), QString("Ctrl+S"));
    m_open->click("keys-take-over");
    QCOMPARE(keysText(*commands().find("network.arrange")), QString("Ctrl+S"));
    QVERIFY(commands().find("save")->shortcuts().isEmpty());
    // A page that is never in front together with this one may have the same.
    changeKeys(*card, "Compare the shown", "Ctrl+S");
    QCOMPARE(keysText(*commands().find("runs.compare")), QString("Ctrl+S"));
    m_open->click("keys-all-usual");
    QCOMPARE(keysText(*commands().find("save")), QString("Ctrl+S"));
    QVERIFY(commands().find("runs.compare")->shortcuts().isEmpty());
  }

  void aRecordedListDoesTheSameAgain() {
    commands().startRecording();
    view().setFocus();
    press(view().viewport(), "Ctrl+A");
    press(&window(), "Ctrl+D");
    press(&window(), "Ctrl+L");
    press(&window(), "Ctrl+4");
    press(&window(), "Ctrl+2");
    const QJsonArray list = commands().stopRecording();
    const std::string drawn = m_open->document().text();
    QCOMPARE(nodes(), std::size_t(8));
    while (m_open->document().undoStack().canUndo()) m_open->document().undoStack().undo();
    QCOMPARE(nodes(), std::size_t(4));
    QVERIFY(m_open->document().text() != drawn);
    press(view().viewport(), "Ctrl+A");
    window().showPage("data");
    QCOMPARE(commands().replay(list), QString());
    QTRY_COMPARE(m_open->document().text(), drawn);
    QVERIFY(!list.isEmpty());
  }

  // The canvas asks the registry for its keys: those that a person gives hold there, the usual ones hold no more.
  void changedKeysHoldOnTheCanvas() {
    KeysCard* const card = keysCard();
    changeKeys(*card, "Zoom out", "Q");
    QCOMPARE(card->chosen(), QString("network.zoom-out"));
    changeKeys(*card, "Open a unit in place", "P");
    changeKeys(*card, "Add layer", "Shift+X");
    card->hide();
    view().setFocus();
    view().setZoom(1);
    press(view().viewport(), "Q");
    QCOMPARE(view().zoom(), 0.8);
    press(view().viewport(), "-");
    QCOMPARE(view().zoom(), 0.8);
    press(&view(), "Shift+X");
    QVERIFY(view().addMenu().isOpen());
    press(QApplication::focusWidget(), "Esc");
    // What is a key of the drawing alone means nothing beside it.
    window().focusSearch();
    press(QApplication::focusWidget(), "Q");
    QCOMPARE(view().zoom(), 0.8);
    // A key of the window that a drawing's command would take is told.
    changeKeys(*keysCard(), "Zoom 100", "Ctrl+S");
    QCOMPARE(keysText(*commands().find("network.zoom-100")), QString("0"));
  }

  // Every line of a context menu is a command: it has its keys, and runs as the command does.
  void contextMenusAreMadeOfCommands() {
    const auto linesOf = [&](QWidget* on, QPoint at, const QString& choose = {}) {
      QStringList ids;
      QTimer::singleShot(0, this, [&] {
        auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (!menu) return;
        QList<QAction*> lines = menu->actions();
        for (qsizetype i = 0; i < lines.size(); ++i) {
          if (lines[i]->menu()) lines << lines[i]->menu()->actions();
          if (lines[i]->isSeparator() || lines[i]->menu()) continue;
          const QString id = lines[i]->property(kCommandProperty).toString();
          const QAction* const command = commands().find(id);
          QVERIFY2(command, qPrintable(lines[i]->text()));
          QCOMPARE(lines[i]->shortcuts(), command->shortcuts());
          ids << id;
        }
        for (QAction* each : menu->actions())
          if (!choose.isEmpty() && each->property(kCommandProperty) == choose) each->trigger();
        menu->close();
      });
      QContextMenuEvent event(QContextMenuEvent::Mouse, at, on->mapToGlobal(at));
      QApplication::sendEvent(on, &event);
      QCoreApplication::processEvents();
      return ids;
    };
    commands().setKeys("network.duplicate", {QKeySequence("Ctrl+Shift+U")});
    const auto place = [&](const char* id) { return view().mapFromScene(view().networkScene().card(id)->pos()); };
    QStringList ids = linesOf(view().viewport(), place("out"), "network.duplicate");
    for (const char* id : {"network.add", "network.rename", "network.wire", "network.copy", "network.make-unit",
                           "network.repeat", "network.comment", "network.delete-heal"})
      QVERIFY2(ids.contains(id), id);
    QCOMPARE(nodes(), std::size_t(5));
    m_open->document().undoStack().undo();
    // A group, a wire, a unit.
    m_open->document().makeGroup("main", {"out", "loss"}, "head");
    QCoreApplication::processEvents();
    view().networkScene().pickGroup(m_open->project().networks.front().groups.front().id);
    ids = linesOf(view().viewport(), place("loss"));
    QVERIFY(ids.contains("network.ungroup"));
    m_open->document().undoStack().undo();
    const std::string use = m_open->document().makeUnit("main", {"out"}, "Head");
    QCoreApplication::processEvents();
    ids = linesOf(view().viewport(), place(use.c_str()));
    for (const char* id : {"network.in-place", "network.edit", "network.save-unit"}) QVERIFY2(ids.contains(id), id);
    view().networkScene().pick({{}, {m_open->project().networks.front().edges.front()}});
    QVERIFY(linesOf(view().viewport(), QPoint(4, 4)).contains("network.delete"));
    // The tabs, and a chart of its own.
    auto& bar = static_cast<NetworkPage*>(window().page("network"))->bar();
    ids = linesOf(&bar.tabs(), bar.tabs().tabRect(1).center());
    QCOMPARE(ids, (QStringList{"network.rename-tab", "network.remove-tab", "network.add-network", "network.add-unit"}));
    window().showPage("training");
    auto* const chart = static_cast<TrainingPage*>(window().page("training"))->curves().findChild<LineChart*>();
    QVERIFY(chart);
    ids = linesOf(chart, chart->rect().center(), "chart.log");
    QVERIFY(ids.contains("chart.export-csv") && ids.contains("chart.copy-values"));
    QVERIFY(chart->isLogarithmic());
    commands().resetKeys("network.duplicate");
  }

  // The sheet tells what the registry has, also where a person changed it.
  void theSheetReadsTheRegistry() {
    commands().setKeys("network.wire", {QKeySequence("Y")});
    view().setFocus();
    press(&window(), "F1");
    QWidget* const sheet = QApplication::activePopupWidget();
    QVERIFY(sheet);
    QStringList lines;
    for (const QLabel* each : sheet->findChildren<QLabel*>()) lines << each->text();
    sheet->close();
    const auto keysOf = [&](const char* text) { return lines.value(lines.indexOf(QString::fromLatin1(text)) + 1); };
    QCOMPARE(keysOf("Start a wire"), QString("Y"));
    QCOMPARE(keysOf("Move the selection by 12"), QString("Arrows"));
    QCOMPARE(keysOf("Move it by 60"), QString("Shift+Arrows"));
    QCOMPARE(keysOf("Align several nodes"), QString("Alt+Arrows"));
    QCOMPARE(keysOf("Rename in the outline"), QString("F2"));
    commands().resetKeys("network.wire");
  }

  // What is chosen in Ctrl+K goes on by keys on the canvas; what is not possible is not offered.
  void theSearchKnowsTheCanvas() {
    const auto offered = [&](const char* words) {
      for (const SearchHit& hit : hitsFor(words))
        if (hit.text == QLatin1String(words)) return true;
      return false;
    };
    view().networkScene().pick({});
    QVERIFY(offered("Select all"));
    QVERIFY(!offered("Start a wire"));
    QVERIFY(commands().run("network.wire").contains("not possible"));
    view().networkScene().pickNode("out");
    QVERIFY(offered("Start a wire"));
    window().focusSearch();
    QCOMPARE(commands().run("network.wire"), QString());
    QCOMPARE(QApplication::focusWidget(), &view());
    press(&view(), "Esc");
  }

  void aListThatCannotBeRunSaysWhere() {
    const auto reasonOf = [&](const char* text) { return commands().replay(QJsonDocument::fromJson(text).array()); };
    QVERIFY2(reasonOf(R"([{"run": "network.arrange"}, {"run": "network.fly"}])").contains("Step 2 of 2"), "the place");
    QVERIFY(reasonOf(R"([{"run": "network.fly"}])").contains("network.fly"));
    QVERIFY(reasonOf(R"([{"go": "network.arrange"}])").contains("no command"));
    QVERIFY(reasonOf(R"([{"run": "redo"}])").contains("not possible"));
    // The window tells it with the file's name.
    window().replayCommands(m_open->write("broken.json", "{"));
    QVERIFY(window().messages().text("replay").contains("broken.json"));
  }
};

}  // namespace loom

QTEST_MAIN(loom::CommandsTest)
#include "commands_test.moc"
