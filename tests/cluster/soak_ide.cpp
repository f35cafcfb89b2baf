#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QFile>
#include <QSocketNotifier>
#include <QTimer>
#include <iostream>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_lines.h"
#include "tests/cluster/soak.h"

namespace loom::soak {
namespace {

constexpr int kTellMs = 100;

QString q(const Path& path) {
  return QString::fromStdString(path.string());
}

// A host whose program is a small one before `loom`, which lies when it is told to (soak_faults.cpp).
Host hostOf(const Place& place) {
  Host host = hostFromText(place.kind == Kind::slurm ? "10.77.0.254:2222" : "10.77.0.1");
  host.id = host.name = "there";
  host.folder = q(place.there());
  host.stalledAfter = 6;
  if (place.kind == Kind::slurm) {
    host.kind = HostKind::slurm;
    host.slurm = {.partition = "test", .ranksPerNode = 2};
    return host;
  }
  for (int i = 1; i <= 2; ++i) host.places.append({QStringLiteral("10.77.0.%1").arg(i), 1});
  host.mpirun = QStringList{"mpirun", "--mca", "plm_rsh_args", "-F " + q(place.cluster / "up/ssh_config")};
  for (const char* each : {"btl_tcp_if_include", "oob_tcp_if_include"})
    host.mpirun << "--mca" << each << "10.77.0.0/24";
  host.mpirun << "--mca"
              << "btl"
              << "tcp,self";
  return host;
}

class IdeProcess {
 public:
  explicit IdeProcess(const Place& place)
      : m_place(place),
        m_store(q(place.folder / "store")),
        m_hosts(q(place.folder / "store")),
        m_lines(m_hosts, {.program = q(place.folder / "bin/loom"),
                          .sshConfig = q(place.cluster / "up/ssh_config"),
                          .times = {.pingMs = 500, .silenceMs = 4000, .startMs = 30000},
                          .firstWaitMs = 100,
                          .longestWaitMs = 500}),
        m_launcher(m_store, {.program = SOAK_LOOM, .hosts = &m_lines}),
        m_input(STDIN_FILENO, QSocketNotifier::Read) {
    if (place.kind != Kind::local && !m_hosts.find("there")) m_hosts.add(hostOf(place));
    QObject::connect(&m_input, &QSocketNotifier::activated, [this] { read(); });
    QObject::connect(&m_tell, &QTimer::timeout, [this] { tell(); });
    QObject::connect(&m_launcher, &Launcher::failed, [this](const QString& id, const QString& sentence) {
      print({{"warned", id.toStdString()}, {"sentence", sentence.toStdString()}});
    });
    m_tell.start(kTellMs);
    m_launcher.attach();
  }

 private:
  void read() {
    char block[4096];
    const ssize_t got = ::read(STDIN_FILENO, block, sizeof block);
    if (got <= 0) return QCoreApplication::quit();
    m_open.append(block, static_cast<std::size_t>(got));
    for (std::size_t end; (end = m_open.find('\n')) != std::string::npos; m_open.erase(0, end + 1))
      obey(m_open.substr(0, end));
  }

  void obey(const std::string& line) {
    const auto space = line.find(' ');
    const std::string verb = line.substr(0, space);
    const QString run = QString::fromStdString(line.substr(space + 1));
    try {
      if (verb == "submit") {
        QFile project(q(m_place.folder / "p.loom"));
        if (!project.open(QIODevice::ReadOnly)) throwError(ErrorCode::missingFile, "no project");
        m_launcher.submit({.id = run,
                           .name = run,
                           .project = q(m_place.folder / "p.loom"),
                           .snapshot = project.readAll(),
                           .dataFolder = q(m_place.folder),
                           .host = m_place.kind == Kind::local ? QString() : QStringLiteral("there"),
                           .runsFolder = m_place.kind == Kind::local ? q(m_place.disk() / "runs") : QString()});
      }
      if (verb == "resume") m_launcher.resume(run);
      if (verb == "stop") m_launcher.stop(run);
      if (verb == "kill") m_launcher.kill(run);
      if (verb == "check") print({{"checked", run.toStdString()}, {"fault", wrong(run).toStdString()}});
    } catch (const std::exception& error) {
      print({{"refused", line}, {"sentence", error.what()}});
    }
  }

