#include <QDir>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTest>

#include "engine/agent/job_folder.h"
#include "engine/base/json.h"
#include "launcher/ssh/local_transport.h"
#include "tests/cluster/cluster.h"
#include "tests/launcher/sshd.h"

using namespace loom;

namespace {
constexpr int kSoon = 90000;  // generous: Slurm looks at its clock every 30 s
}

// Slurm on this machine, from its queue to a job's time limit.
class SlurmClusterTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Cluster> m_cluster;
  Host m_host;

  // Of its job there.
  QString numberOf(const QString& id) const {
    const Json process = JobFolder(m_folder->filePath("there/runs/" + id).toStdString()).process();
    return QString::fromStdString(process.value("slurm", std::string()));
  }
  // It trains. Slurm's signal before the limit of a minute may have come by then: Slurm sends it up to a minute early.
  bool goesOn(const QString& run) {
    const RunState state = m_cluster->state(run);
    return state == RunState::running || state == RunState::stopping;
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString why = Cluster::why({"slurmctld", "slurmd", "munged", "sbatch"}); !why.isEmpty())
      QSKIP(qPrintable(why));
    m_folder = std::make_unique<QTemporaryDir>();
    m_cluster = std::make_unique<Cluster>(m_folder->path());
    if (!m_cluster->start({"slurm"})) QSKIP("Slurm's daemons cannot be started here");
    qputenv("SLURM_CONF", m_folder->filePath("slurm/slurm.conf").toUtf8());
    Host host = hostFromText("hpc");
    host.kind = HostKind::slurm;
    host.folder = m_folder->filePath("there");
    host.slurm = {.partition = "test", .time = "00:01:00", .ranksPerNode = 2, .signalSeconds = 50, .continuations = 1};
    m_host = host;
    m_cluster->open(host, {.transport = [](const SshAsk&) { return std::make_unique<LocalTransport>(); }});
  }
  void cleanupTestCase() {
    m_cluster.reset();
    m_folder.reset();
  }

  void theCheckOfTheComputeNodesIsAJob() {
    HostLine& line = m_cluster->line("hpc");
    QSignalSpy lines(&line, &HostLine::checkLine), done(&line, &HostLine::checkDone);
    line.check(1 << 20);
    QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, kSoon);
    QString nodes;
    for (const auto& each : lines) {
      const auto found = each[0].value<CheckLine>();
      QVERIFY2(found.status != CheckLine::Status::failed, qPrintable(found.name + ": " + found.finding + found.why));
      if (found.name == "Compute nodes") nodes = found.finding;
    }
    QCOMPARE(nodes, "2 of 2 ranks started on 1 machine");
  }

  // Before the time limit the signal comes: the run writes its checkpoint, and the host itself submits what follows.
  void theTimeLimitIsFollowedByAContinuation() {
    m_cluster->launcher().submit(m_cluster->job("a", "hpc"));
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("a") > 5, kSoon);
    QCOMPARE(m_cluster->startedWith("a"), 2);
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->store().find("a")->attempt, std::int64_t{2}, kSoon);
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->ranks("a").size(), 2, kSoon);
    const std::int64_t from = m_cluster->startedFrom("a");
    QVERIFY2(from > 5, qPrintable(QString::number(from)));
    m_cluster->launcher().stop("a");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("a"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->wrong("a"), QString());
  }

  // What the window's Train does, a terminal does, over a real sshd of the machine where Slurm's commands are.
  void aScriptTrainsWithoutADisplay() {
    if (const QString why = Sshd::why(); !why.isEmpty()) QSKIP(qPrintable(why));
    Sshd sshd("SetEnv SLURM_CONF=" + m_folder->filePath("slurm/slurm.conf").toUtf8());
    QFile key(sshd.path("host.pub")), known(sshd.path("known_hosts"));
    QVERIFY(key.open(QIODevice::ReadOnly) && known.open(QIODevice::WriteOnly));
    known.write("[127.0.0.1]:" + QByteArray::number(sshd.port()) + ' ' + key.readAll());
    known.close();
    Host login = *m_cluster->hosts().find("hpc");
    login.id = login.name = "login";
    login.address = "there";
    m_cluster->hosts().add(login);
    m_cluster->close();
    const QString home = m_folder->filePath("home");
    QVERIFY(QDir().mkpath(home + "/.ssh"));
    QVERIFY(QFile::copy(sshd.clientConfig(), home + "/.ssh/config"));
    const auto said = m_cluster->gradloom(
        {"submit", m_folder->path(), "--host", "login", "--name", "script", "--set", "epochs=3", "--follow"}, home);
    QVERIFY2(said.code == 0, qPrintable(QString::number(said.code) + said.out + said.err));
    QVERIFY2(said.out.contains("epoch 1 of 3") && said.out.contains("done after 384 steps"), qPrintable(said.out));
    const auto listed = m_cluster->gradloom({"runs", "--json", "--filter", "name == script and step == 384"}, home);
    const Json runs = Json::parse(listed.out.toStdString(), nullptr, false);
    QVERIFY2(runs.is_array() && runs.size() == 1, qPrintable(listed.out + listed.err));
    const QString id = QString::fromStdString(runs[0]["id"]);
    QVERIFY(!runs[0]["model"]["here"].get<bool>());
    const auto fetched = m_cluster->gradloom({"fetch", "script"}, home);
    QVERIFY2(fetched.code == 0, qPrintable(fetched.out + fetched.err));
    QFile model(fetched.out.trimmed()),
        there(m_folder->filePath("there/runs/" + id + "/checkpoints/" + QFileInfo(model.fileName()).fileName()));
    QVERIFY2(model.open(QIODevice::ReadOnly) && there.open(QIODevice::ReadOnly), qPrintable(fetched.out));
    QVERIFY(model.size() > 0);
    QCOMPARE(model.readAll(), there.readAll());
    m_cluster->open(m_host, {.transport = [](const SshAsk&) { return std::make_unique<LocalTransport>(); }});
    m_cluster->launcher().attach();
    QCOMPARE(m_cluster->state(id), RunState::finished);
    QCOMPARE(m_cluster->startedWith(id), 2);
    QCOMPARE(m_cluster->step(id), std::int64_t{384});
    QCOMPARE(m_cluster->wrong(id), QString());
  }

  // Slurm's signal reaches every process of the job, and some seconds are left for a checkpoint.
  void whatSlurmCancelsHasItsCheckpoint() {
    m_cluster->launcher().submit(m_cluster->job("d", "hpc"));
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->ranks("d").size(), 2, kSoon);
    const auto ranks = m_cluster->ranks("d");
    QVERIFY(Cluster::run("scancel", {numberOf("d")}));
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("d"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->message("d"), "Slurm cancelled its job.");
    for (const auto& each : ranks) QTRY_VERIFY_WITH_TIMEOUT(!Cluster::lives(each.process), kSoon);
    const std::int64_t stopped = m_cluster->step("d");
    m_cluster->launcher().resume("d");
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("d") > stopped, kSoon);
    QCOMPARE(m_cluster->startedFrom("d"), stopped);
    m_cluster->launcher().stop("d");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("d"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->message("d"), QString());
    QCOMPARE(m_cluster->wrong("d"), QString());
  }

  // A preemption does the same.
  void whatSlurmStartsAgainIsFollowedOn() {
    m_cluster->launcher().submit(m_cluster->job("e", "hpc"));
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->ranks("e").size(), 2, kSoon);
    const QString number = numberOf("e");
    QVERIFY(Cluster::run("scontrol", {"requeue", number}));
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("e"), RunState::starting, kSoon);
    QVERIFY2(m_cluster->launcher().stage("e").sentence.startsWith("Slurm starts it again"),
             qPrintable(m_cluster->launcher().stage("e").sentence));
    const std::int64_t stopped = m_cluster->step("e");
    QVERIFY(Cluster::run("scontrol", {"update", "JobId=" + number, "StartTime=now"}));  // else two minutes later
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("e") > stopped, kSoon);
    QVERIFY(goesOn("e"));
    QCOMPARE(m_cluster->startedFrom("e"), stopped);
    QCOMPARE(numberOf("e"), number);
    m_cluster->launcher().stop("e");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("e"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->wrong("e"), QString());
  }

  void cancelEndsARunAndOneThatWaits() {
    m_cluster->launcher().submit(m_cluster->job("b", "hpc"));
    m_cluster->launcher().submit(m_cluster->job("c", "hpc"));  // there is room for one
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->ranks("b").size(), 2, kSoon);
    const auto ranks = m_cluster->ranks("b");
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->launcher().stage("c").sentence.contains("waiting in Slurm"), kSoon);
    m_cluster->launcher().kill("c");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("c"), RunState::stopped, kSoon);
    QVERIFY(goesOn("b"));
    m_cluster->launcher().kill("b");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("b"), RunState::stopped, kSoon);
    for (const auto& each : ranks) QTRY_VERIFY_WITH_TIMEOUT(!Cluster::lives(each.process), kSoon);
    QCOMPARE(m_cluster->wrong("b"), QString());
  }
};

QTEST_GUILESS_MAIN(SlurmClusterTest)
#include "slurm_cluster_test.moc"
