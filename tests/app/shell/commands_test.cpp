// The registry of commands in the real window: every command once, keys that a person changes, lists that are recorded and run again.
#include <QJsonDocument>
#include <QKeySequenceEdit>
#include <QSet>
#include <QStandardPaths>
#include <QTreeWidget>

#include "app/pages/network/network_page.h"
#include "app/preferences.h"
#include "app/shell/keys_card.h"
#include "app/shell/message_bar.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/commands.h"
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
    QVERIFY(ids.size() > 50);
    for (const char* id : {"save", "page-network", "network.arrange", "data.check", "settings.search", "training.best", "runs.compare", "hosts.add"})
      QVERIFY2(ids.contains(id), id);
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
    QCOMPARE(Preferences(m_open->path("gradloom.ini")).changedKeys().value("network.duplicate"), QStringList{"Ctrl+Shift+U"});

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
