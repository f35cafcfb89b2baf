#include <QSignalSpy>
#include <QTest>

#include "launcher/ssh/local_transport.h"
#include "tests/cluster/cluster.h"

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

  void cancelEndsARunAndOneThatWaits() {
    m_cluster->launcher().submit(m_cluster->job("b", "hpc"));
    m_cluster->launcher().submit(m_cluster->job("c", "hpc"));  // there is room for one
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->ranks("b").size(), 2, kSoon);
    const auto ranks = m_cluster->ranks("b");
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->launcher().stage("c").sentence.contains("waiting in Slurm"), kSoon);
    m_cluster->launcher().kill("c");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("c"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->state("b"), RunState::running);
    m_cluster->launcher().kill("b");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("b"), RunState::stopped, kSoon);
    for (const auto& each : ranks) QTRY_VERIFY_WITH_TIMEOUT(!Cluster::lives(each.process), kSoon);
    QCOMPARE(m_cluster->wrong("b"), QString());
  }
};

QTEST_GUILESS_MAIN(SlurmClusterTest)
#include "slurm_cluster_test.moc"
