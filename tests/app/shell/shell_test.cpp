// What the window does around the pages: files that others change, work that was never saved, notices, search, keys.
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabBar>
#include <QTimer>
#include <algorithm>

#include "app/pages/network/inspector.h"
#include "app/pages/network/network_bar.h"
#include "app/pages/network/network_page.h"
#include "app/pages/page_table.h"
#include "app/pages/start/project_row.h"
#include "app/shell/actions.h"
#include "app/shell/message_bar.h"
#include "app/shell/problems_panel.h"
#include "app/shell/top_bar.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/card_item.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/form/form_row.h"

namespace loom {
namespace {

constexpr int kPatience = 60000;

const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": EPOCHS, "batch": 4,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

QByteArray projectOf(int epochs) {
  return QByteArray(kProject).replace("EPOCHS", QByteArray::number(epochs));
}

}  // namespace

class ShellTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  QString message(const char* key) { return window().messages().text(key); }
  int epochs() { return m_open->project().training.settings.value("epochs", 0); }
  QString write(const QString& name, int epochs) {
    m_open->write(name + "/train.csv",
                  "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n1,2,1\n-1,2,0\n1,3,1\n-1,3,0\n");
    return m_open->write(name + '/' + name + ".loom", projectOf(epochs));
  }
  QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void open(const QString& path) {
    window().openProject(path);
    QVERIFY2(workspace().document(), qPrintable(message("open")));
  }
  void press(const QString& text) {
    for (QPushButton* each : window().messages().findChildren<QPushButton*>())
      if (each->text() == text && each->isVisible()) return QTest::mouseClick(each, Qt::LeftButton);
    QFAIL(qPrintable("no button " + text));
  }
  void keys(const char* sequence) {
    QTest::keySequence(&window(), QKeySequence(QString::fromLatin1(sequence)));
    QCoreApplication::processEvents();
  }
  static void forgetOrphans() {
    for (const Orphan& each : RecoveryFile::orphans()) RecoveryFile::remove(each);
  }

 private Q_SLOTS:
  void initTestCase() { QStandardPaths::setTestModeEnabled(true); }

  // A page is pushed down by one line, however much there is to say.
  void ofSeveralMessagesTheWorstStandsThere() {
    MessageBars& bars = m_open->window().messages();
    bars.show("a", MessageBars::Kind::error, "the worst");
    const int one = bars.sizeHint().height();
    bars.show("b", MessageBars::Kind::information, "for information");
    QCoreApplication::processEvents();
    QCOMPARE(bars.sizeHint().height(), one);
    const auto seen = [&] {
      QStringList words;
      for (const QLabel* each : bars.findChildren<QLabel*>("text"))
        if (each->isVisible()) words << each->text();
      return words;
    };
    QCOMPARE(seen(), QStringList{"the worst"});
    auto* const more = [&]() -> Button* {
      for (Button* each : bars.findChildren<Button*>("more-messages"))
        if (each->isVisible()) return each;
      return nullptr;
    }();
    QVERIFY(more);
    QCOMPARE(more->text(), QString("1 more"));
    QTest::mouseClick(more, Qt::LeftButton);
    QCOMPARE(seen(), QStringList({"the worst", "for information"}));
    bars.hide("a");
    QCOMPARE(seen(), QStringList{"for information"});
    bars.hide("b");
    QVERIFY(!bars.isVisible());
  }

