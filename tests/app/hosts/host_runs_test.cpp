// What lies on a host and what becomes of its runs: tidied up, ended by hand where nothing is known any more, resumed
// elsewhere.
#include <QCheckBox>
#include <QMenu>
#include <csignal>

#include "app/pages/hosts/remain_groups.h"
#include "app/pages/training/training_page.h"
#include "app/run_hosts.h"
#include "engine/agent/job_folder.h"
#include "engine/base/json.h"
#include "launcher/remote/models.h"
#include "tests/app/hosts/hosts_window.h"
#include "tests/patience.h"

namespace loom {

class HostRunsTest : public HostsWindow {
  Q_OBJECT

 private:
  // A run that the host had and knows no more: its supervisor's note is gone. Answers its process.
  int forgetThere(const QString& id) {
    const QString folder = m_home->filePath(".cache/gradloom/runs/" + id);
    const int process = JobFolder(folder.toStdString()).process().value("process", 0);
    [&] { QVERIFY(QFile::remove(folder + "/process.json")); }();
    return process;
  }

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() {
    takeDown();
    m_home.reset();
  }

  void whatLiesThereIsTidiedUpByHand() {
    const QDir there(m_home->filePath(".cache/gradloom"));
    const auto put = [&](const QString& name) {
      QVERIFY(QDir().mkpath(QFileInfo(there.filePath(name)).absolutePath()));
      QFile file(there.filePath(name));
      QVERIFY(file.open(QIODevice::WriteOnly) && file.write(QByteArray(300000, 'x')) == 300000);
    };
    for (const char* each : {"engine/0123456789abcdef/bin/loom", "runs/mine/checkpoints/step-1.safetensors",
                             "runs/other/log.txt", "data/x.pack"})
      put(QLatin1String(each));
    auto* section = m_open->part<QWidget>("host-remains");
    QVERIFY(!section->isVisible());  // this machine keeps its runs with their projects
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(section->isVisible(), kPatience);
    QVERIFY2(m_open->part<QLabel>("remains-total")->text().contains(QStringLiteral("~/.cache/gradloom")),
             qPrintable(m_open->part<QLabel>("remains-total")->text()));
    QStringList words;
    for (const QLabel* each : section->findChildren<QLabel*>()) words << each->text();
    QVERIFY2(words.contains("Earlier engine") && words.contains("1 data set") && words.contains("2 runs"),
             qPrintable(words.join('|')));
    // What a person must decide is not chosen for them.
    QTRY_COMPARE(section->findChildren<QCheckBox*>().size(), 2);
    for (QCheckBox* each : section->findChildren<QCheckBox*>()) QVERIFY(!each->isChecked());
    auto* runs = m_open->part<QCheckBox>("remain-runs/mine") ? m_open->part<QCheckBox>("remain-runs/mine")
                                                             : m_open->part<QCheckBox>("remain-runs/other");
    QVERIFY(runs);
    QTest::mouseClick(runs, Qt::LeftButton, {}, QPoint(8, runs->height() / 2));
    QVERIFY(runs->isChecked());
    m_open->click("tidy-up");
    QVERIFY(m_open->part<QAbstractButton>("remove-remains")->isVisible());
    QVERIFY(m_open->part<QLabel>("remains-words")->text().contains("for good"));
    m_open->click("keep-remains");
    QVERIFY(!m_open->part<QAbstractButton>("remove-remains")->isVisible());
    m_open->click("tidy-up");
    m_open->click("remove-remains");
    QTRY_VERIFY_WITH_TIMEOUT(m_open->part<QLabel>("remains-words")->text().contains("freed"), kPatience);
    QVERIFY(!there.exists("runs/mine") && !there.exists("runs/other"));
    QVERIFY(!there.exists("engine/0123456789abcdef"));  // nobody misses it
    QVERIFY(there.exists("data/x.pack"));
    QTRY_VERIFY(!m_open->part<QAbstractButton>("tidy-up")->isVisible());  // nothing is left to do without a choice
  }

