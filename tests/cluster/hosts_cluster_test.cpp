#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>
#include <csignal>

#include "engine/base/json.h"
#include "engine/run/process.h"
#include "tests/cluster/cluster.h"

using namespace loom;

namespace {

constexpr int kSoon = 60000;  // generous: the machine may have much else to do

LineOptions options(const Cluster& cluster) {
  return {.sshConfig = cluster.path("up/ssh_config"),
          .times = {.pingMs = 500, .silenceMs = 3000, .startMs = 40000},
          .firstWaitMs = 100,
          .longestWaitMs = 500};
}

// The folder is the same on every host here, as a cluster's shared file system is.
Host laboratory(const Cluster& cluster, int places = 2) {
  Host host = hostFromText("10.77.0.1");
  host.id = host.name = "lab";
  host.folder = cluster.path("there");
  for (int i = 1; i <= places; ++i) host.places.append({QStringLiteral("10.77.0.%1").arg(i), 1});
  host.mpirun = {"mpirun", "--mca", "plm_rsh_args", "-F " + cluster.path("up/ssh_config")};
  for (const char* each : {"btl_tcp_if_include", "oob_tcp_if_include"})
    host.mpirun << "--mca" << each << "10.77.0.0/24";
  host.mpirun << "--mca"
              << "btl"
              << "tcp,self";
  host.stalledAfter = 6;
  return host;
}

// An IDE in a process of its own, which the test kills: submits one job and looks on.
int otherIde(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  Cluster cluster(QString::fromLocal8Bit(argv[2]));
  cluster.open(laboratory(cluster), options(cluster));
  cluster.launcher().submit(cluster.job("a", "lab"));
  return application.exec();
}

}  // namespace

