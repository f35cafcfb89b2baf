#pragma once
// The launcher and a host behind a line: this machine's shell in the place of SSH, fake_loom in the place of loom.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <set>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_lines.h"
#include "launcher/ssh/local_transport.h"

namespace loom {

// Lets the test cut the line, hold it still, or spoil what comes over it.
struct Line {
  std::atomic<bool> cut{false}, dead{false}, silent{false}, garbage{false};
  std::atomic<int> opened{0};
  QByteArray before;  // put before every command: what a login shell says
};

class SpoiledChannel : public ByteChannel {
 public:
  SpoiledChannel(std::unique_ptr<ByteChannel> inner, Line& line) : m_inner(std::move(inner)), m_line(line) {}
  int descriptor() const override { return m_inner->descriptor(); }
  QByteArray read() override {
    check();
    if (m_line.silent) return {};
    QByteArray bytes = m_inner->read();
    if (!bytes.isEmpty() && m_line.garbage.exchange(false)) bytes += "slurmstepd: error: what is this";
    return bytes;
  }
  qint64 write(const char* data, qint64 size) override {
    check();
    return m_line.silent ? 0 : m_inner->write(data, size);
  }
  void closeInput() override { m_inner->closeInput(); }
  bool ended() const override { return !m_line.silent && m_inner->ended(); }
  std::optional<int> exitCode() const override { return m_inner->exitCode(); }
  QByteArray complaint() const override { return m_inner->complaint(); }

 private:
  void check() {
    if (m_line.cut.exchange(false)) throw SshError(SshFault::unreachable, "the cable was cut");
  }
  std::unique_ptr<ByteChannel> m_inner;
  Line& m_line;
};

class SpoiledTransport : public LocalTransport {
 public:
  explicit SpoiledTransport(Line& line) : m_line(line) {}
  void open() override {
    ++m_line.opened;
    if (m_line.dead) throw SshError(SshFault::unreachable, "no route to host");
  }
  std::unique_ptr<ByteChannel> execute(const QByteArray& command) override {
    return std::make_unique<SpoiledChannel>(LocalTransport::execute(m_line.before + command), m_line);
  }

 private:
  Line& m_line;
};

class RemoteFixture : public QObject {
 protected:
  std::unique_ptr<QTemporaryDir> m_folder;
  Line m_line;
  Host m_host;
  LineOptions m_options;
  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<HostStore> m_hosts;
  std::unique_ptr<HostLines> m_lines;
  std::unique_ptr<Launcher> m_launcher;

  void open() {
    m_store = std::make_unique<RunStore>(m_folder->filePath("store"));
    m_hosts = std::make_unique<HostStore>(m_folder->filePath("store"));
    if (!m_hosts->find("there")) m_hosts->add(m_host);
    m_lines = std::make_unique<HostLines>(*m_hosts, m_options);
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.program = FAKE_LOOM, .hosts = m_lines.get()});
  }
  void close() {
    m_launcher.reset();
    m_lines.reset();
    m_hosts.reset();
    m_store.reset();
  }
  Job job(const QString& id, const QStringList& overrides) {
    return {.id = id,
            .name = id,
            .project = m_folder->filePath("p.loom"),
            .snapshot = R"({"loom":1,"datasets":{"training":{"csv":"t w;o.csv"}}})",
            .dataFolder = m_folder->path(),
            .overrides = overrides,
            .host = "there"};
  }
  RunState state(const QString& id) { return m_store->find(id)->state; }
  QString message(const QString& id) { return m_store->find(id)->message; }
  QString runThere(const QString& id) { return m_folder->filePath("there/runs/" + id); }
  HostLine& line() { return *m_lines->line("there"); }
  // Every step once, none missing, and the mirror the same bytes as the host's.
  void isWhole(const QString& id, int steps) {
    const auto points = m_store->points(id, series::kLoss);
    QCOMPARE(points.size(), static_cast<std::size_t>(steps));
    for (std::size_t i = 0; i < points.size(); ++i) QCOMPARE(points[i].step, static_cast<std::int64_t>(i + 1));
    QFile here(m_store->find(id)->folder + "/events.jsonl"), there(runThere(id) + "/events.jsonl");
    QVERIFY(here.open(QIODevice::ReadOnly) && there.open(QIODevice::ReadOnly));
    QCOMPARE(here.readAll(), there.readAll());
  }

  void setUp() {
    m_folder = std::make_unique<QTemporaryDir>();
    QFile csv(m_folder->filePath("t w;o.csv"));
    QVERIFY(csv.open(QIODevice::WriteOnly));
    csv.write("x,y\n1,0\n2,1\n");
    csv.close();
    m_line.cut = m_line.dead = m_line.silent = m_line.garbage = false;
    m_line.opened = 0;
    m_line.before.clear();
    m_host = hostFromText("there");
    m_host.folder = m_folder->filePath("there");
    m_options = {.program = FAKE_LOOM,
                 .transport = [this](const SshAsk&) { return std::make_unique<SpoiledTransport>(m_line); },
                 .times = {.pingMs = 200, .silenceMs = 1500, .startMs = 20000},
                 .firstWaitMs = 50,
                 .longestWaitMs = 200};
    open();
  }
  void tearDown() {
    m_line.silent = false;
    for (const RunRecord& run : m_store->runs()) {
      const qint64 process = JobFolder(runThere(run.id).toStdString()).process().value("process", std::int64_t{0});
      if (process > 0) ::kill(static_cast<pid_t>(process), SIGKILL);
    }
    close();
    m_folder.reset();
  }
};

}  // namespace loom