  void whatARunNeedsStays() {
    RunRecord live;
    live.id = "live";
    const QVector<HostRemain> remains{
        {.path = "engine/a", .bytes = 1},    {.path = "engine/b", .bytes = 2, .isUsed = true},
        {.path = "data/x.pack", .bytes = 4}, {.path = "runs/live", .bytes = 8},
        {.path = "runs/gone", .bytes = 16},  {.path = "data/y.part", .bytes = 32}};
    const auto bytes = [&](RemainGroup::Fate fate, const QList<RunRecord>& busy) {
      qint64 sum = 0;
      for (const RemainGroup& each : groupRemains(remains, m_open->workspace().store(), busy))
        sum += each.fate == fate ? each.bytes : 0;
      return sum;
    };
    QCOMPARE(bytes(RemainGroup::Fate::goes, {live}), qint64{0});
    QCOMPARE(bytes(RemainGroup::Fate::stays, {live}), qint64{1 + 2 + 4 + 8 + 32});
    QCOMPARE(bytes(RemainGroup::Fate::decided, {live}), qint64{16});
    QCOMPARE(bytes(RemainGroup::Fate::goes, {}), qint64{1});
    QCOMPARE(bytes(RemainGroup::Fate::stays, {}), qint64{2 + 32});
    QCOMPARE(bytes(RemainGroup::Fate::decided, {}), qint64{4 + 8 + 16});
  }

  void whatIsNotKnownAnyMoreIsEndedByHandAlone() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    const Launcher& launcher = m_open->workspace().launcher();
    const auto state = [&](const QString& id) { return m_open->workspace().store().find(id)->state; };
    const auto goes = [&](const QString& id) { return m_open->workspace().store().find(id)->step > 2; };
    m_open->window().train({.overrides = {"steps=4000", "ms=5"}});
    const QString first = m_open->workspace().runs().first().id;
    QTRY_VERIFY_WITH_TIMEOUT(goes(first), kPatience);
    m_open->click("rail-hosts");
    const auto cardHas = [&](const char* name) {
      for (QWidget* card : page().queue().findChildren<QWidget*>("run-" + first))
        if (card->isVisible() && button(card, name)) return true;
      return false;
    };
    QTRY_VERIFY(cardHas("stop-run"));
    QVERIFY(!cardHas("count-as-ended"));
    int process = forgetThere(first);
    QTRY_VERIFY_WITH_TIMEOUT(!launcher.doubt(first).isEmpty(), kPatience);
    // What is given up is said first; to wait changes nothing.
    press(first, "count-as-ended");
    QVERIFY(cardHas("confirm-doubt") && !cardHas("submit-anew"));
    QVERIFY(isLive(state(first)));
    press(first, "wait");
    QVERIFY(isLive(state(first)) && !launcher.doubt(first).isEmpty());
    press(first, "submit-anew");
    press(first, "confirm-doubt");
    QCOMPARE(state(first), RunState::failed);
    QCOMPARE(m_open->workspace().runs().size(), 2);
    ::kill(process, SIGKILL);

    // The same on the run's page.
    const QString second = m_open->workspace().runs().last().id;
    QVERIFY(second != first);
    QTRY_VERIFY_WITH_TIMEOUT(goes(second), kPatience);
    press(second, "show-curves");
    auto& training = *static_cast<TrainingPage*>(m_open->window().page("training"));
    QTRY_COMPARE(training.run(), second);
    QVERIFY(!button(&training, "count-as-ended"));
    process = forgetThere(second);
    QTRY_VERIFY_WITH_TIMEOUT(button(&training, "count-as-ended"), kPatience);
    QVERIFY(training.findChild<QLabel*>("doubt-sentence")->text() == launcher.doubt(second));
    QTest::mouseClick(button(&training, "count-as-ended"), Qt::LeftButton);
    QVERIFY(isLive(state(second)));
    QTest::mouseClick(button(&training, "confirm-doubt"), Qt::LeftButton);
    QCOMPARE(state(second), RunState::failed);
    QVERIFY(m_open->workspace().store().find(second)->message.contains("by hand"));
    QTRY_VERIFY(!button(&training, "count-as-ended"));
    QCOMPARE(launcher.running(), 0);
    ::kill(process, SIGKILL);
  }

