#include "launcher/door/door.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <csignal>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/exit_code.h"
#include "launcher/door/terminal.h"
#include "launcher/folder_lock.h"
#include "launcher/local_process.h"
#include "launcher/orders.h"
#include "launcher/ssh/local_transport.h"
#include "tests/patience.h"

using namespace loom;

namespace {

constexpr const char* kProject = R"({"loom": 1,
  "networks": {"main": {
    "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc", "layer": "Linear", "outputs": 2},
              {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "fc"], ["fc", "loss"], ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "points.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": 10, "batch": 4}})";

// A host that wants a password.
class AskingTransport : public LocalTransport {
 public:
  explicit AskingTransport(SshAsk ask) : m_ask(std::move(ask)) {}
  void open() override {
    const auto answer = m_ask({.kind = SshQuestion::Kind::password, .host = "mara@atlas", .text = "Password:"});
    if (!answer || *answer != "open") throw SshError(SshFault::signIn, "not let in");
  }

 private:
  SshAsk m_ask;
};

// A login shell that runs a program of its own.
class ChattyTransport : public LocalTransport {
 public:
  std::unique_ptr<ByteChannel> execute(const QByteArray&) override {
    return LocalTransport::execute("head -c 400000 /dev/zero | tr '\\0' x; sleep 5");
  }
};

}  // namespace

