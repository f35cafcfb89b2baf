#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "engine/agent/job_folder.h"
#include "engine/base/json.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_lines.h"
#include "launcher/ssh/local_transport.h"

using namespace loom;

// The IDE's own launcher against real hosts: namespaces with an sshd each and mpirun between them, and Slurm
// (cluster.sh).
class ClusterTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<HostStore> m_hosts;
  std::unique_ptr<HostLines> m_lines;
  std::unique_ptr<Launcher> m_launcher;

  bool cluster(const QStringList& words) {
    QProcess script;
    script.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    auto environment = QProcessEnvironment::systemEnvironment();
    environment.insert("OWNER", QString::number(::getpid()));
    script.setProcessEnvironment(environment);
    script.start(GRADLOOM_SOURCE_DIR "/tests/cluster/cluster.sh", words);
    return script.waitForFinished(60000) && script.exitCode() == 0;
  }
  static bool run(const QString& program, const QStringList& words) { return QProcess::execute(program, words) == 0; }
  static bool has(const char* program) {
    return !QStandardPaths::findExecutable(program).isEmpty() ||
           !QStandardPaths::findExecutable(program, {"/usr/sbin", "/sbin"}).isEmpty();
  }

  void open(const Host& host) {
    m_store = std::make_unique<RunStore>(m_folder->filePath("store"));
    m_hosts = std::make_unique<HostStore>(m_folder->filePath("store"));
    if (!m_hosts->find(host.id)) m_hosts->add(host);
    m_lines =
        std::make_unique<HostLines>(*m_hosts, LineOptions{.program = FAKE_LOOM,
                                                          .sshConfig = m_folder->filePath("net/ssh_config"),
                                                          .times = {.pingMs = 500, .silenceMs = 3000, .startMs = 40000},
                                                          .firstWaitMs = 100,
                                                          .longestWaitMs = 500});
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.hosts = m_lines.get()});
  }
  void close() {
    m_launcher.reset();
    m_lines.reset();
    m_hosts.reset();
    m_store.reset();
  }
  Host twoHosts() {
    Host host = hostFromText("10.77.0.1");
    host.id = host.name = "lab";
    host.folder = m_folder->filePath("there");
    host.places = {{"10.77.0.1", 1}, {"10.77.0.2", 1}};
    host.mpirun = {"mpirun",
                   "--mca",
                   "plm_rsh_args",
                   "-F " + m_folder->filePath("net/ssh_config"),
                   "--mca",
                   "btl",
                   "tcp,self",
                   "--mca",
                   "btl_tcp_if_include",
                   "10.77.0.0/24",
                   "--mca",
                   "oob_tcp_if_include",
                   "10.77.0.0/24"};
    return host;
  }
  Job job(const QString& id, const QStringList& overrides, const QString& host) {
    return {.id = id,
            .name = id,
            .project = m_folder->filePath("p.loom"),
            .snapshot = "{}",
            .overrides = overrides,
            .host = host};
  }
  RunState state(const QString& id) { return m_store->find(id)->state; }
  void isWhole(const QString& id, std::int64_t steps) {
    const auto points = m_store->points(id, series::kLoss);
    QCOMPARE(static_cast<std::int64_t>(points.size()), steps);
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
  }

 private Q_SLOTS:
  void init() {
    if (::geteuid() != 0) QSKIP("namespaces and Slurm's daemons need root");
    m_folder = std::make_unique<QTemporaryDir>();
  }
  void cleanup() {
    close();
    if (!m_folder) return;
    cluster({"down", m_folder->filePath("net")});
    cluster({"down", m_folder->filePath("slurm")});
    m_folder.reset();
  }

  void twoHostsThroughEverything() {
    for (const char* each : {"ip", "mpirun", "sshd", "ssh"})
      if (!has(each)) QSKIP(qPrintable(QString("there is no %1 here").arg(each)));
    if (!cluster({"up", m_folder->filePath("net"), "2"})) QSKIP("network namespaces cannot be made here");
    open(twoHosts());
    HostLine& line = *m_lines->line("lab");

    QSignalSpy lines(&line, &HostLine::checkLine), done(&line, &HostLine::checkDone);
    line.check(1 << 20);
    QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 60000);
    QString real;
    for (const auto& each : lines) {
      const auto found = each[0].value<CheckLine>();
      if (found.name == "Real start") real = found.finding + " " + found.why;
    }
    QVERIFY2(real.startsWith("2 of 2 ranks started on 2 machines"), qPrintable(real));

    // Ranks on both, points while they train; the cable is cut and mended; the IDE is closed and opened.
    m_launcher->submit(job("a", {"steps=900", "ms=15"}, "lab"));
    QTRY_VERIFY_WITH_TIMEOUT(m_store->find("a")->step > 20, 30000);
    QVERIFY(run("ip", {"link", "set", "glv1", "down"}));
    QTRY_COMPARE_WITH_TIMEOUT(line.state(), LineState::waiting, 30000);
    QVERIFY(run("ip", {"link", "set", "glv1", "up"}));
    QTRY_COMPARE_WITH_TIMEOUT(line.state(), LineState::online, 30000);
    close();
    open(twoHosts());
    m_launcher->attach();
    // mpirun may have ended the job for its own cut line to host 2: then it goes on from where it stands.
    QTRY_VERIFY_WITH_TIMEOUT(state("a") == RunState::finished || state("a") == RunState::failed, 60000);
    if (state("a") == RunState::failed) {
      isWhole("a", m_store->find("a")->step);
      m_launcher->resume("a");
      QTRY_COMPARE_WITH_TIMEOUT(state("a"), RunState::finished, 60000);
    }
    isWhole("a", 900);

    // A rank that dies takes the job with it, and what was logged is kept; the run goes on on another number of ranks.
    m_launcher->submit(job("b", {"steps=300", "ms=15"}, "lab"));
    QTRY_VERIFY_WITH_TIMEOUT(m_store->find("b")->step > 20, 30000);
    QCOMPARE(::kill(m_store->events("b").front().body["pid"].get<int>(), SIGKILL), 0);
    QTRY_COMPARE_WITH_TIMEOUT(state("b"), RunState::failed, 15000);
    isWhole("b", m_store->find("b")->step);
    Host fewer = *m_hosts->find("lab");
    fewer.places.removeLast();
    m_hosts->change(fewer);
    m_launcher->resume("b");
    QTRY_COMPARE_WITH_TIMEOUT(state("b"), RunState::finished, 60000);
    isWhole("b", 300);

    m_hosts->change(twoHosts());
    m_launcher->submit(job("c", {"hang=1"}, "lab"));
    QTRY_COMPARE_WITH_TIMEOUT(state("c"), RunState::running, 30000);
    m_launcher->kill("c");
    QTRY_COMPARE_WITH_TIMEOUT(state("c"), RunState::stopped, 30000);
  }

  void slurmFromTheQueueToItsTimeLimit() {
    for (const char* each : {"slurmctld", "slurmd", "munged", "sbatch"})
      if (!has(each)) QSKIP(qPrintable(QString("there is no %1 here (package slurm-wlm)").arg(each)));
    qputenv("PATH", qgetenv("PATH") + ":/usr/sbin:/sbin");
    if (!cluster({"slurm", m_folder->filePath("slurm")})) QSKIP("Slurm's daemons cannot be started here");
    qputenv("SLURM_CONF", m_folder->filePath("slurm/slurm.conf").toUtf8());
    Host host = hostFromText("hpc");
    host.kind = HostKind::slurm;
    host.folder = m_folder->filePath("there");
    host.slurm = {.partition = "test", .time = "00:01:00", .signalSeconds = 45, .continuations = 1};
    m_store = std::make_unique<RunStore>(m_folder->filePath("store"));
    m_hosts = std::make_unique<HostStore>(m_folder->filePath("store"));
    m_hosts->add(host);
    m_lines = std::make_unique<HostLines>(*m_hosts, LineOptions{.program = FAKE_LOOM, .transport = [](const SshAsk&) {
                                                                  return std::make_unique<LocalTransport>();
                                                                }});
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.hosts = m_lines.get()});

    QSignalSpy lines(m_lines->line("hpc"), &HostLine::checkLine), done(m_lines->line("hpc"), &HostLine::checkDone);
    m_lines->line("hpc")->check(1 << 20);
    QTRY_COMPARE_WITH_TIMEOUT(done.size(), 1, 60000);
    QString nodes;
    for (const auto& each : lines)
      if (each[0].value<CheckLine>().name == "Compute nodes") nodes = each[0].value<CheckLine>().finding;
    QCOMPARE(nodes, "1 of 1 ranks started on 1 machine");

    // 15 s before Slurm would tell, the time limit's signal comes; the run writes its checkpoint and the continuation
    // ends it.
    m_launcher->submit(job("a", {"steps=1200", "ms=20"}, "hpc"));
    QTRY_VERIFY_WITH_TIMEOUT(m_store->find("a")->step > 5, 60000);
    QTRY_COMPARE_WITH_TIMEOUT(m_store->find("a")->attempt, std::int64_t{2}, 90000);
    QTRY_COMPARE_WITH_TIMEOUT(state("a"), RunState::finished, 90000);
    isWhole("a", 1200);

    m_launcher->submit(job("b", {"hang=1"}, "hpc"));
    QTRY_COMPARE_WITH_TIMEOUT(state("b"), RunState::running, 60000);
    m_launcher->kill("b");
    QTRY_COMPARE_WITH_TIMEOUT(state("b"), RunState::stopped, 60000);
  }
};

QTEST_GUILESS_MAIN(ClusterTest)
#include "cluster_test.moc"
