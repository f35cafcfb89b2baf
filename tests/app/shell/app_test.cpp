#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <csignal>
#include <set>

#include "app/main_window.h"
#include "app/pages/network/network_strip.h"
#include "app/pages/page_table.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/training_page.h"
#include "app/preferences.h"
#include "app/shell/actions.h"
#include "app/shell/message_bar.h"
#include "app/shell/problems_panel.h"
#include "app/shell/search_panel.h"
#include "app/shell/status_strip.h"
#include "app/shell/top_bar.h"
#include "launcher/local_process.h"
#include "tests/patience.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/notice.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/split_button.h"
#include "widgets/table/data_table.h"

using namespace loom;

namespace {

constexpr int kPatience = 60000;  // ms: a machine may be busy; a quiet one needs a second

// Two moons would do; two clusters on a line are learnt in a few steps.
const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "hidden", "layer": "Linear", "outputs": 8, "at": [0, 60]},
               {"id": "relu", "layer": "ReLU", "at": [0, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 180]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 240]},
               {"id": "accuracy", "layer": "Accuracy", "at": [260, 240]} ],
    "edges": [ ["x", "hidden"], ["hidden", "relu"], ["relu", "out"], ["out", "loss"], ["y", "loss.target"],
               ["out", "accuracy"], ["y", "accuracy.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"}, "validation": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "validation": "validation", "epochs": EPOCHS, "batch": 16,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

}  // namespace

class AppTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<Preferences> m_preferences;
  std::unique_ptr<Workspace> m_workspace;
  std::unique_ptr<MainWindow> m_window;

  QString writeProject(const QString& name, int epochs, const QByteArray& from = {}, const QByteArray& to = {}) {
    const QString folder = m_folder->filePath(name);
    QDir().mkpath(folder);
    QFile csv(folder + "/train.csv");
    if (csv.open(QIODevice::WriteOnly)) {
      csv.write("x__0,x__1,y:label\n");
      for (int i = 0; i < 160; ++i) {
        const int label = i % 2;
        csv.write(QByteArray::number(label * 2 - 1 + std::sin(i * 1.7) * 0.7) + ',' +
                  QByteArray::number(std::cos(i * 2.3)) + ',' + QByteArray::number(label) + '\n');
      }
    }
    QByteArray text = QByteArray(kProject).replace("EPOCHS", QByteArray::number(epochs));
    if (!from.isEmpty()) text.replace(from, to);
    QFile file(folder + '/' + name + ".loom");
    if (file.open(QIODevice::WriteOnly)) file.write(text);
    return file.fileName();
  }
  void open(const QString& project) {
    m_window->openProject(project);
    QVERIFY2(m_workspace->document(), qPrintable(m_window->messages().text("open")));
  }
  TrainingPage& training() { return *static_cast<TrainingPage*>(m_window->page("training")); }
  RunsPage& runs() { return *static_cast<RunsPage*>(m_window->page("runs")); }
  const RunRecord& run() { return *m_workspace->store().find(m_workspace->currentRun()); }
  template <class T>
  T* part(const char* name) {
    return m_window->findChild<T*>(name);
  }
  void click(const char* name) {
    auto* button = part<QAbstractButton>(name);
    QVERIFY2(button, name);
    QTRY_VERIFY2_WITH_TIMEOUT(button->isVisible() && button->isEnabled(), name, kPatience);
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void shot(const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLOOM_SHOTS");
    if (folder.isEmpty()) return;
    QTest::qWait(400);
    m_window->grab().save(folder + '/' + name + ".png");
  }

 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void cleanupTestCase() { m_theme.reset(); }

  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    qputenv("GRADLOOM_PROJECTS", m_folder->filePath("own").toUtf8());
    m_preferences = std::make_unique<Preferences>(m_folder->filePath("gradloom.ini"));
    m_workspace = std::make_unique<Workspace>(WorkspaceOptions{.dataFolder = m_folder->filePath("data")}, *m_theme,
                                              *m_preferences);
    m_window = std::make_unique<MainWindow>(*m_workspace);
    m_window->resize(1440, 900);
    m_window->show();
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
  }
  void cleanup() {
    for (const RunRecord& each : m_workspace->store().runs()) {
      RunRecord read;
      JobFile job;
      readJobFile(each.folder, read, job);
      sendSignal({job.process, job.processStart, job.bootId}, SIGKILL);
    }
    m_window.reset();
    m_workspace.reset();
    m_preferences.reset();
    m_folder.reset();
  }

  void startsOnTheStartPage() {
    QCOMPARE(m_window->currentPage(), "start");
    QVERIFY(!part<QAbstractButton>("train")->isEnabled());
    QVERIFY(!part<QAbstractButton>("rail-network")->isEnabled());
    QVERIFY(part<QAbstractButton>("new-network")->isVisible());
    shot("start-empty");
  }

  void everyPageOpensByItsKeys() {
    open(writeProject("keys", 1));
    for (const PageEntry& entry : pageTable()) {
      QTest::keySequence(m_window.get(), QKeySequence(QString::fromLatin1(entry.shortcut)));
      QCOMPARE(m_window->currentPage(), QString::fromLatin1(entry.id));
      QVERIFY(m_window->page(entry.id)->isVisible());
      QTRY_VERIFY_WITH_TIMEOUT(m_window->settled(), kPatience);
      shot(QString("empty-") + entry.id);
    }
    for (const char* name : {"rail-network", "rail-data", "rail-settings", "rail-training", "rail-runs"}) click(name);
    QCOMPARE(m_window->currentPage(), "runs");
  }

  void trainByClickDrawsWhileItTrains() {
    open(writeProject("train", 400));
    QElapsedTimer clock;
    clock.start();
    click("train");
    QCOMPARE(m_window->currentPage(), "training");
    QTRY_VERIFY_WITH_TIMEOUT(training().curves().points() > 0, kPatience);
    const qint64 first = clock.elapsed();
    QTRY_VERIFY_WITH_TIMEOUT(run().state == RunState::finished || run().state == RunState::failed, kPatience);
    QVERIFY2(run().state == RunState::finished, qPrintable(run().message));
    QCOMPARE(run().step, run().stepsTotal);
    QCOMPARE(m_workspace->store().points(run().id, series::kLoss).size(), static_cast<std::size_t>(run().stepsTotal));
    QVERIFY2(run().best > 0.8, qPrintable(QString::number(run().best)));
    QCOMPARE(run().metric, "accuracy");
    QVERIFY(QFile::exists(run().folder + "/run.json"));
    QVERIFY(!run().settings.empty());
    QTRY_VERIFY(!part<LivePill>("live-pill")->isVisible());
    // Where is my model? Beside its figures.
    QTRY_VERIFY(part<QLabel>("model-place")->isVisible());
    click("copy-model-path");
    QVERIFY2(QFile::exists(QGuiApplication::clipboard()->text()) &&
                 QGuiApplication::clipboard()->text().startsWith(run().folder + "/checkpoints/"),
             qPrintable(QGuiApplication::clipboard()->text()));
    // A checkpoint that took its place since, unseen by the page, is what the next click copies.
    const QFileInfo shown(QGuiApplication::clipboard()->text());
    const QString newer = shown.dir().filePath("step-00009999.safetensors");
    QVERIFY(QFile::rename(shown.filePath(), newer));
    for (const QString& each : shown.dir().entryList(QDir::Files)) {
      QFile pointer(shown.dir().filePath(each));
      if (each.endsWith(".safetensors") || !pointer.open(QIODevice::ReadWrite)) continue;
      const QByteArray text =
          pointer.readAll().replace(shown.fileName().toUtf8(), QFileInfo(newer).fileName().toUtf8());
      pointer.seek(0);
      pointer.write(text);
    }
    click("copy-model-path");
    QCOMPARE(QGuiApplication::clipboard()->text(), newer);
    // Validations are points of that chart too.
    QTRY_VERIFY_WITH_TIMEOUT(training().curves().points() >= run().stepsTotal, kPatience);
    qInfo("first point in the chart after %lld ms", static_cast<long long>(first));
    shot("training-finished");
  }

  void memoryIsPredictedForTheBatchThatIsSet() {
    open(writeProject("predicted", 1));
    auto* strip = m_window->findChild<NetworkStrip*>();
    QVERIFY(strip);
    QTRY_VERIFY2(strip->figures().contains("at batch 16, predicted"), qPrintable(strip->figures()));
    const QString small = strip->figures();
    m_workspace->document()->setSetting("batch", 4096);
    QTRY_VERIFY2(strip->figures().contains("at batch 4,096, predicted"), qPrintable(strip->figures()));
    QVERIFY(strip->figures() != small);
    m_workspace->document()->removeNodes("main", {"loss"}, false);
    QTRY_VERIFY2(!strip->figures().contains("predicted"), qPrintable(strip->figures()));
  }

  void changesTheRateStopsAndResumesByClicks() {
    open(writeProject("long", 200000));
    click("train");
    QTRY_VERIFY_WITH_TIMEOUT(run().step > 50, kPatience);
    QVERIFY(run().state == RunState::running);
    QTRY_VERIFY(part<LivePill>("live-pill")->isVisible());
    shot("training-live");

    click("change-rate");
    auto* field = qApp->activePopupWidget() ? qApp->activePopupWidget()->findChild<QLineEdit*>("rate-value") : nullptr;
    QVERIFY(field);
    field->selectAll();
    QTest::keyClicks(field, "-1");
    QVERIFY(!field->window()->findChild<QAbstractButton*>("rate-change")->isEnabled());
    field->selectAll();
    QTest::keyClicks(field, "0.0125");
    QTest::mouseClick(field->window()->findChild<QAbstractButton*>("rate-change"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(m_workspace->store().lastValue(run().id, series::kRate).value_or(0), 0.0125, kPatience);

    click("stop-now");
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::stopped, kPatience);
    const std::int64_t stoppedAt = run().step;
    QTRY_COMPARE_WITH_TIMEOUT(m_workspace->launcher().running(), 0, kPatience);
    QTRY_VERIFY(part<QAbstractButton>("resume")->isVisible());
    click("resume");
    QTRY_VERIFY_WITH_TIMEOUT(run().attempt == 2 && run().step > stoppedAt + 20, kPatience);
    QTRY_VERIFY(part<QAbstractButton>("stop-after-epoch")->isVisible());
    click("stop-after-epoch");
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::stopped, kPatience);
    QCOMPARE(run().step % run().stepsPerEpoch, std::int64_t{0});
    std::set<std::int64_t> steps;
    for (const SeriesPoint& point : m_workspace->store().points(run().id, series::kLoss))
      QVERIFY(steps.insert(point.step).second);
    QCOMPARE(static_cast<std::int64_t>(steps.size()), run().step);
    QCOMPARE(*steps.begin(), std::int64_t{1});
    shot("training-stopped");
  }

  void aKilledLoomIsToldInOneSentence() {
    open(writeProject("killed", 200000));
    click("train");
    QTRY_VERIFY_WITH_TIMEOUT(run().step > 20, kPatience);
    int process = 0;
    for (const Event& event : m_workspace->store().events(run().id, 1 << 20))
      if (event.kind == "started") process = event.body.value("pid", 0);
    QVERIFY(process > 0);
    ::kill(process, SIGKILL);
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::failed, kPatience);
    QTRY_VERIFY(part<QWidget>("run-fault")->isVisible());
    QVERIFY2(run().message.contains("signal 9"), qPrintable(run().message));
    QVERIFY(m_window->isVisible());
    shot("training-failed");
  }

  void runsLieOverEachOther() {
    open(writeProject("several", 60));
    for (int i = 0; i < 3; ++i) {
      m_window->train({QString(), {QStringLiteral("training.optimizer.learning_rate=%1").arg(0.01 * (i + 1))}});
    }
    QCOMPARE(m_workspace->runs().size(), 3);
    QTRY_VERIFY_WITH_TIMEOUT(m_workspace->launcher().running() + m_workspace->launcher().waiting() == 0, kPatience);
    for (const RunRecord& each : m_workspace->runs())
      QVERIFY2(each.state == RunState::finished, qPrintable(each.message));
    QTest::keySequence(m_window.get(), QKeySequence("Ctrl+5"));
    RunsModel& model = runs().model();
    QCOMPARE(model.rowCount(), 3);
    QTRY_COMPARE(runs().lossChart().lines().size(), std::size_t{3});
    QTRY_COMPARE(runs().metricChart().lines().size(), std::size_t{3});
    QVERIFY2(model.differing().filter("learning_rate").size() == 1, qPrintable(model.differing().join(' ')));
    QTRY_COMPARE(runs().lossChart().shownPoints(), m_workspace->runs().front().stepsTotal * 3);
    std::set<int> colours;
    for (const RunRecord& each : m_workspace->runs()) colours.insert(each.colour);
    QCOMPARE(colours.size(), std::size_t{3});
    shot("runs");

    DataTable& table = runs().table();
    table.setFocus();
    table.setCurrentIndex(table.model()->index(0, RunsModel::name));
    QTest::keyClick(&table, Qt::Key_Space);
    QTRY_COMPARE(runs().lossChart().lines().size(), std::size_t{2});
    QTest::keyClick(&table, Qt::Key_Space);
    QTRY_COMPARE(runs().lossChart().lines().size(), std::size_t{3});
    QTest::keyClick(&table, Qt::Key_Delete);
    QTRY_COMPARE(model.rowCount(), 2);
    QVERIFY(m_window->notice().isShowing());
    QTest::keySequence(m_window.get(), QKeySequence("Ctrl+Z"));
    QTRY_COMPARE(model.rowCount(), 3);

    auto* filter = part<QLineEdit>("runs-filter");
    filter->setFocus();
    QTest::keyClicks(filter, "learning_rate > 0.015");
    QTRY_COMPARE(table.model()->rowCount(), 2);
    filter->selectAll();
    QTest::keyClicks(filter, "state == finished and best >= 0");
    QTRY_COMPARE(table.model()->rowCount(), 3);
    filter->selectAll();
    QTest::keyClicks(filter, "lr > 1");
    auto* fault = part<QLabel>("runs-filter-fault");
    QTRY_VERIFY(fault->isVisible());
    QCOMPARE(fault->text(), "no run has 'lr': did you mean 'learning_rate'?");
    filter->clear();
    QVERIFY(!fault->isVisible());
    QTRY_COMPARE(table.model()->rowCount(), 3);
    m_window->activateWindow();  // offscreen nobody gives it back what the list of words had
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    table.setFocus();
    table.setCurrentIndex(table.model()->index(0, RunsModel::name));  // the filter had hidden what was chosen
    QTest::keyClick(&table, Qt::Key_Return);
    QTRY_COMPARE(m_window->currentPage(), "training");
  }

  void faultsStopTrainAndAreListed() {
    open(writeProject("faulty", 1, R"(["out", "loss"], )", ""));
    QTRY_VERIFY(m_window->problems().errors() > 0);
    auto* train = part<QPushButton>("train");
    QTRY_VERIFY2(train->text().contains("error"), qPrintable(train->text()));
    click("train");
    QVERIFY(m_window->problems().isVisible());
    QVERIFY(m_workspace->runs().isEmpty());
    shot("problems");
    QTest::keyClick(m_window.get(), Qt::Key_Escape);
  }

  void searchLeadsAnywhere() {
    open(writeProject("search", 1));
    QTest::keySequence(m_window.get(), QKeySequence("Ctrl+K"));
    auto* field = part<QLineEdit>("search");
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, "runs");
    shot("search");
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE(m_window->currentPage(), "runs");
    QTest::keySequence(m_window.get(), QKeySequence("Ctrl+K"));
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, "dark");
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE(m_workspace->preferences().themeMode(), ThemeMode::dark);
    QCOMPARE(matchScore("residual_network-1", "dark"), 0);  // letters alone are no name
    QVERIFY(matchScore("Train on second", "trsec") > 0 && matchScore("Train on second", "tos") > 0);
  }

  void unsavedChangesAreSavedOnClosing() {
    const QString path = writeProject("closing", 1);
    open(path);
    m_workspace->document()->setSetting("epochs", 7);
    QVERIFY(m_workspace->document()->isModified());
    m_window->close();
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("\"epochs\": 7"));
  }

  void aFileThatIsNoneLeavesTheWindowAlone() {
    QFile file(m_folder->filePath("broken.loom"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"loom\": 1, ");
    file.close();
    m_window->openProject(file.fileName());
    QCOMPARE(m_window->currentPage(), "start");
    QVERIFY(!m_window->messages().text("open").isEmpty());
    m_window->openProject(m_folder->filePath("nowhere.loom"));
    QVERIFY(m_window->messages().text("open").contains("nowhere.loom"));
  }

  void remembersPageAndProject() {
    const QString path = writeProject("remember", 1);
    open(path);
    m_window->showPage("runs");
    m_window.reset();
    m_workspace.reset();
    m_workspace = std::make_unique<Workspace>(WorkspaceOptions{.dataFolder = m_folder->filePath("data")}, *m_theme,
                                              *m_preferences);
    m_window = std::make_unique<MainWindow>(*m_workspace);
    QCOMPARE(m_preferences->recentProjects().size(), 1);
    open(path);
    QCOMPARE(m_window->currentPage(), "runs");
  }

  void picturesInOtherSizesAndColours() {
    if (qEnvironmentVariableIsEmpty("GRADLOOM_SHOTS")) QSKIP("GRADLOOM_SHOTS names no folder for pictures");
    open(writeProject("pictures", 60));
    for (int i = 0; i < 3; ++i)
      m_window->train({QString(), {QStringLiteral("training.optimizer.learning_rate=%1").arg(0.01 * (i + 1))}});
    QTRY_VERIFY_WITH_TIMEOUT(m_workspace->launcher().running() + m_workspace->launcher().waiting() == 0, kPatience);
    for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
      m_theme->setMode(mode);
      for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
        m_window->resize(size);
        for (const PageEntry& entry : pageTable()) {
          m_window->showPage(entry.id);
          shot(QString("%1-%2-%3").arg(mode == ThemeMode::dark ? "dark" : "light").arg(size.width()).arg(entry.id));
        }
      }
    }
    m_theme->setMode(ThemeMode::light);
  }
};

QTEST_MAIN(AppTest)
#include "app_test.moc"
