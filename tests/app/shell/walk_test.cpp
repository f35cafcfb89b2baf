// Small things that a walk through the window met: the keyboard where a remedy was pressed, what is told before a run,
// the wheel over a chart, long names.
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QWheelEvent>

#include "app/pages/data/findings_list.h"
#include "app/pages/data/preparation_panel.h"
#include "app/pages/network/inspector.h"
#include "app/pages/network/inspector_parts.h"
#include "app/pages/network/network_page.h"
#include "app/pages/settings/train_advice.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/training_page.h"
#include "app/shell/message_bar.h"
#include "app/shell/problems_panel.h"
#include "app/shell/top_bar.h"
#include "tests/app/opened_window.h"
#include "widgets/canvas/network_view.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/chip.h"
#include "widgets/controls/search_field.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"

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
  "training": { "network": "main", "dataset": "training", "epochs": 2, "batch": 4,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

const char* const kRows = "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n1,2,1\n-1,2,0\n1,3,1\n-1,3,0\n";

}  // namespace

class WalkTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  void open(const QByteArray& project = kProject, const QString& name = "p") {
    window().openProject(m_open->write(name + '/' + name + ".loom", project));
    QVERIFY(workspace().document());
  }
  void showPage(const QString& id) {
    window().showPage(id);
    QTRY_VERIFY(window().settled());
  }
  static QWidget* focused() { return QApplication::focusWidget(); }
  // Pressed by keys: it has the focus, and Space.
  void pressByKeys(QAbstractButton* button) {
    QVERIFY(button && button->isVisible());
    button->setFocus(Qt::TabFocusReason);
    QCOMPARE(focused(), static_cast<QWidget*>(button));
    QTest::keyClick(button, Qt::Key_Space);
    QCoreApplication::processEvents();
  }
  template <class Area>
  QPushButton* remedyIn(Area& area, const QString& text) {
    for (QPushButton* each : area.template findChildren<QPushButton*>())
      if (each->isVisible() && each->text() == text) return each;
    return nullptr;
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", kRows);
  }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void theKeyboardStaysInTheAdvice() {
    open();
    showPage("settings");
    auto& advice = *window().findChild<TrainAdvice*>();
    m_open->document().setSetting("batch", 4096);
    QTRY_VERIFY(remedyIn(advice, "Scale in proportion"));
    pressByKeys(remedyIn(advice, "Scale in proportion"));
    QCOMPARE(m_open->project().training.settings.value("rate_scaling", ""), std::string("linear"));
    QVERIFY(focused() && focused()->isVisible());
    QVERIFY2(advice.isAncestorOf(focused()) || focused()->isAncestorOf(&advice), focused()->metaObject()->className());
  }

  void theKeyboardStaysInTheDoctorsList() {
    open();
    m_open->drop({m_open->write("p/broken.csv", "x,y:label\n1,0\n2,oops\n,1\n4,0\n5,1\n6,0\n")});
    showPage("data");
    auto& list = *window().findChild<FindingsList*>();
    QTRY_VERIFY(remedyIn(list, "Fill with median"));
    QTRY_VERIFY(window().settled());
    pressByKeys(remedyIn(list, "Fill with median"));
    QTRY_VERIFY(!remedyIn(list, "Fill with median"));
    QVERIFY(remedyIn(list, "Skip the row"));  // of the other column
    QVERIFY(focused() && focused()->isVisible());
    QVERIFY2(list.isAncestorOf(focused()) || focused() == &list, focused()->metaObject()->className());
  }

  void theKeyboardStaysInTheFormAndTheInspector() {
    open();
    showPage("settings");
    m_open->document().setSetting("epochs", 2000000);
    QPushButton* use = nullptr;
    const auto offered = [&] {
      for (FormRow* each : window().findChildren<FormRow*>("epochs"))
        for (QPushButton* button : each->findChildren<QPushButton*>("remedy"))
          if (button->isVisible()) use = button;
      return use != nullptr;
    };
    QTRY_VERIFY(offered());
    QWidget* row = use;
    while (!qobject_cast<FormRow*>(row)) row = row->parentWidget();
    pressByKeys(use);
    QCOMPARE(m_open->project().training.settings.value("epochs", 0.0), 1e6);
    QVERIFY(focused() && row->isAncestorOf(focused()));

    showPage("network");
    auto& page = static_cast<NetworkPage&>(*window().page("network"));
    m_open->document().removeNodes("main", {"y", "loss"}, false);
    page.scene().pick({});
    auto& lines = *page.inspector().findChild<ProblemLines*>();
    QPushButton* remedy = nullptr;
    const auto find = [&] {
      for (QPushButton* each : lines.findChildren<QPushButton*>())
        if (each->isVisible()) remedy = each;
      return remedy != nullptr;
    };
    QTRY_VERIFY(find());
    pressByKeys(remedy);
    QTRY_VERIFY(focused() && focused()->isVisible());
    QVERIFY2(page.isAncestorOf(focused()), focused()->metaObject()->className());
  }

  void theKeyboardGoesBackToThePageWithTheListOfProblems() {
    open();
    showPage("network");
    auto& page = static_cast<NetworkPage&>(*window().page("network"));
    m_open->document().removeNodes("main", {"y", "loss"}, false);
    QTRY_VERIFY(window().problems().errors() > 0);
    window().problems().step(1);
    auto* list = window().problems().findChild<QListWidget*>();
    QPushButton* remedy = nullptr;
    const auto find = [&] {
      for (QPushButton* each : list->findChildren<QPushButton*>())
        if (each->isVisible()) remedy = each;
      return remedy != nullptr;
    };
    QTRY_VERIFY(find());
    pressByKeys(remedy);
    QVERIFY(focused() && focused()->isVisible());
    QVERIFY(window().problems().isAncestorOf(focused()) || page.isAncestorOf(focused()));
    while (m_open->document().undoStack().canUndo()) m_open->document().undoStack().undo();
    m_open->document().removeNodes("main", {"y", "loss"}, false);
    QTRY_VERIFY(window().problems().errors() > 0);
    window().problems().step(1);
    QTRY_VERIFY(list->isVisible());
    list->setFocus(Qt::TabFocusReason);
    QCOMPARE(focused(), static_cast<QWidget*>(list));
    m_open->document().undoStack().undo();  // nothing is wrong any more
    QTRY_VERIFY(!window().problems().isVisible());
    QWidget* const front = window().page(window().currentPage());
    QVERIFY(focused());
    QVERIFY2(focused() == front || front->isAncestorOf(focused()), focused()->metaObject()->className());
  }

  // It opens below the canvas, over what stood there.
  void theListOfProblemsLeavesItsNodeInSight() {
    open();
    showPage("network");
    auto& view = *window().findChild<NetworkView*>();
    m_open->document().setField("main", "out", "outputs", 0);
    QTRY_VERIFY(window().problems().errors() > 0);
    view.setZoom(1);
    const CardItem& card = *view.networkScene().card("out");
    view.centerOn(card.pos() - QPointF(0, view.viewport()->height() / 2.0 - 60));
    const auto isWhole = [&] {
      return view.viewport()->rect().contains(view.mapFromScene(card.sceneCard()).boundingRect());
    };
    QVERIFY(isWhole());
    QVERIFY(!window().problems().isVisible());
    window().problems().step(1);
    QTRY_VERIFY(window().problems().isVisible());
    QTRY_VERIFY(window().settled());
    QVERIFY(isWhole());
  }

  // Before Train is pressed, and no longer once it is there or trained on a host that has it.
  void aMissingFileIsToldBeforeTheRun() {
    QFile::remove(m_open->path("p/train.csv"));
    open();
    auto* train = m_open->part<QPushButton>("train");
    QTRY_COMPARE(train->text(), QString("1 error"));
    m_open->click("train");
    QVERIFY(workspace().runs().isEmpty());
    auto* list = window().problems().findChild<QListWidget*>();
    QTRY_VERIFY(list->isVisible());
    QStringList said;
    for (const QLabel* each : list->findChildren<QLabel*>()) said << each->text();
    QVERIFY2(said.join('|').contains("train.csv is not there: put it into " +
                                     QFileInfo(m_open->path("p")).absoluteFilePath()),
             qPrintable(said.join('|')));
    QCOMPARE(window().currentPage(), QString("data"));
    // The Data page has looked too: it is counted once.
    QTRY_VERIFY(window().settled());
    QCOMPARE(train->text(), QString("1 error"));
    window().showPage("network");
    m_open->write("p/train.csv", kRows);
    Q_EMIT qApp->applicationStateChanged(Qt::ApplicationActive);
    window().showPage("data");
    m_open->click("check-data");
    QTRY_COMPARE(train->text(), QString("Train"));
    m_open->click("train");
    QTRY_COMPARE(workspace().runs().size(), 1);
  }

  void theWheelMovesAPageThatDoesNotFit() {
    open();
    m_open->click("train");
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().size(), 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    showPage("training");
    auto& stack = static_cast<TrainingPage&>(*window().page("training")).curves().stack();
    LineChart* const chart = stack.panels().front();
    QScrollArea* area = nullptr;
    for (QWidget* at = chart; at && !area; at = at->parentWidget()) area = qobject_cast<QScrollArea*>(at);
    QVERIFY(area);
    const auto turn = [&](Qt::KeyboardModifiers keys) {
      const QPointF where = chart->rect().center();
      QWheelEvent wheel(where, chart->mapToGlobal(where), {}, {0, -120}, Qt::NoButton, keys, Qt::NoScrollPhase, false);
      QApplication::sendEvent(chart, &wheel);
      // What the chart leaves goes on to what is around it; of a mouse Qt sees to that itself.
      if (!wheel.isAccepted()) QApplication::sendEvent(area->viewport(), &wheel);
    };
    const auto zoom = [&](Qt::KeyboardModifiers keys) {
      const QPointF where = chart->rect().center();
      QWheelEvent wheel(where, chart->mapToGlobal(where), {}, {0, 120}, Qt::NoButton, keys, Qt::NoScrollPhase, false);
      QApplication::sendEvent(chart, &wheel);
    };
    XAxisModel& axis = *stack.axis();
    QTRY_COMPARE(area->verticalScrollBar()->maximum(), 0);
    zoom({});
    QVERIFY(!axis.isFollowing());  // all of it is in sight: the wheel zooms
    axis.follow();
    area->widget()->setMinimumHeight(area->height() + 300);  // as with large letters in a low window
    QTRY_VERIFY(area->verticalScrollBar()->maximum() > 0);
    turn({});
    QVERIFY(axis.isFollowing());
    QVERIFY(area->verticalScrollBar()->value() > 0);
    const int scrolled = area->verticalScrollBar()->value();
    zoom(Qt::ControlModifier);
    QVERIFY(!axis.isFollowing());
    QCOMPARE(area->verticalScrollBar()->value(), scrolled);
  }

  void aLongNameLeavesRoomForTheSearch() {
    const QString name = "a-project-with-a-name-that-nobody-would-want-to-say-aloud-in-a-meeting-of-more-than-two";
    m_open->write(name + "/train.csv", kRows);
    open(kProject, name);
    for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
      window().resize(size);
      QCoreApplication::processEvents();
      auto* project = m_open->part<QAbstractButton>("project-button");
      auto* search = m_open->part<QLineEdit>("search");
      QVERIFY(project->toolTip().contains(name));
      QVERIFY2(project->width() <= 300, qPrintable(QString::number(project->width())));
      const auto left = [&](const QWidget* of) { return of->mapTo(&window(), QPoint()).x(); };
      if (search->isVisible())
        QVERIFY2(left(project) + project->width() <= left(search), qPrintable(QString::number(project->width())));
      QVERIFY(left(m_open->part<QLabel>("save-state")) >= left(project) + project->width());
      QVERIFY(size.width() < 1440 || (search->isVisible() && search->width() >= 390));
    }
  }

  void normaliseSaysThatItMeasures() {
    open();
    showPage("data");
    auto& panel = *window().findChild<PreparationPanel*>();
    panel.addStep({{"step", "Normalise"}});
    QCoreApplication::processEvents();
    for (const char* key : {"mean", "deviation"}) {
      auto* row = panel.findChild<FormRow*>(key);
      QVERIFY(row);
      QCOMPARE(row->findChild<QLineEdit*>()->placeholderText(), QString("measured"));
    }
  }

  // Steps and words come in the order in which they stand, and one that was pressed keeps the keyboard.
  void chipsAreReachedInTheirOrder() {
    open();
    showPage("data");
    auto& panel = *window().findChild<PreparationPanel*>();
    panel.addStep({{"step", "Scale"}});
    panel.addStep({{"step", "Normalise"}, {"variable", Json::array({"x", "y"})}});
    QCoreApplication::processEvents();
    const auto chips = [&] {
      QList<QPushButton*> all;
      for (QPushButton* each : panel.findChildren<QPushButton*>("prepare-step"))
        if (each->isVisible()) all << each;
      return all;
    };
    QCOMPARE(chips().size(), 2);
    chips()[0]->setFocus(Qt::TabFocusReason);
    QTest::keyClick(focused(), Qt::Key_Tab);
    QCOMPARE(focused(), static_cast<QWidget*>(chips()[1]));
    QTest::keyClick(focused(), Qt::Key_Tab);
    auto* add = qobject_cast<QPushButton*>(focused());
    QVERIFY(add);
    QCOMPARE(add->text(), QString("Add step"));
    QTest::keyClick(focused(), Qt::Key_Backtab, Qt::ShiftModifier);
    QTest::keyClick(focused(), Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(focused(), static_cast<QWidget*>(chips()[0]));
    QTest::keyClick(focused(), Qt::Key_Space);
    QCoreApplication::processEvents();
    QCOMPARE(focused(), static_cast<QWidget*>(chips()[0]));
    QTest::keyClick(chips()[1], Qt::Key_Space);
    QCoreApplication::processEvents();
    // The words of a list, then its field.
    FormRow* row = nullptr;
    for (FormRow* each : panel.findChildren<FormRow*>("variable"))
      if (!each->isHidden()) row = each;
    QVERIFY(row);
    QCOMPARE(row->findChildren<Chip*>().size(), 2);
    row->findChildren<Chip*>()[0]->setFocus(Qt::TabFocusReason);
    QTest::keyClick(focused(), Qt::Key_Tab);
    QCOMPARE(qobject_cast<Chip*>(focused()) ? qobject_cast<Chip*>(focused())->text() : QString(), QString("y"));
    QTest::keyClick(focused(), Qt::Key_Tab);
    QVERIFY(qobject_cast<QLineEdit*>(focused()) && row->isAncestorOf(focused()));
  }
};

}  // namespace loom

QTEST_MAIN(loom::WalkTest)
#include "walk_test.moc"