// Two hosts with an sshd each, ranks of one run on both, and all that can befall them.
class HostsClusterTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Cluster> m_cluster;

  // Waits until the run trains with this many ranks, in an attempt after `before`.
  QVector<Cluster::Rank> training(const QString& id, int count, std::int64_t before = 0) {
    QVector<Cluster::Rank> ranks;
    const auto trains = [&] {
      return m_cluster->store().find(id)->attempt > before && (ranks = m_cluster->ranks(id)).size() == count;
    };
    [&] { QTRY_VERIFY_WITH_TIMEOUT(trains() || m_cluster->state(id) == RunState::failed, kSoon); }();
    if (ranks.size() != count) qWarning("%s", qPrintable(m_cluster->message(id)));
    return ranks;
  }
  QVector<Cluster::Rank> resumed(const QString& id, int count) {
    const std::int64_t before = m_cluster->store().find(id)->attempt;
    m_cluster->launcher().resume(id);
    return training(id, count, before);
  }
  // A run whose rank fell ends by itself, and its last word names the rank and the host.
  void failsNaming(const QString& id, const QVector<Cluster::Rank>& ranks, int rank, const char* what) {
    QElapsedTimer clock;
    clock.start();
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state(id), RunState::failed, kSoon);
    qInfo("%s: ended after %.1f s: %s", what, static_cast<double>(clock.elapsed()) / 1000,
          qPrintable(m_cluster->message(id)));
    QVERIFY2(m_cluster->message(id).contains(QStringLiteral("rank %1").arg(rank)), qPrintable(m_cluster->message(id)));
    QVERIFY2(m_cluster->message(id).contains(ranks[rank].host), qPrintable(m_cluster->message(id)));
    QCOMPARE(m_cluster->wrong(id), QString());
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->launcher().running(), 0, kSoon);
  }
  void areGone(const QVector<Cluster::Rank>& ranks) {
    for (const auto& each : ranks) QTRY_VERIFY_WITH_TIMEOUT(!Cluster::lives(each.process), kSoon);
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString why = Cluster::why({"ip", "ssh", "ssh-keygen", "sshd"}); !why.isEmpty()) QSKIP(qPrintable(why));
    m_folder = std::make_unique<QTemporaryDir>();
    m_cluster = std::make_unique<Cluster>(m_folder->path());
    if (!m_cluster->start({"up", "2"})) QSKIP("network namespaces cannot be made here");
    m_cluster->open(laboratory(*m_cluster), options(*m_cluster));
  }
  void cleanupTestCase() {
    m_cluster.reset();
    m_folder.reset();
  }

  void theCheckInstallsTheEngineAndStartsOnBothHosts() {
    HostLine& line = m_cluster->line("lab");
    QSignalSpy lines(&line, &HostLine::checkLine), done(&line, &HostLine::checkDone);
    line.check(1 << 20);
    QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 2 * kSoon);
    QString real, engine;
    for (const auto& each : lines) {
      const auto found = each[0].value<CheckLine>();
      QVERIFY2(found.status != CheckLine::Status::failed, qPrintable(found.name + ": " + found.finding + found.why));
      if (found.name == "Real start") real = found.finding;
      if (found.name == "Engine") engine = found.finding;
    }
    QVERIFY2(real.startsWith("2 of 2 ranks started on 2 machines"), qPrintable(real));
    QVERIFY2(engine.contains("verified by hash"), qPrintable(engine));
  }

  void aRunOutlivesTheIdeAndTheCable() {
    m_cluster->close();
    QProcess ide;
    ide.setProcessChannelMode(QProcess::ForwardedChannels);
    ide.start(QCoreApplication::applicationFilePath(), {"--ide", m_folder->path()});
    const QString mirror = m_folder->filePath("runs/a/events.jsonl");
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(mirror).size() > 10000, kSoon);
    ide.kill();
    QVERIFY(ide.waitForFinished());

    m_cluster->open(laboratory(*m_cluster), options(*m_cluster));
    QSignalSpy points(&m_cluster->store(), &RunStore::pointsAdded);
    m_cluster->launcher().attach();
    QCOMPARE(training("a", 2).size(), 2);
    QCOMPARE(m_cluster->startedWith("a"), 2);
    points.clear();
    QTRY_VERIFY_WITH_TIMEOUT(points.size() > 5, kSoon);  // while it trains, not at its end
    QCOMPARE(m_cluster->state("a"), RunState::running);

    // The cable between this machine and the hosts, which still reach each other.
    QVERIFY(Cluster::run("ip", {"addr", "del", "10.77.0.254/24", "dev", "glbr"}));
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->line("lab").state(), LineState::waiting, kSoon);
    const std::int64_t then = m_cluster->step("a");
    QVERIFY(Cluster::run("ip", {"addr", "add", "10.77.0.254/24", "dev", "glbr"}));
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("a") > then + 100, kSoon);
    QCOMPARE(m_cluster->store().find("a")->attempt, std::int64_t{1});

    m_cluster->launcher().stop("a");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("a"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->wrong("a"), QString());
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->launcher().running(), 0, kSoon);
  }

  void itGoesOnWithAnotherNumberOfRanks() {
    const std::int64_t stopped = m_cluster->step("a");
    m_cluster->hosts().change(laboratory(*m_cluster, 1));
    m_cluster->launcher().resume("a");
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("a") > stopped + 10, kSoon);
    QCOMPARE(m_cluster->startedFrom("a"), stopped);
    QCOMPARE(m_cluster->startedWith("a"), 1);
    m_cluster->launcher().stop("a");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("a"), RunState::stopped, kSoon);
    QCOMPARE(m_cluster->wrong("a"), QString());
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->launcher().running(), 0, kSoon);
    m_cluster->hosts().change(laboratory(*m_cluster));
  }

  void theFirstPointComesSoon() {
    QElapsedTimer clock;
    clock.start();
    m_cluster->launcher().submit(m_cluster->job("b", "lab"));
    QTRY_VERIFY_WITH_TIMEOUT(m_cluster->step("b") > 0, kSoon);
    qInfo("from submit to the first point of two ranks on two hosts: %lld ms", clock.elapsed());
  }

  void rankZeroIsKilled() {
    const auto ranks = training("b", 2);
    QCOMPARE(ranks.size(), 2);
    QCOMPARE(ranks[0].host, "gl1");
    QCOMPARE(ranks[1].host, "gl2");
    QCOMPARE(::kill(ranks[0].process, SIGKILL), 0);
    failsNaming("b", ranks, 0, "rank 0 killed");
    areGone(ranks);
  }

  void anotherRankIsKilled() {
    const auto ranks = resumed("b", 2);
    QCOMPARE(ranks.size(), 2);
    QCOMPARE(::kill(ranks[1].process, SIGKILL), 0);
    failsNaming("b", ranks, 1, "rank 1 killed");
    areGone(ranks);
  }

  void aRankIsStopped() {
    const auto ranks = resumed("b", 2);
    QCOMPARE(ranks.size(), 2);
    QCOMPARE(::kill(ranks[1].process, SIGSTOP), 0);
    failsNaming("b", ranks, 1, "rank 1 stopped");
    areGone(ranks);
  }

  void aHostIsCutOff() {
    const auto ranks = resumed("b", 2);
    QCOMPARE(ranks.size(), 2);
    QVERIFY(Cluster::run("ip", {"link", "set", "glv2", "down"}));
    failsNaming("b", ranks, 1, "host 2 cut off");
    areGone({ranks[0]});
    // There the system notices within a quarter of an hour that nobody answers, or at once when the cable is mended.
    QVERIFY(Cluster::run("ip", {"link", "set", "glv2", "up"}));
    areGone(ranks);
  }

  // mpirun gives up on that side; on the other one nobody is told, and neither a rank nor mpirun's daemon stays.
  void theFirstHostIsCutOff() {
    const auto ranks = resumed("b", 2);
    QCOMPARE(ranks.size(), 2);
    const auto daemon = processStat(ranks[1].process);
    QVERIFY(daemon.has_value());
    const ProcessName around = nameOf(daemon->parent);
    QVERIFY(Cluster::run("ip", {"link", "set", "glv1", "down"}));
    QElapsedTimer clock;
    clock.start();
    areGone(ranks);
    QTRY_VERIFY_WITH_TIMEOUT(!isAlive(around), kSoon);
    qInfo("the first host cut off: nothing is left on the other one after %.1f s",
          static_cast<double>(clock.elapsed()) / 1000);
    QVERIFY(Cluster::run("ip", {"link", "set", "glv1", "up"}));
    failsNaming("b", ranks, 1, "host 1 cut off");
  }

  // What the window's Train does, a terminal does: every step once, and the weights come back.
  void aScriptTrainsWithoutADisplay() {
    m_cluster->close();
    const QString home = m_folder->filePath("home");
    QVERIFY(QDir().mkpath(home + "/.ssh"));
    QVERIFY(QFile::copy(m_cluster->path("up/ssh_config"), home + "/.ssh/config"));
    const auto said = m_cluster->gradloom({"submit", m_folder->path(), "--host", "lab", "--ranks", "2", "--name",
                                           "script", "--set", "epochs=3", "--follow"},
                                          home);
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
    m_cluster->open(laboratory(*m_cluster), options(*m_cluster));
    m_cluster->launcher().attach();
    QCOMPARE(m_cluster->state(id), RunState::finished);
    QCOMPARE(m_cluster->startedWith(id), 2);
    QCOMPARE(m_cluster->step(id), std::int64_t{384});
    QCOMPARE(m_cluster->wrong(id), QString());
  }

  void cancelEndsEveryRank() {
    const auto ranks = resumed("b", 2);
    QCOMPARE(ranks.size(), 2);
    m_cluster->launcher().kill("b");
    QTRY_COMPARE_WITH_TIMEOUT(m_cluster->state("b"), RunState::stopped, kSoon);
    areGone(ranks);
    QCOMPARE(m_cluster->wrong("b"), QString());
  }
};

int main(int argc, char** argv) {
  if (argc == 3 && QByteArray(argv[1]) == "--ide") return otherIde(argc, argv);
  QCoreApplication application(argc, argv);
  HostsClusterTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "hosts_cluster_test.moc"