// The verbs against this machine and a host behind a line (this machine's shell in the place of SSH), fake_loom in the
// place of loom.
class DoorTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  DoorOptions m_options;
  QString m_out, m_err;

  QString path(const QString& name) const { return m_folder->filePath(name); }
  void write(const QString& name, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path(name)).absolutePath());
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  static QString contentOf(const QString& file) {
    QFile read(file);
    return read.open(QIODevice::ReadOnly) ? QString::fromUtf8(read.readAll()) : QString();
  }
  // Standard output and error in files meanwhile.
  int door(const QStringList& words) {
    std::fflush(stdout);
    const int out = ::dup(1), err = ::dup(2);
    const auto into = [this](const char* name, int descriptor) {
      const int file = ::open(QFile::encodeName(path(name)).constData(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(file, descriptor);
      ::close(file);
    };
    into("out", 1);
    into("err", 2);
    const int code = runDoor(words, m_options);
    std::fflush(stdout);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::close(out);
    ::close(err);
    m_out = contentOf(path("out"));
    m_err = contentOf(path("err"));
    return code;
  }
  Json json() {
    const QByteArray text = m_out.toUtf8();
    return Json::parse(text.begin(), text.end(), nullptr, false);
  }
  Json runs(const QStringList& more = {}) {
    return door(QStringList{"runs", "--json"} + more) == 0 ? json() : Json::array();
  }
  QString only() { return QString::fromStdString(runs()[0]["id"].get<std::string>()); }
  void addHost(bool bringBest = false) {
    HostStore hosts(m_options.dataFolder);
    Host host = hostFromText("there");
    host.folder = path("base");
    host.bringBest = bringBest;
    hosts.add(host);
  }

 private Q_SLOTS:
  void initTestCase() {
    // Without a terminal, whoever starts this test.
    if (const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC); terminal >= 0) {
      ::ioctl(terminal, TIOCNOTTY);
      ::close(terminal);
    }
  }
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_options = {.dataFolder = path("store"), .program = FAKE_LOOM, .patienceMs = 3000};
    m_options.line = {.program = FAKE_LOOM,
                      .transport = [](const SshAsk&) { return std::make_unique<LocalTransport>(); },
                      .firstWaitMs = 50};
    write("p/p.loom", kProject);
    QByteArray points = "x__0,x__1,x__2,y\n";
    for (int i = 0; i < 20; ++i) points += QByteArray::number(i % 7) + ",1,2," + QByteArray::number(i % 2) + '\n';
    write("p/points.csv", points);
    qunsetenv("FAKE_LOOM");
  }
  void cleanup() {
    for (const Json& each : runs()) {
      RunRecord run;
      JobFile file;
      readJobFile(QString::fromStdString(each["folder"].get<std::string>()), run, file);
      sendSignal({file.process, file.processStart, file.bootId}, SIGKILL);
    }
    m_folder.reset();
  }

  void followsARunHereToItsEnd() {
    qputenv("FAKE_LOOM", "steps=50;model=100");
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--set", "epochs=5", "batch=2", "--follow"}), 0);
    QVERIFY2(m_out.contains("done after 50 steps"), qPrintable(m_out + m_err));
    QVERIFY2(m_out.contains("epoch 1.00 of 5"), qPrintable(m_out));
    QVERIFY2(m_out.contains("model     " + path("p/runs/")), qPrintable(m_out));
    const Json run = runs()[0];
    QCOMPARE(QString::fromStdString(run["state"]), "finished");
    QCOMPARE(QString::fromStdString(run["name"]), "p-1");
    QVERIFY(run["model"]["here"].get<bool>() && QFile::exists(QString::fromStdString(run["model"]["path"])));
    RunRecord record;
    JobFile file;
    readJobFile(QString::fromStdString(run["folder"]), record, file);
    QCOMPARE(file.overrides, QStringList({"epochs=5", "batch=2"}));
    QCOMPARE(door({"fetch", "p-1"}), 0);  // it is here already: its path
    QVERIFY2(m_out.trimmed().endsWith("step-50.safetensors"), qPrintable(m_out + m_err));
  }

  void withoutFollowItReturnsWhenTheRunBegan() {
    qputenv("FAKE_LOOM", "steps=4000;ms=5");
    QCOMPARE(door({"submit", path("p/p.loom"), "--host", "local", "--name", "long", "--json"}), 0);
    const Json made = json();
    QCOMPARE(QString::fromStdString(made["name"]), "long");
    const QString id = QString::fromStdString(made["run"]);
    // Another one waits its turn and says so; Ctrl+C takes nothing away.
    QTimer::singleShot(700, [] { std::raise(SIGINT); });
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--name", "second"}), kExitDetached);
    QVERIFY2(m_out.contains("Waits its turn: 1 run before it") && m_out.contains("second has not begun"),
             qPrintable(m_out));
    QCOMPARE(door({"stop", "second"}), 0);
    QTimer::singleShot(700, [] { std::raise(SIGINT); });
    QCOMPARE(door({"follow", "long"}), kExitDetached);
    QVERIFY2(m_out.contains("long goes on without this terminal") && m_out.contains("gradloom stop " + id),
             qPrintable(m_out));
    QCOMPARE(door({"stop", id.left(id.size() - 1)}), 0);
    QVERIFY2(m_out.contains("stopped after"), qPrintable(m_out));
    QCOMPARE(QString::fromStdString(runs({"--filter", "name == long"})[0]["state"]), "stopped");
    QCOMPARE(door({"stop", id}), 2);
    QVERIFY2(m_err.contains("long is stopped: it cannot be stopped now"), qPrintable(m_err));
  }

  // Each verb may be the first to see it.
  void aListThatIsLostIsReadAgain_data() {
    QTest::addColumn<QString>("damage");
    for (const char* each : {"deleted", "emptied", "zeroed"}) QTest::newRow(each) << each;
  }
  void aListThatIsLostIsReadAgain() {
    QFETCH(const QString, damage);
    qputenv("FAKE_LOOM", "steps=20;ms=1");
    for (const char* name : {"one", "two"})
      QCOMPARE(door({"submit", path("p"), "--host", "local", "--name", name, "--follow"}), 0);
    {
      RunStore store(m_options.dataFolder);
      store.change(store.runs().front().id, [](RunRecord& run) { run.note = "mine", run.tags = QStringList{"good"}; });
    }
    for (const bool byFollow : {false, true}) {
      QFile file(path("store/runs.db"));
      for (const char* end : {"-wal", "-shm"}) QFile::remove(file.fileName() + end);
      if (damage == "deleted") {
        QVERIFY(file.remove());
      } else {
        QVERIFY(file.open(QIODevice::ReadWrite));
        if (damage == "emptied")
          file.resize(0);
        else
          file.write(QByteArray(4096, '\0'));
        file.close();
      }
      if (byFollow) {
        const int code = door({"follow", "two"});
        QVERIFY2(code == 0, qPrintable(m_err));
        QVERIFY2(m_err.contains("The list of runs"), qPrintable(m_err));
      }
      const Json list = runs();
      if (!byFollow) QVERIFY2(m_err.contains("The list of runs"), qPrintable(m_err));
      QCOMPARE(list.size(), std::size_t{2});
      for (const Json& run : list) {
        QCOMPARE(QString::fromStdString(run["state"]), "finished");
        QCOMPARE(run["step"].get<int>(), 20);
      }
      QCOMPARE(QString::fromStdString(list[0]["name"]), "one");
      QCOMPARE(QString::fromStdString(list[0]["note"]), "mine");
      QCOMPARE(list[0]["tags"].size(), std::size_t{1});
      QCOMPARE(runs().size(), std::size_t{2});
      QVERIFY2(m_err.isEmpty(), qPrintable(m_err));
    }
  }

  void aHostTrainsAndItsModelComesByAskingForIt() {
    addHost();
    qputenv("FAKE_LOOM", "steps=40;ms=3;model=3000000");
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--follow"}), 0);
    QVERIFY2(m_out.contains("done after 40 steps"), qPrintable(m_out + m_err));
    QVERIFY2(m_out.contains("model     on there at " + path("base/runs/")) && m_out.contains("gradloom fetch"),
             qPrintable(m_out));
    const Json before = runs()[0];
    QVERIFY(!before["model"]["here"].get<bool>());
    QCOMPARE(QString::fromStdString(before["host"]), "there");
    QCOMPARE(door({"fetch", only(), "--json"}), 0);
    const QString model = QString::fromStdString(json()["model"]);
    QCOMPARE(contentOf(model), contentOf(path("base/runs/" + only() + "/checkpoints/step-40.safetensors")));
    QVERIFY(!contentOf(model).isEmpty());
    QVERIFY(runs()[0]["model"]["here"].get<bool>());
    QVERIFY(!QFile::exists(model + ".part"));
  }

  // What so many ranks cannot do is said before anything is uploaded.
  void ranksThatCannotAddGradientsSoAreRefused() {
    addHost();
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--ranks", "3", "--set", "reduction=torus"}),
             exitCode(ErrorCode::badProject));
    QVERIFY2(m_err.contains("3 is a prime; start 4 ranks, or set reduction to ring"), qPrintable(m_err));
    QVERIFY(runs().empty());
  }

  void aHostThatSaysSoBringsTheModelBack() {
    addHost(true);
    qputenv("FAKE_LOOM", "steps=20;ms=3;model=5000");
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--follow"}), 0);
    QVERIFY2(m_out.contains("model     " + path("p/runs/")) && !m_out.contains("gradloom fetch"),
             qPrintable(m_out + m_err));
  }

  void aRunOfAHostGoesOnHere() {
    addHost();
    qputenv("FAKE_LOOM", "steps=400;ms=5;model=5000");
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 0);
    QTest::qWait(500);  // it goes on meanwhile, and nobody looks
    QCOMPARE(door({"stop", only()}), 0);
    QCOMPARE(QString::fromStdString(runs()[0]["state"]), "stopped");
    QCOMPARE(door({"resume", only(), "--here", "--follow"}), 0);
    QVERIFY2(m_out.contains("done after 400 steps"), qPrintable(m_out + m_err));
    QCOMPARE(QString::fromStdString(runs()[0]["host"]), "local");
  }

  void aRunGoesOnOnAHostByItsName() {
    addHost();
    qputenv("FAKE_LOOM", "steps=400;ms=5;model=5000");
    QCOMPARE(door({"submit", path("p"), "--host", "local"}), 0);
    QTest::qWait(500);  // it goes on meanwhile, and nobody looks
    QCOMPARE(door({"stop", only()}), 0);
    QCOMPARE(door({"resume", only(), "--here", "--host", "there"}), 2);
    QCOMPARE(door({"resume", only(), "--ranks", "1"}), 2);
    QVERIFY2(m_err.contains("--ranks goes with --host"), qPrintable(m_err));
    QCOMPARE(door({"resume", only(), "--host", "atlas"}), 2);
    QVERIFY2(m_err.contains("there are local, there"), qPrintable(m_err));
    QCOMPARE(door({"resume", only(), "--host", "there", "--ranks", "9"}), 2);
    QVERIFY2(m_err.contains("9 ranks are asked for"), qPrintable(m_err));
    QCOMPARE(QString::fromStdString(runs()[0]["state"]), "stopped");
    QCOMPARE(QString::fromStdString(runs()[0]["host"]), "local");
    QCOMPARE(door({"resume", only(), "--host", "there", "--follow"}), 0);
    QVERIFY2(m_out.contains("done after 400 steps"), qPrintable(m_out + m_err));
    QCOMPARE(QString::fromStdString(runs()[0]["host"]), "there");
    QCOMPARE(runs()[0]["attempt"].get<int>(), 2);
    // One that has written nothing to go on from.
    qputenv("FAKE_LOOM", "steps=4000;ms=5");
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--name", "bare"}), 0);
    QCOMPARE(door({"stop", "bare"}), 0);
    QCOMPARE(door({"resume", "bare", "--host", "local"}), 2);
    QVERIFY2(m_err.contains("bare has written no checkpoint yet"), qPrintable(m_err));
  }

  void stopsAndGoesOnOnAHost() {
    addHost();
    qputenv("FAKE_LOOM", "steps=600;ms=5");
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 0);
    QVERIFY2(m_out.contains("gradloom follow"), qPrintable(m_out));
    QTest::qWait(500);  // it goes on meanwhile, and nobody looks
    QCOMPARE(door({"stop", "p-1"}), 0);
    qputenv("FAKE_LOOM", "steps=100;ms=1");
    QCOMPARE(door({"resume", "p-1", "--follow"}), 0);
    const Json run = runs()[0];
    QCOMPARE(QString::fromStdString(run["state"]), "finished");
    QCOMPARE(run["attempt"].get<int>(), 2);
  }

  // A scratch folder was purged: said, and a way out that keeps what is here.
  void aRunWhoseFolderIsGoneIsGivenUpAndGoesOnHere() {
    addHost();
    qputenv("FAKE_LOOM", "steps=4000;ms=5;model=1000");
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 0);
    const QString id = only(), folder = QString::fromStdString(runs()[0]["folder"]);
    QTRY_VERIFY(QFile::exists(path("base/runs/" + id + "/checkpoints/best.json")));
    QCOMPARE(door({"fetch", id, "--json"}), 0);
    QVERIFY2(QFile::exists(QString::fromStdString(json()["model"])), "of a run that still trains");
    const Json process = JobFolder(path("base/runs/" + id).toStdString()).process();
    ::kill(static_cast<pid_t>(process["process"].get<int>()), SIGKILL);
    QTRY_VERIFY(!RunFolder{path("base/runs/" + id).toStdString()}.running());
    QVERIFY(QDir(path("base/runs/" + id)).removeRecursively());
    m_options.patienceMs = 500;
    QCOMPARE(door({"follow", id}), 41);
    QVERIFY2(m_out.contains("no longer there") && m_err.contains("gradloom give-up " + id), qPrintable(m_out + m_err));
    QCOMPARE(door({"stop", id}), 41);
    QCOMPARE(door({"give-up", id}), 0);
    QCOMPARE(QString::fromStdString(runs()[0]["state"]), "failed");
    qputenv("FAKE_LOOM", "steps=20;ms=1");
    // Where a new best replaced the one that was being fetched, the newest came in its place: then nothing is missing.
    const bool isWhole = QFile::exists(folder + "/checkpoints/last.json");
    QCOMPARE(door({"resume", id, "--here", "--follow"}), 0);
    QVERIFY2(isWhole || m_err.contains("newest checkpoint that is here"), qPrintable(m_err));
    QCOMPARE(QString::fromStdString(runs()[0]["host"]), "local");
  }

  // What another attempt said of its end is not this one's.
  void anEarlierEndIsNotToldAgain() {
    qputenv("FAKE_LOOM", "steps=4000;ms=5");
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--name", "a"}), 0);
    QTRY_VERIFY(runs()[0]["step"].get<int>() > 20);
    QCOMPARE(door({"stop", "a"}), 0);
    QVERIFY2(m_out.contains("stopped after"), qPrintable(m_out));
    QCOMPARE(door({"resume", "a"}), 0);
    QCOMPARE(door({"stop", "a", "--kill"}), 0);
    QVERIFY2(m_out.contains("Killed at step") && !m_out.contains("stopped after"), qPrintable(m_out));
  }

  void faultsHaveTheExitCodesOfLoom() {
    addHost();
    QCOMPARE(door({"submit", path("nowhere"), "--host", "local"}), 21);
    QCOMPARE(door({"submit", path("p")}), 2);
    QVERIFY(m_err.contains("--host is missing"));
    QCOMPARE(door({"submit", path("p"), "--host", "atlas"}), 2);
    QVERIFY2(m_err.contains("there are local, there"), qPrintable(m_err));
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--ranks", "many"}), 2);
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--ranks", "9"}), 41);
    QVERIFY2(m_err.contains("9 ranks are asked for"), qPrintable(m_err));
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--set", "batsh=3"}), 10);
    QVERIFY2(m_err.contains("batsh"), qPrintable(m_err));
    QCOMPARE(door({"submit", path("p"), "--hots", "local"}), 2);
    write("p/q.loom", kProject);
    QCOMPARE(door({"submit", path("p"), "--host", "local"}), 2);
    QVERIFY2(m_err.contains("p.loom, q.loom"), qPrintable(m_err));
    QCOMPARE(door({"stop", "nobody"}), 2);
    QCOMPARE(door({"hosts", "check"}), 2);
    qputenv("FAKE_LOOM", "fail=the loss is no number;code=diverged");
    QCOMPARE(door({"submit", path("p/p.loom"), "--host", "there", "--follow"}), 50);
    QVERIFY2(m_err.contains("the loss is no number"), qPrintable(m_err));
  }

  void aHostThatIsNotReachedIsSaid() {
    addHost();
    m_options.line.transport = [](const SshAsk&) -> std::unique_ptr<HostTransport> {
      throw SshError(SshFault::unreachable, "no route to host");
    };
    m_options.patienceMs = 300;
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 41);
    QVERIFY2(m_err.contains("no route to host") && m_err.contains("begins when its host is reached"),
             qPrintable(m_err));
    QCOMPARE(door({"hosts", "check", "there", "--json"}), 41);
    QVERIFY(!json()["ok"].get<bool>());
  }

  void aPasswordWithoutATerminalIsRefused() {
    addHost();
    m_options.line.transport = [](const SshAsk& ask) { return std::make_unique<AskingTransport>(ask); };
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 2);
    QVERIFY2(m_err.contains("mara@atlas asks for a password") && m_err.contains("no terminal"), qPrintable(m_err));
    QCOMPARE(door({"hosts", "check", "there"}), 2);
  }

  // The line is tried again and again, and breaks each time: that is no being reached.
  void aLineThatBreaksAtEachTryEndsThePatience() {
    addHost();
    m_options.line.transport = [](const SshAsk&) { return std::make_unique<ChattyTransport>(); };
    m_options.line.longestWaitMs = 50;
    m_options.patienceMs = 1500;
    QElapsedTimer clock;
    clock.start();
    QCOMPARE(door({"submit", path("p"), "--host", "there"}), 41);
    QVERIFY2(m_err.contains("login shell") && clock.elapsed() < 15000, qPrintable(m_err));
  }

  // A run that waits has nobody who could answer; who submits behind it is asked.
  void aPasswordIsAskedBehindARunThatWaits() {
    addHost();
    m_options.line.transport = [](const SshAsk& ask) { return std::make_unique<AskingTransport>(ask); };
    m_options.patienceMs = 500;
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--name", "first"}), 2);  // no terminal
    QCOMPARE(door({"submit", path("p"), "--host", "there", "--name", "second"}), 2);
    QVERIFY2(m_err.contains("asks for a password"), qPrintable(m_err));
  }

  // What a host or a log says commands no terminal.
  void nothingForeignReachesTheTerminalAsItIs() {
    qputenv("FAKE_LOOM", "steps=40;ms=20");
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--json"}), 0);
    const QString folder = QString::fromStdString(runs()[0]["folder"].get<std::string>());
    QTimer::singleShot(100, this, [folder] {
      QFile log(folder + "/events.jsonl");
      if (!log.open(QIODevice::Append)) return;
      const Json none = Json::object(), metrics = {{"\x1b[2J", none}};
      Json warning = {{"kind", "warning"}, {"message", "\x1b]0;pwned\x07" + std::string(100000, 'x')}},
           step = {{"kind", "step"}, {"step", none}, {"loss", none}, {"samples", "x"}, {"metrics", metrics}},
           epoch = {{"kind", "epoch"}, {"epoch", 1}, {"loss", none}, {"metrics", metrics}};
      int sequence = 100000;
      for (Json* each : {&warning, &step, &epoch}) {
        (*each)["v"] = (*each)["attempt"] = 1;
        (*each)["seq"] = sequence++;
        log.write(QByteArray::fromStdString(each->dump()) + '\n');
      }
    });
    QCOMPARE(door({"follow", only()}), 0);
    QVERIFY2(m_out.contains("pwned") && !m_out.contains('\x1b') && !m_out.contains('\x07'),
             qPrintable(m_out.left(2000)));
    QVERIFY2(m_out.size() < 20000, qPrintable(QString::number(m_out.size())));
    addHost();
    m_options.line.transport = [](const SshAsk&) -> std::unique_ptr<HostTransport> {
      throw SshError(SshFault::refused, "go away\x1b[2J" + std::string(100000, 'y'));
    };
    QCOMPARE(door({"hosts", "check", "there"}), 41);
    QVERIFY(m_out.contains("go away") && !m_out.contains("\x1b[2J") && m_out.size() < 20000);
  }

  void aPasswordIsTypedUnseen() {
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      const auto answer =
          askOnTerminal({.kind = SshQuestion::Kind::password, .host = "mara@atlas", .text = "Password:"});
      ::_exit(answer && *answer == "open sesame" ? 7 : 8);
    }
    QByteArray seen;
    const auto readUntil = [&](const QByteArray& end) {
      char c = 0;
      while (!seen.contains(end) && ::read(terminal, &c, 1) == 1) seen += c;
    };
    readUntil("Password: ");
    termios now{};
    for (int i = 0; i < 500 && (::tcgetattr(terminal, &now), now.c_lflag & ECHO); ++i) QTest::qWait(10);
    QVERIFY(!(now.c_lflag & ECHO));
    QCOMPARE(::write(terminal, "open sesame\n", 12), ssize_t{12});
    int status = 0;
    readUntil("never");
    ::waitpid(child, &status, 0);
    ::close(terminal);
    QCOMPARE(WEXITSTATUS(status), 7);
    QVERIFY2(!seen.contains("sesame"), seen.constData());
  }

  void listsAndAddsHosts() {
    QCOMPARE(door({"hosts", "add", "mara@atlas:2222", "--name", "lab", "--place", "a01=8", "--place", "a02=8",
                   "--bring-best", "--key", "~/.ssh/lab", "--system-ssh"}),
             0);
    QCOMPARE(door({"hosts", "--json"}), 0);
    const Json host = json()[0];
    QCOMPARE(QString::fromStdString(host["name"]), "lab");
    QCOMPARE(host["total_ranks"].get<int>(), 16);
    QVERIFY(host["bring_best"].get<bool>());
    QCOMPARE(QString::fromStdString(host["key"]), "~/.ssh/lab");
    QVERIFY(host["system_ssh"].get<bool>());
    QCOMPARE(door({"hosts"}), 0);
    QVERIFY2(m_out.contains("mara@atlas:2222") && m_out.contains("16 ranks"), qPrintable(m_out));
    QCOMPARE(door({"hosts", "add", "mara@atlas", "--name", "lab"}), 2);
    QVERIFY2(m_err.contains("another host is called 'lab'"), qPrintable(m_err));
    QCOMPARE(door({"hosts", "add", "a b"}), 2);
    addHost();
    QCOMPARE(door({"hosts", "check", "there"}), 0);  // this machine's shell answers in its place
    QVERIFY2(m_out.contains("ok  SSH"), qPrintable(m_out));
  }

  void theFilterRefusesUnknownNames() {
    qputenv("FAKE_LOOM", "steps=5");
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--follow"}), 0);
    QCOMPARE(door({"runs", "--filter", "stpe > 1"}), 0);  // it told no settings: its names are not known
    QCOMPARE(door({"runs", "--filter", "state == runing"}), 2);
    QVERIFY2(m_err.contains("'runing' is no state"), qPrintable(m_err));
    QCOMPARE(runs({"--filter", "state == finished and step >= 5"}).size(), std::size_t{1});
    QCOMPARE(runs({"--filter", "step > 5"}).size(), std::size_t{0});
  }

  void helpOfEachVerb() {
    for (const char* verb : {"submit", "runs", "follow", "stop", "resume", "fetch", "hosts"}) {
      QVERIFY(isDoorVerb(verb));
      QVERIFY(doorVerbs().contains(verb));
      QCOMPARE(door({verb, "--help"}), 0);
      QVERIFY2(m_out.startsWith(QStringLiteral("Usage: gradloom %1 [options]").arg(verb)), qPrintable(m_out));
    }
    QVERIFY(!isDoorVerb("project.loom"));
  }

  // A window is open on the same data folder: it carries out what the terminal asks for, and one that opens later takes
  // over.
  void anOpenWindowCarriesItOut() {
    addHost();
    qputenv("FAKE_LOOM", "steps=60;ms=5;model=100");
    QDir().mkpath(m_options.dataFolder);
    {
      FolderLock lock(m_options.dataFolder);
      QVERIFY(lock.take());
      RunStore store(m_options.dataFolder);
      HostStore hosts(m_options.dataFolder);
      HostLines lines(hosts, m_options.line);
      Models models(store, &lines);
      Launcher launcher(store, {.program = FAKE_LOOM, .hosts = &lines});
      OrderDesk desk(m_options.dataFolder, launcher, store, hosts, lines, models);
      QCOMPARE(door({"submit", path("p"), "--host", "there", "--follow"}), 0);
      QVERIFY2(m_out.contains("takes it over") && m_out.contains("done after 60 steps"), qPrintable(m_out + m_err));
      QCOMPARE(store.runs().size(), 1);
      QCOMPARE(store.runs()[0].state, RunState::finished);
      QCOMPARE(door({"fetch", store.runs()[0].id}), 0);
      QCOMPARE(door({"stop", store.runs()[0].id}), 2);
      QVERIFY2(m_err.contains("it cannot be stopped now"), qPrintable(m_err));
      QCOMPARE(door({"hosts", "add", "mara@atlas"}), 0);
      QCOMPARE(hosts.hosts().size(), 2);
    }
    // The terminal keeps the folder; a window opens and asks for it.
    qputenv("FAKE_LOOM", "steps=400;ms=5");
    std::unique_ptr<FolderLock> lock;
    std::unique_ptr<RunStore> store;
    std::unique_ptr<HostStore> hosts;
    std::unique_ptr<HostLines> lines;
    std::unique_ptr<Models> models;
    std::unique_ptr<Launcher> launcher;
    std::unique_ptr<OrderDesk> desk;
    std::unique_ptr<OrderSlip> slip;
    QTimer window;
    window.setInterval(20);
    bool wanted = false;
    connect(&window, &QTimer::timeout, this, [&] {
      if (lock) return;
      if (!std::exchange(wanted, true))
        slip = std::make_unique<OrderSlip>(m_options.dataFolder, Json{{"order", "yield"}});
      auto mine = std::make_unique<FolderLock>(m_options.dataFolder);
      if (!mine->take()) return;
      lock = std::move(mine);
      slip.reset();
      store = std::make_unique<RunStore>(m_options.dataFolder);
      hosts = std::make_unique<HostStore>(m_options.dataFolder);
      lines = std::make_unique<HostLines>(*hosts, m_options.line);
      models = std::make_unique<Models>(*store, lines.get());
      launcher = std::make_unique<Launcher>(*store, LauncherOptions{.program = FAKE_LOOM, .hosts = lines.get()});
      desk = std::make_unique<OrderDesk>(m_options.dataFolder, *launcher, *store, *hosts, *lines, *models);
      launcher->attach();
    });
    QTimer::singleShot(800, &window, qOverload<>(&QTimer::start));
    QCOMPARE(door({"submit", path("p"), "--host", "local", "--name", "handed", "--follow"}), 0);
    QVERIFY(lock);
    QVERIFY2(m_out.contains("done after 400 steps"), qPrintable(m_out + m_err));
    QCOMPARE(store->runs().last().state, RunState::finished);
    QCOMPARE(store->runs().last().attempt, std::int64_t{1});
  }
};

QTEST_GUILESS_MAIN(DoorTest)
#include "door_test.moc"
