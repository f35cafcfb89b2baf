// A search whose trials train on a host, through the queue of its batch system or through the launcher's own.
#include "launcher/search_runner.h"
#include "tests/engine/agent/fake_slurm.h"
#include "tests/launcher/remote_fixture.h"

using namespace loom;

namespace {

constexpr int kPatience = 120000, kTrials = 6, kSlots = 2;

const char* const kProject = R"({"loom": 1,
  "networks": {"main": {
    "nodes": [{"id": "x", "layer": "Input", "shape": [1]}, {"id": "fc", "layer": "Linear", "outputs": 2},
              {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
              {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "t w;o.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": 2, "batch": 2,
               "optimizer": {"name": "Momentum", "learning_rate": 0.01}}})";

}  // namespace

class HostSearchTest : public RemoteFixture {
  Q_OBJECT

 private:
  std::unique_ptr<FakeSlurm> m_slurm;
  std::unique_ptr<SearchRunner> m_runner;
  std::unique_ptr<QSignalSpy> m_ended;

  std::filesystem::path runs() const { return m_folder->filePath("runs").toStdString(); }
  static void paceOf(const char* pairs) { qputenv("FAKE_LOOM", pairs); }
  void useSlurm() {
    close();
    m_slurm = std::make_unique<FakeSlurm>(m_folder->filePath("slurm").toStdString());
    m_slurm->put("slots", std::to_string(kSlots));
    QVERIFY(QFile::remove(m_folder->filePath("store/hosts.json")));
    m_host.kind = HostKind::slurm;
    m_host.slurm = {.partition = "test"};
    open();
  }
  void begin(Study study, int atOnce) {
    const Job job{.project = m_folder->filePath("p.loom"),
                  .snapshot = kProject,
                  .dataFolder = m_folder->path(),
                  .host = "there",
                  .runsFolder = QString::fromStdString(runs().string())};
    m_runner = std::make_unique<SearchRunner>(*m_launcher, *m_store);
    m_ended = std::make_unique<QSignalSpy>(m_runner.get(), &SearchRunner::ended);
    m_runner->begin(std::move(study), job, atOnce);
  }
  void beginNew(int atOnce) {
    SearchPlan plan{.name = "s", .space = {parseDimension("optimizer.learning_rate=log:0.001..0.1")}};
    plan.strategy = "random";
    plan.trials = kTrials;
    begin({.plan = checkedPlan(parseJson(kProject, "the project"), std::move(plan)), .runs = runs(), .trials = {}},
          atOnce);
  }
  // As the Search page does, in another window on another day.
  void goOn(int atOnce) {
    std::optional<Study> study = readStudy(runs(), "s");
    QVERIFY(study);
    begin(std::move(*study), atOnce);
  }
  // A window that is killed says nothing to anybody.
  void killWindow() {
    m_runner.reset();
    close();
  }
  int inState(RunState state) const {
    int count = 0;
    for (const RunRecord& each : m_store->runs()) count += each.state == state;
    return count;
  }
  int jobsInSlurm(const char* state) const {
    return QString::fromStdString(m_slurm->text("jobs")).count(QStringLiteral("|%1|").arg(state));
  }
  // Every trial once, under its number, with all of its steps, and nothing beside them.
  void allTrialsOnce(int steps) {
    QVERIFY2(m_ended->first().first().toString().isEmpty(), qPrintable(m_ended->first().first().toString()));
    QTRY_COMPARE_WITH_TIMEOUT(inState(RunState::finished), kTrials, kPatience);  // the store comes behind the logs
    const std::optional<Study> study = readStudy(runs(), "s");
    QVERIFY(study);
    QCOMPARE(study->trials.size(), std::size_t{kTrials});
    std::set<std::string> drawn;
    int number = 0;
    for (const auto& each : study->trials) {
      QCOMPARE(each->file().number, ++number);
      QVERIFY2(each->look(false).state == TrialState::done,
               qPrintable(QStringLiteral("trial %1 is %2: %3")
                              .arg(number)
                              .arg(toKey(each->trial().state), QString::fromStdString(each->file().message))));
      QCOMPARE(each->trial().curve.size(), static_cast<std::size_t>(steps / 10));
      drawn.insert(keyOf(each->file().point));
      isWhole(QString::fromStdString(each->folder().filename().string()), steps);
    }
    QCOMPARE(drawn.size(), std::size_t{kTrials});
    QCOMPARE(m_store->runs().size(), kTrials);
    QCOMPARE(QDir(m_folder->filePath("there/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot).size(), kTrials);
    for (const RunRecord& each : m_store->runs()) QCOMPARE(each.tags, QStringList{"s"});
  }

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() {
    m_runner.reset();
    m_slurm.reset();
    tearDown();
    qunsetenv("FAKE_LOOM");
  }

  void aKilledWindowTakesItsSearchUpAgain_data() {
    QTest::addColumn<bool>("slurm");
    QTest::newRow("through Slurm's queue") << true;
    QTest::newRow("through the launcher's queue of the host") << false;
  }
  void aKilledWindowTakesItsSearchUpAgain() {
    QFETCH(bool, slurm);
    if (slurm) useSlurm();
    paceOf("steps=60;ms=8");
    beginNew(3);
    QTRY_VERIFY_WITH_TIMEOUT(inState(RunState::finished) >= 2, kPatience);
    m_line.cut = true;
    QTRY_VERIFY_WITH_TIMEOUT(inState(RunState::finished) >= 3, kPatience);
    killWindow();
    QTest::qWait(200);
    open();
    m_launcher->attach();
    goOn(3);
    QTRY_COMPARE_WITH_TIMEOUT(m_ended->size(), 1, kPatience);
    allTrialsOnce(60);
    for (const RunRecord& each : m_store->runs()) QCOMPARE(each.attempt, std::int64_t{1});
    if (slurm) QCOMPARE(m_slurm->calls("sbatch"), kTrials);
  }

  // It is no trial's fault, and nobody looked on: it goes on from where it was.
  void aTrialWhoseNodeFailedMeanwhileGoesOn() {
    useSlurm();
    paceOf("steps=120;ms=10");
    beginNew(2);
    const auto training = [this] {
      for (const RunRecord& each : m_store->runs())
        if (each.state == RunState::running && each.step > 30) return true;
      return false;
    };
    QTRY_VERIFY_WITH_TIMEOUT(training(), kPatience);
    killWindow();
    m_slurm->nodeFails("101");
    paceOf("steps=120;ms=1");
    open();
    m_launcher->attach();
    goOn(2);
    QTRY_COMPARE_WITH_TIMEOUT(m_ended->size(), 1, kPatience);
    allTrialsOnce(120);
    QCOMPARE(m_slurm->calls("sbatch"), kTrials + 1);
    // Which of both trials had that job is the queue's affair.
    QList<std::int64_t> again;
    for (const RunRecord& each : m_store->runs())
      if (each.attempt > 1) again << each.attempt;
    QCOMPARE(again, QList<std::int64_t>{2});
  }

  void stoppedWholeNothingIsLeftInTheQueueAndItGoesOn() {
    useSlurm();
    paceOf("steps=100000;ms=5");
    beginNew(3);
    const auto training = [this] {
      int count = 0;
      for (const RunRecord& each : m_store->runs()) count += each.state == RunState::running && each.step >= 20;
      return count;
    };
    QTRY_COMPARE_WITH_TIMEOUT(training(), kSlots, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(jobsInSlurm("PENDING"), 1, kPatience);
    m_runner->stop();
    QTRY_COMPARE_WITH_TIMEOUT(m_ended->size(), 1, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(inState(RunState::stopped), 3, kPatience);
    QCOMPARE(jobsInSlurm("PENDING") + jobsInSlurm("RUNNING"), 0);
    QCOMPARE(m_slurm->calls("sbatch"), 3);
    const std::optional<Study> stopped = readStudy(runs(), "s");
    for (const auto& each : stopped->trials) QCOMPARE(each->look(false).state, TrialState::interrupted);
    killWindow();
    paceOf("steps=400;ms=1");
    open();
    m_launcher->attach();
    goOn(3);
    QTRY_COMPARE_WITH_TIMEOUT(m_ended->size(), 1, kPatience);
    QVERIFY2(m_ended->first().first().toString().isEmpty(), qPrintable(m_ended->first().first().toString()));
    QCOMPARE(m_store->runs().size(), kTrials);
    QTRY_COMPARE_WITH_TIMEOUT(inState(RunState::finished), kTrials, kPatience);  // the store comes behind the logs
    QCOMPARE(m_slurm->calls("sbatch"), kTrials + 3);
  }
};

QTEST_GUILESS_MAIN(HostSearchTest)
#include "host_search_test.moc"