  void init() {
    m_open = std::make_unique<OpenedWindow>();
    qputenv("GRADLOOM_PROJECTS", m_open->path("own").toUtf8());
  }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
    qunsetenv("GRADLOOM_SAMPLES");
  }

  void aFileThatChangedOutsideIsOverwrittenOrReloaded() {
    const QString path = write("outside", 1);
    open(path);
    m_open->document().setSetting("epochs", 7);
    write("outside", 3);
    QVERIFY(!window().save());
    QVERIFY2(message("save").contains("changed by another program"), qPrintable(message("save")));
    press("Overwrite it");
    QVERIFY(read(path).contains("\"epochs\": 7"));
    QVERIFY(message("save").isEmpty());

    write("outside", 5);
    QTRY_VERIFY(!message("outside").isEmpty());  // told without a save
    press("Reload it");
    QCOMPARE(epochs(), 5);
    QVERIFY(!m_open->document().isModified());
    keys("Ctrl+Z");
    QCOMPARE(epochs(), 7);
    QVERIFY(window().save());
  }

  void aRunStartsOverAFileThatChangedOutside() {
    const QString path = write("train", 1);
    open(path);
    m_open->document().setSetting("epochs", 2);
    write("train", 3);
    window().train();
    QVERIFY(workspace().runs().isEmpty());
    press("Overwrite it");
    QCOMPARE(workspace().runs().size(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    QVERIFY(read(path).contains("\"epochs\": 2"));
  }

  void whatWasClosedWithoutSavingIsNotOfferedAgain() {
    const QString path = write("discard", 1);
    open(path);
    m_open->document().setAutosaveDelay(1);
    m_open->document().setSetting("epochs", 7);
    QTRY_VERIFY(QFile::exists(m_open->path("discard/.discard.loom.recovery")));
    write("discard", 3);
    bool asked = false;
    QTimer::singleShot(0, this, [&] {
      auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
      QVERIFY(question);
      for (QAbstractButton* each : question->buttons())
        if (each->text() == "Close without saving") asked = true, each->click();
      if (!asked) question->reject();
    });
    QVERIFY(window().close());
    QVERIFY(asked);
    QVERIFY(!workspace().document());
    QVERIFY(read(path).contains("\"epochs\": 3"));
    window().show();
    open(path);
    QVERIFY2(message("recovery").isEmpty(), qPrintable(message("recovery")));
  }

  void aSecondWindowIsToldAndOffersToReload() {
    const QString path = write("second", 1);
    ProjectDocument first;
    QVERIFY(first.open(path));
    open(path);
    QVERIFY(message("elsewhere").contains("another window"));
    // Closed by a click it leaves the keys to the page: no field takes them.
    window().showPage("training");
    QTRY_VERIFY(window().settled());
    for (auto* button : window().messages().findChildren<QAbstractButton*>())
      if (button->isVisible() && button->accessibleName() == "Close this message")
        QTest::mouseClick(button, Qt::LeftButton);
    QCoreApplication::processEvents();
    QVERIFY(message("elsewhere").isEmpty());
    QVERIFY(!qobject_cast<QLineEdit*>(QApplication::focusWidget()));
    first.setSetting("epochs", 9);
    QVERIFY(first.save());
    QTRY_VERIFY(!message("outside").isEmpty());
    press("Reload it");
    QCOMPARE(epochs(), 9);
    QVERIFY(message("outside").isEmpty());
  }

  void workThatWasNeverSavedIsOfferedAtTheStart() {
    forgetOrphans();
    for (const char* layer : {"ReLU", "Dropout"}) {
      ProjectDocument lost;  // ends without a word
      lost.addNode({.layer = layer});
    }
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{2});
    window().offerUnsaved();
    press("Open it");
    QVERIFY(workspace().document());
    QCOMPARE(m_open->project().networks.front().nodes.size(), std::size_t{1});
    QVERIFY(m_open->document().isModified());
    QCOMPARE(RecoveryFile::orphans().size(), std::size_t{1});
    press("Discard it");
    QVERIFY(RecoveryFile::orphans().empty());
  }

  void aNoticeEndsWithALaterStepAndWithItsProject() {
    open(write("notice", 1));
    int called = 0;
    const Notice notice{"Done", "Undo", [&] { ++called; }};
    window().notify(notice);
    m_open->document().setSetting("epochs", 7);
    QVERIFY(!window().notice().isShowing());
    keys("Ctrl+Z");
    QCOMPARE(epochs(), 1);
    QCOMPARE(called, 0);
    window().notify(notice);
    keys("Ctrl+Z");
    QCOMPARE(called, 1);
    QCOMPARE(epochs(), 1);
    window().notify(notice);
    QVERIFY(workspace().closeProject());
    QVERIFY(!window().notice().isShowing());
    QCOMPARE(called, 1);
  }

  void undoIsThereWhereThereIsSomethingToUndo() {
    open(write("undo", 1));
    QAction* const undo = window().actions().find("undo");
    QAction* const redo = window().actions().find("redo");
    QVERIFY(!undo->isEnabled());
    QVERIFY(!redo->isEnabled());
    m_open->document().setSetting("epochs", 7);
    QVERIFY(undo->isEnabled());
    keys("Ctrl+Z");
    QVERIFY(!undo->isEnabled());
    QVERIFY(redo->isEnabled());
    window().notify({"Done", "Undo", [] {}});
    QVERIFY(undo->isEnabled());
    window().notice().dismiss();
    QVERIFY(!undo->isEnabled());
  }

  void problemsEndWithTheirProject() {
    open(write("first", 1));
    PageProblem problem;
    problem.place.page = "data";
    problem.message = "Row 812 is broken";
    window().problems().setPageProblems("data", {problem});
    QVERIFY(window().problems().errors() > 0);
    open(write("then", 1));
    QTRY_COMPARE(window().problems().errors(), 0);
  }

  // A page speaks once more while it goes: what the pointer was on ends with it.
  void aProjectClosesUnderThePointer() {
    open(write("first", 1));
    auto& page = static_cast<NetworkPage&>(*window().page("network"));
    NetworkView& view = page.view();
    QTest::mouseMove(view.viewport(), view.mapFromScene(page.scene().card("out")->pos()));
    QTRY_COMPARE(page.scene().hoveredNode(), std::string("out"));
    QSignalSpy spoken(&page, &Page::statusChanged);
    keys("Ctrl+N");
    QVERIFY(spoken.size() > 0);
    QTRY_VERIFY(workspace().document() && workspace().document()->isBlank());
  }

  // An empty drawing is the beginning and no fault; Train says what is to be done first.
  void aNewProjectGreetsWithoutAFault() {
    m_open->click("new-network");
    QCOMPARE(window().problems().errors(), 0);
    auto* train = m_open->part<QPushButton>("train");
    QCOMPARE(train->text(), QString("Train"));
    window().showPage("settings");
    m_open->click("train");
    QCOMPARE(window().currentPage(), QString("network"));
    QVERIFY2(message("blank").contains("nothing to train yet"), qPrintable(message("blank")));
    QVERIFY(workspace().runs().isEmpty());
    press("Begin with a small classifier");
    QVERIFY(!m_open->document().isBlank());
    m_open->document().undoStack().undo();
    m_open->click("train");
    m_open->document().edit(
        "draw", [](Project& project) { project.networks[0].nodes.push_back({.id = "fc", .layer = "Linear"}); });
    QTRY_VERIFY(message("blank").isEmpty());
    QTRY_VERIFY(window().problems().errors() > 0);  // something is drawn now, and it has no loss
  }

  // The button, the strip and the list count the same, whoever found the fault.
  void oneCountOfErrors() {
    open(write("counted", 1));
    auto* train = m_open->part<QPushButton>("train");
    auto* strip = m_open->part<QAbstractButton>("status-problems");
    PageProblem problem;
    problem.place.page = "data";
    problem.message = "Row 812 is broken";
    window().problems().setPageProblems("data", {problem});
    QCOMPARE(train->text(), QString("1 error"));
    QCOMPARE(strip->text().trimmed(), QString("1 error"));
    m_open->document().setSetting("batch", 0);
    QTRY_COMPARE(train->text(), QString("2 errors"));
    QCOMPARE(strip->text().trimmed(), QString("2 errors"));
    m_open->click("train");
    QVERIFY(workspace().runs().isEmpty());
    // Whoever mends one after another stays where they are.
    auto* list = window().problems().findChild<QListWidget*>();
    window().problems().setPageProblems("data", std::vector<PageProblem>(40, problem));
    QTRY_VERIFY(list->verticalScrollBar()->maximum() > 400);
    list->verticalScrollBar()->setValue(400);
    window().problems().setPageProblems("data", std::vector<PageProblem>(39, problem));
    QTest::qWait(50);
    QCOMPARE(list->verticalScrollBar()->value(), 400);
    m_open->document().undoStack().undo();
    window().problems().setPageProblems("data", {});
    QTRY_COMPARE(train->text(), QString("Train"));
    // A chart that could not be written is an error, and stands in no run's way.
    problem.place.page = "runs";
    window().problems().setPageProblems("runs", {problem});
    QCOMPARE(strip->text().trimmed(), QString("1 error"));
    QCOMPARE(train->text(), QString("Train"));
  }

  // What comes next is drawn or pasted into the new network: no field for its name takes the keys or stands over
  // anything.
  void aNewNetworkTakesWhatIsPastedAndKeepsTheHeadsFree() {
    open(write("plus", 1));
    auto& page = static_cast<NetworkPage&>(*window().page("network"));
    NetworkView& view = page.view();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.mapFromScene(page.scene().card("out")->pos()));
    QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::ShiftModifier,
                      view.mapFromScene(page.scene().card("loss")->pos()));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_C, Qt::ControlModifier);
    QAbstractButton* plus = nullptr;
    for (auto* each : page.bar().findChildren<QAbstractButton*>())
      if (each->accessibleName() == "Add a network") plus = each;
    QVERIFY(plus);
    QTest::mouseClick(plus, Qt::LeftButton);
    QCOMPARE(m_open->project().networks.size(), std::size_t{2});
    QCoreApplication::processEvents();
    for (const QLineEdit* each : page.bar().findChildren<QLineEdit*>())
      QVERIFY2(!each->isVisible(), qPrintable(each->accessibleName()));
    QVERIFY(QApplication::focusWidget());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(m_open->project().networks.back().nodes.size(), std::size_t{2});
    QCOMPARE(page.scene().networkName(), m_open->project().networks.back().name);
    // Its name is given by a double click on its tab, where the tab stands.
    QTabBar& tabs = page.bar().tabs();
    QTest::mouseDClick(&tabs, Qt::LeftButton, {}, tabs.tabRect(1).center());
    auto* name = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(name && name->isVisible());
    const QRect field(name->mapTo(&window(), QPoint()), name->size()),
        tab(tabs.mapTo(&window(), tabs.tabRect(1).topLeft()), tabs.tabRect(1).size());
    QVERIFY(field.intersects(tab));
    QVERIFY(field.top() >= page.bar().mapTo(&window(), QPoint()).y() &&
            field.bottom() <= page.bar().mapTo(&window(), QPoint(0, page.bar().height())).y());
    m_open->type("second");
    QCOMPARE(m_open->project().networks.back().name, std::string("second"));
  }

  void noPageTakesTheKeyboardIntoAField() {
    open(write("keys", 1));
    m_open->document().setSetting("epochs", 7);
    for (const PageEntry& entry : pageTable()) {
      window().showPage(entry.id);
      QCoreApplication::processEvents();
      QVERIFY2(!qobject_cast<QLineEdit*>(QApplication::focusWidget()), entry.id);
    }
    window().showPage("settings");
    auto* filter = window().page("settings")->findChild<SearchField*>();
    QVERIFY(filter);
    filter->setFocus();
    QTest::keyClick(filter, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(epochs(), 1);
    // What was typed is taken back first.
    m_open->document().setSetting("epochs", 7);
    QTest::keyClicks(filter, "batch");
    QTest::keyClick(filter, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(epochs(), 7);
    QVERIFY(filter->text() != "batch");
  }

  // A program that was moved away from its samples says so.
  void whereThereAreNoSamplesItIsSaid() {
    window().showPage("start");
    QVERIFY(!m_open->part<QLabel>("no-samples"));
    QVERIFY(!window().findChildren<ProjectRow*>("sample").isEmpty());  // those of the build folder
    qputenv("GRADLOOM_SAMPLES", m_open->path("nowhere").toUtf8());
    open(write("before", 1));
    window().showPage("start");
    QTRY_VERIFY(m_open->part<QLabel>("no-samples"));
    QTRY_VERIFY(m_open->part<QLabel>("no-samples")->isVisible());
  }

  void everySentenceOfTheStartStandsWhole() {
    m_open->write(
        "samples/digits/digits.loom",
        R"({"loom": 1, "notes": "A sentence that is so long that it stands on three lines beside the projects that were opened before in a narrow window, whatever the letters are. More."})");
    qputenv("GRADLOOM_SAMPLES", m_open->path("samples").toUtf8());
    open(write("before", 1));
    window().resize(1024, 700);
    window().showPage("start");
    QTRY_VERIFY(window().settled());
    int sentences = 0;
    const auto there = [this] {
      const auto rows = window().findChildren<ProjectRow*>();
      return std::any_of(rows.begin(), rows.end(),
                         [](const ProjectRow* row) { return row->isVisible() && row->hasHeightForWidth(); });
    };
    QTRY_VERIFY(there());
    for (const ProjectRow* row : window().findChildren<ProjectRow*>()) {
      if (!row->isVisible() || !row->hasHeightForWidth()) continue;
      ++sentences;
      QTRY_VERIFY2(
          row->height() >= row->heightForWidth(row->width()),
          qPrintable(
              QString("%1: %2 of %3").arg(row->text()).arg(row->height()).arg(row->heightForWidth(row->width()))));
    }
    QVERIFY(sentences > 0);
  }

  void samplesOpenAsACopyOfOnesOwn() {
    const QString original = m_open->write("samples/digits/digits.loom", projectOf(1));
    m_open->write("samples/digits/train.csv", "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n");
    qputenv("GRADLOOM_SAMPLES", m_open->path("samples").toUtf8());
    const QStringList before =
        QDir(m_open->path("samples/digits")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    open(original);
    const QString own = m_open->document().path();
    QVERIFY2(own.startsWith(QFileInfo(m_open->path("own")).canonicalFilePath()), qPrintable(own));
    QVERIFY2(message("copy").contains("copy of digits"), qPrintable(message("copy")));
    m_open->document().setSetting("epochs", 2);
    window().train();
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    QCOMPARE(QDir(m_open->path("samples/digits")).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot),
             before);
    QCOMPARE(read(original), projectOf(1));
    // The next time it is that copy, with its runs; a fresh one where it is asked for.
    QVERIFY(workspace().closeProject());
    open(original);
    QCOMPARE(m_open->document().path(), own);
    QCOMPARE(workspace().runs().size(), 1);
    QVERIFY(window().notice().offers("Fresh copy"));
    window().notice().actionButton()->click();
    QVERIFY(m_open->document().path() != own);
    QCOMPARE(epochs(), 1);
  }

  // A sample of a clone, opened by a program of another folder.
  void aSampleOfElsewhereIsKnownByItsMarker() {
    const QString original = m_open->write("clone/samples/digits/digits.loom", projectOf(1));
    m_open->write("clone/samples/digits/train.csv", "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n");
    m_open->write("clone/samples/.gradloom-samples", "");
    qputenv("GRADLOOM_SAMPLES", m_open->path("nowhere").toUtf8());
    open(original);
    const QString own = m_open->document().path();
    QVERIFY2(own.startsWith(QFileInfo(m_open->path("own")).canonicalFilePath()), qPrintable(own));
    QVERIFY(!QFileInfo::exists(QFileInfo(own).absolutePath() + "/.gradloom-samples"));  // one's own is no sample
  }

  void workThatIsKeptIsSaid() {
    for (const QString& name : {QStringLiteral("untitled.loom"), QStringLiteral("untitled-2.loom")}) {
      window().newProject();
      m_open->document().addNode({.layer = "ReLU"});
      window().newProject();
      QTRY_VERIFY2(window().notice().sentence().contains("Kept as " + name), qPrintable(window().notice().sentence()));
      QVERIFY(window().notice().isShowing());
    }
    QVERIFY(QFile::exists(m_open->path("own/untitled-2/untitled-2.loom")));
  }

  void f1HelpsAndTheSheetKnowsTheCanvas() {
    open(write("help", 1));
    auto& page = static_cast<NetworkPage&>(*window().page("network"));
    keys("F1");
    QWidget* const sheet = QApplication::activePopupWidget();
    QVERIFY(sheet);
    QCOMPARE(sheet->objectName(), "shortcuts");
    // Too wide for the room on either side of its button it stays on the screen; its shadow may hang over.
    QVERIFY2(sheet->x() > sheet->screen()->availableGeometry().left() - 40, qPrintable(QString::number(sheet->x())));
    QStringList lines;
    for (const QLabel* each : sheet->findChildren<QLabel*>()) lines << each->text();
    for (const KeyHint& hint : page.keyHints())
      QVERIFY2(lines.contains(hint.keys) && lines.contains(hint.text), qPrintable(hint.text));
    QVERIFY(lines.contains("Delete and heal"));
    QVERIFY(sheet->height() <= 900);
    sheet->close();
    // All of it in the least window, and what a table's keys do.
    window().resize(1024, 700);
    for (const char* id : {"network", "runs"}) {
      window().showPage(id);
      m_open->activate();
      keys("F1");
      QWidget* const small = QApplication::activePopupWidget();
      QVERIFY(small);
      QVERIFY2(small->width() <= 1024 && small->height() <= 700,
               qPrintable(QString("%1: %2 x %3").arg(id).arg(small->width()).arg(small->height())));
      for (const QLabel* each : small->findChildren<QLabel*>())
        QVERIFY2(each->width() >= each->sizeHint().width(), qPrintable(each->text()));
      lines.clear();
      for (const QLabel* each : small->findChildren<QLabel*>()) lines << each->text();
      small->close();
    }
    for (const char* key : {"Arrows", "Space", "Return", "Del", "Ctrl+A"}) QVERIFY2(lines.contains(key), key);
    window().showPage("network");
    m_open->activate();
    page.scene().pickNode("out");
    keys("F1");
    QVERIFY(!QApplication::activePopupWidget());
    bool told = false;
    for (const QLabel* each : page.inspector().findChildren<QLabel*>())
      told = told || (each->isVisible() && each->text().contains("weights", Qt::CaseInsensitive));
    QVERIFY(told);
  }

  void runsThatLieInTheFolderAreFound() {
    const QString path = write("found", 1);
    m_open->write("found/runs/other/events.jsonl", R"({"v":1,"seq":1,"time":1,"kind":"started","attempt":1})"
                                                   "\n");
    open(path);
    QTRY_COMPARE(workspace().runs().size(), 1);
  }

  void runsThatWaitAreNotSaidToRun() {
    RunRecord run;
    run.id = "waits";
    run.name = "waits";
    run.folder = m_open->path("waits");
    run.state = RunState::queued;
    workspace().store().add(run);
    window().showPage("hosts");
    auto* list = window().page("hosts")->findChild<QListWidget*>("host-list");
    QVERIFY(list);
    const auto words = [&] { return list->item(0)->data(Qt::AccessibleTextRole).toString(); };
    QTRY_VERIFY2_WITH_TIMEOUT(words().contains("1 waiting"), qPrintable(words()),
                              kPatience);  // once this machine is looked at
    QVERIFY2(!words().contains("running"), qPrintable(words()));
  }
};

}  // namespace loom

QTEST_MAIN(loom::ShellTest)
#include "shell_test.moc"
