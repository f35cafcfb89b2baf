// A person at the cockpit of the Settings page: recipes are seen before they are taken, handles are dragged,
// measurements run beside the window, and each change is one step back.
#include <QComboBox>
#include <QDir>
#include <QLabel>
#include <QScrollArea>

#include "app/pages/settings/changes_card.h"
#include "app/pages/settings/range_card.h"
#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/schedule_preview.h"
#include "app/pages/settings/small_plot.h"
#include "app/workspace.h"
#include "launcher/hosts/host_store.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/segmented_control.h"

namespace loom {

class CockpitTest : public QObject {
  Q_OBJECT

 private:
  static constexpr int kPatience = 60000;  // ms; a process under load
  std::unique_ptr<OpenedWindow> m_open;

  const TrainingSpec& training() { return m_open->project().training; }
  const UpdateSpec& update() { return training().updates.front(); }
  SchedulePreview& preview() { return *m_open->window().findChild<SchedulePreview*>(); }
  QString text(const char* label) { return m_open->part<QLabel>(label)->text(); }
  QAbstractButton& button(const char* name) { return *m_open->part<QAbstractButton>(name); }

  // The button is brought into sight first, as a person scrolls to it.
  void press(const char* name) {
    QWidget* target = m_open->part<QWidget>(name);
    QVERIFY2(target, name);
    for (QWidget* at = target->parentWidget(); at; at = at->parentWidget())
      if (auto* area = qobject_cast<QScrollArea*>(at)) area->ensureWidgetVisible(target);
    QCoreApplication::processEvents();
    m_open->click(name);
  }
  // By the first letters of its name, as a list is searched.
  void choosePreset(const QString& letters) {
    auto* field = m_open->part<QComboBox>("preset");
    field->setFocus();
    QTest::qWait(QApplication::keyboardInputInterval() + 50);
    QTest::keyClicks(field, letters);
    QTRY_VERIFY(field->currentText().startsWith(letters));
    QTRY_VERIFY(m_open->part<ChangesCard>("changes")->isVisible());
  }
  bool cardSays(const QString& words) {
    for (const QLabel* label : m_open->part<ChangesCard>("changes")->findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(words)) return true;
    return false;
  }
  void shot(const QString& name, const QList<QSize>& sizes = {{1440, 900}, {1024, 700}}) {
    const QString folder = qEnvironmentVariable("GRADLOOM_SHOTS");
    if (folder.isEmpty()) return;
    const QSize before = m_open->window().size();
    for (const auto& [mode, word] : {std::pair(ThemeMode::light, "light"), std::pair(ThemeMode::dark, "dark")}) {
      Theme::of().setMode(mode);
      for (const QSize size : sizes) {
        m_open->window().resize(size);
        QTest::qWait(400);
        m_open->window().grab().save(QString("%1/%2-%3-%4.png").arg(folder, name, word).arg(size.width()));
      }
    }
    Theme::of().setMode(ThemeMode::light);
    m_open->window().resize(before);
  }
  void drag(const QPointF& from, const QPointF& to) {
    QVERIFY(preview().rect().contains(from.toPoint()));
    QTest::mousePress(&preview(), Qt::LeftButton, {}, from.toPoint());
    const QPoint middle = ((from + to) / 2).toPoint();
    for (const QPoint& at : {middle, to.toPoint()}) {
      QMouseEvent move(QEvent::MouseMove, QPointF(at), preview().mapToGlobal(QPointF(at)), Qt::NoButton, Qt::LeftButton,
                       {});
      QApplication::sendEvent(&preview(), &move);
    }
    QTest::mouseRelease(&preview(), Qt::LeftButton, {}, to.toPoint());
    QCoreApplication::processEvents();
  }

 private Q_SLOTS:
  void initTestCase() { qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM); }

