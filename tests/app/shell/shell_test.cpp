// What the window does around the pages: notices, search, keys, problems.
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
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
#include "tests/app/shell/shell_fixture.h"
#include "tests/patience.h"
#include "widgets/canvas/card_item.h"
#include "widgets/canvas/network_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/form/form_row.h"

namespace loom {

class ShellTest : public QObject, private ShellFixture {
  Q_OBJECT

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

  void init() { openWindow(); }
  void cleanup() { closeWindow(); }

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

  void aStepAfterOneThatWasTakenBackIsTheLast() {
    open(write("order", 1));
    int called = 0;
    m_open->document().setSetting("epochs", 7);
    window().notify({"Done", "Undo", [&] { ++called; }});
    window().notice().dismiss();
    m_open->document().undoStack().undo();  // by a button of its own
    m_open->document().setSetting("epochs", 9);
    keys("Ctrl+Z");
    QCOMPARE(called, 0);
    QCOMPARE(epochs(), 1);
    keys("Ctrl+Z");
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
    QVERIFY(undo->isEnabled());  // what it offered is undone all the same
    keys("Ctrl+Z");
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
    problem.place.page = "network";
    problem.message = "Row 812 is broken";
    window().problems().setPageProblems("network", {problem});
    QCOMPARE(train->text(), QString("1 error"));
    QCOMPARE(strip->text().trimmed(), QString("1 error"));
    m_open->document().setSetting("batch", 0);
    QTRY_COMPARE(train->text(), QString("2 errors"));
    QCOMPARE(strip->text().trimmed(), QString("2 errors"));
    m_open->click("train");
    QVERIFY(workspace().runs().isEmpty());
    // Whoever mends one after another stays where they are.
    auto* list = window().problems().findChild<QListWidget*>();
    window().problems().setPageProblems("network", std::vector<PageProblem>(40, problem));
    QTRY_VERIFY(list->verticalScrollBar()->maximum() > 400);
    list->verticalScrollBar()->setValue(400);
    window().problems().setPageProblems("network", std::vector<PageProblem>(39, problem));
    QTest::qWait(50);
    QCOMPARE(list->verticalScrollBar()->value(), 400);
    m_open->document().undoStack().undo();
    window().problems().setPageProblems("network", {});
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

  // Its rows are made anew whenever something changes, with the keyboard in one of them.
  void theStartStaysWhereItWas() {
    for (int i = 0; i < 9; ++i) open(write(QString("work%1").arg(i), 1));
    window().resize(1024, 700);
    window().showPage("start");
    QTRY_VERIFY(window().settled());
    auto& bar = *window().page("start")->findChild<QScrollArea*>()->verticalScrollBar();
    QTRY_VERIFY(bar.maximum() > 0);
    QCOMPARE(bar.value(), 0);
    const auto rows = [this] {
      QList<ProjectRow*> all;
      for (ProjectRow* each : window().findChildren<ProjectRow*>("recent"))
        if (each->isVisible()) all << each;
      return all;
    };
    QCOMPARE(rows().size(), 9);
    rows()[1]->setFocus(Qt::TabFocusReason);
    workspace().preferences().removeRecentProject(m_open->path("work0/work0.loom"));
    QTRY_COMPARE(rows().size(), 8);
    QCoreApplication::processEvents();
    QCOMPARE(bar.value(), 0);
    QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(rows()[1]));
    // Whoever comes back sees its head.
    bar.setValue(bar.maximum());
    window().showPage("network");
    window().showPage("start");
    QTRY_VERIFY(window().settled());
    QCOMPARE(bar.value(), 0);
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

int main(int argc, char** argv) {
  QApplication app(argc, argv);
  loom::ShellTest shell;
  const int failed = QTest::qExec(&shell, argc, argv);
  return failed + loom::testFiles(argc, argv);
}
#include "shell_test.moc"