  // Every step of the log once, in order, and the mirror the same bytes as the host's log.
  QString wrong(const QString& run) {
    const RunRecord* const record = m_store.find(run);
    if (!record) return QStringLiteral("the store does not know it");
    const auto points = m_store.points(run, series::kLoss);
    for (std::size_t i = 0; i < points.size(); ++i)
      if (points[i].step != static_cast<std::int64_t>(i + 1))
        return QStringLiteral("place %1 of the store holds step %2").arg(i + 1).arg(points[i].step);
    if (static_cast<std::int64_t>(points.size()) != record->stepsTotal)
      return QStringLiteral("the store shows %1 of %2 steps").arg(points.size()).arg(record->stepsTotal);
    QFile here(record->folder + "/events.jsonl"), there(q(m_place.truth(run.toStdString()).eventsFile()));
    if (!here.open(QIODevice::ReadOnly) || !there.open(QIODevice::ReadOnly)) return QStringLiteral("it has no log");
    return here.readAll() == there.readAll() ? QString() : QStringLiteral("the mirror is not the host's log");
  }

  void tell() {
    for (const RunRecord& run : m_store.runs())
      print({{"run", run.id.toStdString()},
             {"state", toKey(run.state)},
             {"step", run.step},
             {"attempt", run.attempt},
             {"message", run.message.toStdString()},
             {"doubt", m_launcher.doubt(run.id).toStdString()}});
  }
  static void print(const Json& line) {
    std::cout << line.dump(-1, ' ', true, Json::error_handler_t::replace) << std::endl;
    if (!std::cout) QCoreApplication::quit();
  }

  Place m_place;
  RunStore m_store;
  HostStore m_hosts;
  HostLines m_lines;
  Launcher m_launcher;
  QSocketNotifier m_input;
  QTimer m_tell;
  std::string m_open;
};

}  // namespace

const char* toText(Kind kind) {
  constexpr const char* kNames[] = {"local", "hosts", "slurm"};
  return kNames[static_cast<int>(kind)];
}

int ideMain(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  const std::string kind = argv[2];
  const Place place{.kind = kind == "local"   ? Kind::local
                            : kind == "hosts" ? Kind::hosts
                                              : Kind::slurm,
                    .cluster = argv[3],
                    .folder = argv[4]};
  try {
    IdeProcess ide(place);
    return application.exec();
  } catch (const std::exception& error) {
    std::cerr << "ide: " << error.what() << std::endl;
    return 1;
  }
}

Ide::Ide(const Place& place) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) std::abort();
  const std::string cluster = place.cluster.string(), folder = place.folder.string();
  const char* const words[] = {"ide", "--ide", toText(place.kind), cluster.c_str(), folder.c_str(), nullptr};
  const pid_t parent = ::getpid();
  m_process = ::fork();
  if (m_process == 0) {
    // The thread that forked lives as long as its lane does, and so may this.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", const_cast<char* const*>(words));
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  m_in = in[1];
  m_out = out[0];
  m_thread = std::thread([this] { listen(); });
}

Ide::~Ide() {
  ::close(m_in);
  int status = 0;
  for (int tries = 0; m_process > 0 && ::waitpid(m_process, &status, WNOHANG) == 0; ++tries) {
    if (tries == 200) ::kill(m_process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  m_thread.join();
  ::close(m_out);
}

void Ide::kill() {
  ::kill(m_process, SIGKILL);
  ::waitpid(m_process, nullptr, 0);
  m_process = -1;
}

void Ide::say(const std::string& line) const {
  const std::string whole = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(m_in, whole.data(), whole.size());
}

void Ide::listen() {
  std::string open;
  char block[16384];
  for (ssize_t got; (got = ::read(m_out, block, sizeof block)) > 0;) {
    open.append(block, static_cast<std::size_t>(got));
    for (std::size_t end; (end = open.find('\n')) != std::string::npos; open.erase(0, end + 1)) {
      const Json line = Json::parse(open.substr(0, end), nullptr, false);
      if (line.is_object()) take(line);
    }
  }
}

void Ide::take(const Json& line) {
  const std::lock_guard lock(m_mutex);
  if (line.contains("run"))
    m_seen[line["run"]] = {.state = line["state"],
                           .message = line["message"],
                           .doubt = line["doubt"],
                           .step = line["step"],
                           .attempt = line["attempt"]};
  else if (line.contains("checked"))
    m_checked[line["checked"]] = line["fault"];
  else if (std::getenv("GRADLOOM_SOAK_SAY"))
    std::cerr << line.dump() << std::endl;
}

Ide::Seen Ide::seen(const std::string& run) const {
  const std::lock_guard lock(m_mutex);
  const auto found = m_seen.find(run);
  return found == m_seen.end() ? Seen{} : found->second;
}

std::optional<std::string> Ide::checked(const std::string& run) const {
  const std::lock_guard lock(m_mutex);
  const auto found = m_checked.find(run);
  if (found == m_checked.end()) return {};
  return found->second;
}

}  // namespace loom::soak