  // The sample of one line through the plane: its table lies beside it.
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    const QString source = QStringLiteral(GRADLOOM_SOURCE_DIR "/samples/logistic_regression/");
    for (const char* name : {"logistic_regression.loom", "train.csv", "test.csv"}) {
      QDir().mkpath(m_open->path("project"));
      QVERIFY(QFile::copy(source + name, m_open->path(QStringLiteral("project/") + name)));
    }
    QVERIFY(m_open->workspace().openProject(m_open->path("project/logistic_regression.loom")));
    m_open->window().showPage("settings");
    m_open->activate();
  }
  void cleanup() { m_open.reset(); }

  void aRecipeIsSeenFieldByFieldTakenAndTakenBack() {
    const std::string before = writeProject(m_open->project());
    choosePreset(QStringLiteral("Goyal"));
    QVERIFY(cardSays("76.3 % in 1 hour on 256 P100"));
    QVERIFY(cardSays("Goyal et al. 2017"));
    QVERIFY(cardSays("Nesterov"));
    QVERIFY(cardSays("Not set: "));
    QCOMPARE(QString::fromStdString(writeProject(m_open->project())), QString::fromStdString(before));
    press("changes-close");
    QTRY_VERIFY(preview().isVisible());
    QCOMPARE(writeProject(m_open->project()), before);
    choosePreset(QStringLiteral("Goyal"));
    press("changes-take");
    QTRY_VERIFY(preview().isVisible());
    QCOMPARE(update().optimizer.value("name", ""), std::string("Nesterov"));
    QCOMPARE(training().settings.value("epochs", 0), 90);
    QCOMPARE(training().settings.value("rate_scaling", ""), std::string("linear"));
    QCOMPARE(update().schedule.value("name", ""), std::string("Step"));
    m_open->undo();
    QCOMPARE(writeProject(m_open->project()), before);
  }

  // Its own batch, or the published one with the stages as they were.
  void aRecipeComesWithTheBatchThatIsChosen() {
    choosePreset(QStringLiteral("Sony"));
    auto* batches = m_open->part<SegmentedControl>("changes-choices");
    QVERIFY(batches->isVisible());
    QTest::mouseClick(batches, Qt::LeftButton, {}, batches->segment(2).center());
    QTRY_VERIFY(cardSays("69,632"));
    press("changes-take");
    QCOMPARE(training().settings.value("batch", 0), 34816);
    QCOMPARE(training().settings.value("batch_then", Json()).dump(), std::string("[69632]"));
    m_open->undo();
    QVERIFY(!training().settings.contains("batch_then"));
  }

  void handlesSetWhatTheFieldsWouldBe() {
    m_open->document().setSetting("epochs", 10);
    m_open->document().setSetting("batch_at", Json::array({4}));
    m_open->document().setSetting("batch_then", Json::array({64}));
    m_open->document().setOptimizer(0, {{"name", "Momentum"}, {"learning_rate", 0.4}});
    m_open->document().setSchedule(0, {{"name", "Constant"}});
    m_open->document().setWarmup(0, {{"epochs", 2}});
    using Handle = SchedulePreview::Handle;
    QTRY_COMPARE(preview().peak(), 0.4);
    // Half as high: half the rate.
    QPointF rate = *preview().placeOf(Handle::rate), ground = *preview().placeOf(Handle::warmup);
    drag(rate, {rate.x(), (rate.y() + ground.y()) / 2});
    const double dragged = update().optimizer["learning_rate"].get<double>();
    QVERIFY2(qAbs(dragged - 0.2) < 0.011, qPrintable(QString::number(dragged)));
    m_open->undo();
    QCOMPARE(update().optimizer["learning_rate"].get<double>(), 0.4);
    // The warm-up twice as long.
    ground = *preview().placeOf(Handle::warmup);
    const double origin = 62;  // where the axis begins
    drag(ground, {origin + 2 * (ground.x() - origin), ground.y()});
    QVERIFY2(qAbs(update().warmup["epochs"].get<double>() - 4) < 0.21,
             qPrintable(QString::fromStdString(update().warmup.dump())));
    m_open->undo();
    QCOMPARE(update().warmup["epochs"].get<double>(), 2.0);
    // The batch changes three epochs later.
    const QPointF stage = *preview().placeOf(Handle::stage);
    drag(stage, {origin + (stage.x() - origin) * 7 / 4, stage.y()});
    QCOMPARE(training().settings["batch_at"].dump(), std::string("[7.0]"));
    m_open->undo();
    QCOMPARE(training().settings["batch_at"].dump(), std::string("[4]"));
    // A click that moves nothing is no step.
    const int steps = m_open->document().undoStack().index();
    rate = *preview().placeOf(Handle::rate);
    drag(rate, rate);
    QCOMPARE(m_open->document().undoStack().index(), steps);
  }

  // Of f16 alone; as long as nothing overflows it doubles every 2,000 steps.
  void theLossScaleHasALaneWhereThereIsOne() {
    m_open->document().setSetting("epochs", 10);
    QTRY_VERIFY(preview().accessibleDescription().contains("global batch"));
    QVERIFY(!preview().accessibleDescription().contains("loss scale"));
    const int before = preview().minimumHeight();
    m_open->document().setSetting("precision", "f16");
    QTRY_VERIFY(preview().accessibleDescription().contains("loss scale 65,536"));
    QVERIFY(preview().minimumHeight() > before);
    // 5,000 steps double it twice.
    SchedulePreview alone;
    alone.setPlan(
        {.baseRate = 0.1, .schedule = {{"name", "Constant"}}, .stepsPerEpoch = 500, .epochs = 10, .lossScale = true});
    QVERIFY2(alone.accessibleDescription() == "loss scale 65,536 → 262,144", qPrintable(alone.accessibleDescription()));
    m_open->undo();
    QTRY_VERIFY(!preview().accessibleDescription().contains("loss scale"));
  }

  void theRangeTestSuggestsARateThatIsAppliedInOneStep() {
    const std::string before = writeProject(m_open->project());
    press("range-run");
    QTRY_VERIFY_WITH_TIMEOUT(button("range-apply").isVisible(), kPatience);
    auto* card = m_open->window().findChild<RangeCard*>();
    QVERIFY(card->suggested());
    QVERIFY2(text("range-words").contains("Suggested"), qPrintable(text("range-words")));
    QVERIFY(card->findChild<SmallPlot*>()->curve().size() > 20);
    press("range-apply");
    QCOMPARE(update().optimizer["learning_rate"].get<double>(), *card->suggested());
    QTRY_COMPARE(button("range-apply").text(), QString("Applied"));
    m_open->undo();
    QCOMPARE(writeProject(m_open->project()), before);
    // It leaves no run behind, and one that is stopped neither.
    QVERIFY(!QDir(m_open->path("project/runs")).exists());
    press("range-run");
    QTRY_COMPARE(button("range-run").text(), QString("Stop"));
    press("range-run");
    QTRY_VERIFY(!card->runs());
    QVERIFY(!button("range-apply").isVisible());
    QVERIFY(m_open->workspace().runs().isEmpty());
  }

  void theNoiseScaleStandsBesideTheBatch() {
    QCOMPARE(text("noise-figure"), QString(QChar(0x2013)));
    press("noise-measure");
    QTRY_VERIFY_WITH_TIMEOUT(button("noise-measure").text() == "Measure again", kPatience);
    QVERIFY(text("noise-figure") != QString(QChar(0x2013)));
    QVERIFY2(text("noise-words").startsWith("Twice the ranks would save"), qPrintable(text("noise-words")));
  }

  void whatIsChosenForAPersonIsSeenFirst() {
    Workspace& workspace = m_open->workspace();
    Host host;
    host.name = host.address = "four";
    host.ranks = 4;
    workspace.chooseHost(workspace.hosts().add(host), 1);
    const std::string before = writeProject(m_open->project());
    press("choose-for-me");
    QTRY_VERIFY_WITH_TIMEOUT(button("changes-take").isEnabled(), kPatience);
    QVERIFY(cardSays("Chosen for four"));
    QVERIFY(cardSays("Ranks"));
    QVERIFY(cardSays("steps an epoch"));
    QCOMPARE(writeProject(m_open->project()), before);
    QCOMPARE(workspace.ranks(), 1);
    press("changes-take");
    QVERIFY(writeProject(m_open->project()) != before);
    QVERIFY(workspace.ranks() > 1);
    m_open->undo();
    QCOMPARE(writeProject(m_open->project()), before);
    QCOMPARE(workspace.ranks(), 1);
  }

  // By itself, beside the batch equation, and again when a setting changes.
  void whatTheRunWillTakeFollowsWhatIsTyped() {
    auto* forecast = m_open->window().findChild<RunForecast*>();
    QTRY_VERIFY_WITH_TIMEOUT(forecast->isCurrent(), kPatience);
    QVERIFY2(text("scaling-words").startsWith("1 rank, batch"), qPrintable(text("scaling-words")));
    auto* plot = m_open->part<SmallPlot>("scaling-plot");
    QCOMPARE(plot->curve().front().x(), 1.0);
    QVERIFY(plot->curve().back().x() >= 2048);
    QCOMPARE(m_open->part<SmallPlot>("forecast-plot")->curve().size(), plot->curve().size());
    const QString alone = text("forecast");
    QVERIFY2(alone.contains("Predicted step") && alone.contains("Efficiency") && alone.contains("1.00"),
             qPrintable(alone));
    // 24 ranks, of which all but the machine's own are virtual.
    NumberField* ranks = nullptr;
    for (NumberField* each : m_open->window().findChildren<NumberField*>())
      if (each->accessibleName() == "Ranks") ranks = each;
    QVERIFY(ranks);
    const auto type = [&](const char* count) {
      ranks->setFocus();
      ranks->selectAll();
      QTest::keyClicks(ranks, count);
      QTest::keyClick(ranks, Qt::Key_Return);
    };
    type("24");
    QVERIFY(!forecast->isCurrent());
    QTRY_VERIFY_WITH_TIMEOUT(forecast->isCurrent(), kPatience);
    QVERIFY2(text("scaling-words").startsWith("24 ranks, batch"), qPrintable(text("scaling-words")));
    QVERIFY2(text("scaling-words").contains("summed by"), qPrintable(text("scaling-words")));
    QVERIFY2(text("forecast").contains("Efficiency at 24"), qPrintable(text("forecast")));
    QVERIFY2(forecast->run()->ranks < 24, "it trains on the machine's own ranks");
    shot("forecast");
    // What was known is known still, whatever becomes of the program; how long the run is asks nothing.
    qputenv("GRADLOOM_PROGRAM", "/nonexistent/loom");
    m_open->undo();
    QTRY_VERIFY(forecast->isCurrent());
    const auto step = [](const QString& words) { return words.section("Whole run", 0, 0); };
    QTRY_COMPARE(step(text("forecast")), step(alone));
    m_open->document().setSetting("epochs", 77);
    QVERIFY(forecast->isCurrent());
    // And with the project on another day.
    const QJsonObject saved = m_open->window().page("settings")->saveLayout()["forecast"].toObject();
    RunForecast later(m_open->document(), m_open->workspace());
    later.restore(saved);
    later.refresh(1, 100);
    QVERIFY(later.isCurrent());
    QVERIFY(later.runSeconds() > 0);
    later.refresh(7, 100);
    QTRY_VERIFY2(later.refusal().contains("no program"), qPrintable(later.refusal()));
    qputenv("GRADLOOM_PROGRAM", LOOM_PROGRAM);
  }
};

}  // namespace loom

QTEST_MAIN(loom::CockpitTest)
#include "cockpit_test.moc"