  void aFetchedRunGoesOnOnThisMachine() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    m_open->window().train({.overrides = {"steps=400", "ms=5", "model=1000"}});
    const QString id = m_open->workspace().runs().first().id;
    const auto run = [&] { return *m_open->workspace().store().find(id); };
    QTRY_VERIFY_WITH_TIMEOUT(run().step > 25, kPatience);
    m_open->click("stop-now");
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::stopped, kPatience);
    auto& training = *m_open->window().page("training");
    QTRY_VERIFY_WITH_TIMEOUT(button(&training, "resume-here"), kPatience);
    QVERIFY(!m_open->workspace().context().models->newestIsHere(id));  // it is brought first
    QTest::mouseClick(button(&training, "resume-here"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::finished, kPatience);
    QCOMPARE(run().attempt, std::int64_t{2});
    QVERIFY(m_open->workspace().context().models->newestIsHere(id));
    QVERIFY(m_open->workspace().context().runHosts->hostOf(run()).isEmpty());
    QTRY_VERIFY(!button(&training, "resume-here"));
  }

  void aRunGoesOnWhereAPersonChooses() {
    addHost("there");
    QTRY_VERIFY_WITH_TIMEOUT(report("there").at > 0, kPatience);
    addHost("vega");
    QTRY_VERIFY_WITH_TIMEOUT(report("vega").at > 0, kPatience);
    openProject();
    m_open->workspace().chooseHost("there");
    m_open->window().train({.overrides = {"steps=400", "ms=5", "model=1000"}});
    const QString id = m_open->workspace().runs().first().id;
    const auto run = [&] { return *m_open->workspace().store().find(id); };
    QTRY_VERIFY_WITH_TIMEOUT(run().step > 25, kPatience);
    m_open->click("stop-now");
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::stopped, kPatience);
    auto& training = *m_open->window().page("training");
    QTRY_VERIFY_WITH_TIMEOUT(button(&training, "resume-on"), kPatience);
    QVERIFY(!button(&training, "resume-here"));  // there is something to choose
    // All that may be done with the model has room in the column.
    const auto* line = training.findChild<QWidget*>("model-line");
    QTRY_COMPARE(line->visibleRegion().boundingRect().width(), line->width());
    QTest::mouseClick(button(&training, "resume-on"), Qt::LeftButton);
    QMenu* menu = nullptr;
    QTRY_VERIFY((menu = training.findChild<QMenu*>("resume-places")) && menu->isVisible());
    QStringList places;
    for (const QAction* each : menu->actions()) places << each->text();
    QCOMPARE(places, QStringList({"This machine", "vega"}));
    QVERIFY(!m_open->workspace().context().models->newestIsHere(id));  // it is brought first
    menu->actions().last()->trigger();
    menu->close();
    QTRY_COMPARE_WITH_TIMEOUT(run().state, RunState::finished, kPatience);
    QCOMPARE(run().attempt, std::int64_t{2});
    QCOMPARE(m_open->workspace().context().runHosts->hostOf(run()), QString("vega"));
    // Both have one home here, as two login nodes have; it was handed over all the same.
    QFile launch(m_home->filePath(".cache/gradloom/runs/" + id + "/launch.json"));
    QVERIFY(launch.open(QIODevice::ReadOnly) && launch.readAll().contains("training="));
  }
};

}  // namespace loom

QTEST_MAIN(loom::HostRunsTest)
#include "host_runs_test.moc"
