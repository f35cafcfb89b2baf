#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/safetensors.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_answers.h"
#include "launcher/remote/host_lines.h"
#include "launcher/remote/models.h"
#include "tests/launcher/sshd.h"
#include "tests/patience.h"

using namespace loom;

namespace {

// Steps of some milliseconds: a run of some seconds can be stopped in between.
constexpr const char* kProject = R"({"loom": 1,
  "networks": {"main": {
    "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 1024},
              {"id": "drop", "layer": "Dropout"}, {"id": "fc2", "layer": "Linear", "outputs": 1024},
              {"id": "relu", "layer": "ReLU"}, {"id": "fc3", "layer": "Linear", "outputs": 2},
              {"id": "y", "layer": "Input", "shape": [1], "type": "label"}, {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "fc1"], ["fc1", "drop"], ["drop", "fc2"], ["fc2", "relu"], ["relu", "fc3"], ["fc3", "loss"], ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "train.csv"}, "validation": {"csv": "validation.csv"}},
  "training": {"network": "main", "dataset": "training", "validation": "validation", "epochs": 10, "batch": 4, "threads": 1,
               "optimizer": {"name": "Momentum", "learning_rate": 0.01}, "schedule": {"name": "Cosine"}}})";

constexpr int kPatience = 180000, kRows = 800, kSteps = 10 * kRows / 4;

QByteArray rows(int count, int seed) {
  QByteArray text = "x__0,x__1,x__2,y\n";
  for (int i = 0; i < count; ++i)
    text += QByteArray::number((i * 7 + seed) % 11) + ',' + QByteArray::number(i % 5) + ',' +
            QByteArray::number(i % 3) + ',' + QByteArray::number((i + seed) % 2) + '\n';
  return text;
}

}  // namespace

// The real engine over a real sshd: begun on one host, ended on another, it is the run that was never stopped.
class MovedSshTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<Sshd> m_sshd;
  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<HostStore> m_hosts;
  std::unique_ptr<HostLines> m_lines;
  std::unique_ptr<Launcher> m_launcher;

  QString path(const QString& name) const { return m_folder->filePath(name); }
  void write(const QString& name, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path(name)).absolutePath());
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }
  static QByteArray contentOf(const QString& file) {
    QFile read(file);
    return read.open(QIODevice::ReadOnly) ? read.readAll() : QByteArray("cannot be read");
  }
  void addHost(const QString& name, const QString& dataFolder = {}) {
    Host host = hostFromText("there");
    host.id = host.name = name;
    host.folder = path(name);
    host.dataFolder = dataFolder;
    m_hosts->add(host);
  }
  void train(const QString& id, const QString& host) {
    m_launcher->submit({.id = id,
                        .name = id,
                        .project = path("p/p.loom"),
                        .snapshot = kProject,
                        .dataFolder = path("p"),
                        .host = host});
  }
  RunRecord run(const QString& id) { return *m_store->find(id); }
  void ends(const QString& id, RunState state) {
    QTRY_VERIFY_WITH_TIMEOUT(!isLive(run(id).state) && run(id).state != RunState::queued, kPatience);
    QVERIFY2(run(id).state == state, qPrintable(run(id).message));
    QTRY_COMPARE(m_launcher->running(), 0);
  }
  Json started(const QString& id) {
    Json last = Json::object();
    for (const Event& each : m_store->events(id))
      if (each.kind == "started") last = each.body;
    return last;
  }
  static Json pointer(const QString& folder, const char* name) {
    return Json::parse(contentOf(folder + "/checkpoints/" + name).toStdString(), nullptr, false);
  }
  // Weights and the optimizer's state; the position beside them tells when it was written.
  static void haveTheSameWeights(const QString& one, const QString& other, const char* name) {
    const auto file = [name](const QString& folder) {
      return TensorFile((folder + "/checkpoints/").toStdString() + pointer(folder, name)["file"].get<std::string>());
    };
    const TensorFile a = file(one), b = file(other);
    QCOMPARE(pointer(one, name)["step"].get<int>(), pointer(other, name)["step"].get<int>());
    QCOMPARE(a.tensors().size(), b.tensors().size());
    QVERIFY(a.tensors().size() >= 12);
    for (const TensorFile::Tensor& each : a.tensors()) {
      const TensorFile::Tensor* const same = b.find(each.name);
      QVERIFY2(same && same->values.size() == each.values.size(), each.name.c_str());
      QVERIFY2(std::memcmp(each.values.data(), same->values.data(), each.values.size_bytes()) == 0, each.name.c_str());
    }
  }

 private Q_SLOTS:
  void initTestCase() {
    if (const QString why = Sshd::why(); !why.isEmpty()) QSKIP(qPrintable(why));
  }
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_sshd = std::make_unique<Sshd>();
    write("p/p.loom", kProject);
    write("p/train.csv", rows(kRows, 1));
    write("p/validation.csv", rows(200, 2));
    m_store = std::make_unique<RunStore>(path("store"));
    m_hosts = std::make_unique<HostStore>(path("store"));
    m_lines = std::make_unique<HostLines>(
        *m_hosts,
        LineOptions{
            .program = LOOM_PROGRAM, .sshConfig = m_sshd->clientConfig(), .firstWaitMs = 100, .longestWaitMs = 400});
    connect(m_lines.get(), &HostLines::question, this, [this](const QString& id, int number, const SshQuestion&) {
      m_lines->line(id)->answer(number, QStringLiteral("yes"));
    });
    m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.program = LOOM_PROGRAM, .hosts = m_lines.get()});
  }
  void cleanup() {
    if (m_launcher)
      for (const RunRecord& each : m_store->runs())
        if (isLive(each.state)) m_launcher->kill(each.id);
    if (m_launcher) QTRY_COMPARE_WITH_TIMEOUT(m_launcher->running(), 0, kPatience);
    m_launcher.reset();
    m_lines.reset();
    m_hosts.reset();
    m_store.reset();
    m_sshd.reset();
    m_folder.reset();
  }

  // Weights and data lie on the host alone: it evaluates there, and the report comes here.
  void aRunIsEvaluatedWhereItsDataAre() {
    addHost("a");
    train("e", "a");
    ends("e", RunState::finished);
    QVERIFY(QFile::remove(path("p/train.csv")) && QFile::remove(path("p/validation.csv")));
    HostAnswers there(*m_lines->line("a"), "atlas", "e");
    RunCall call;
    QSignalSpy answered(&call, &RunCall::answered), refused(&call, &RunCall::refused), told(&call, &RunCall::told),
        brought(&there, &HostAnswers::brought);
    const QStringList words{"evaluate", "<run>",     "--part", "validation", "--report", "<run>/evaluations/one",
                            "--json",   "--progress"};
    call.start(there, words);
    QTRY_VERIFY_WITH_TIMEOUT(answered.count() + refused.count() > 0, kPatience);
    QVERIFY2(refused.isEmpty(), qPrintable(refused.isEmpty() ? QString() : refused[0][0].toString()));
    QVERIFY2(told.count() >= 2, "how far it is, and the answer");
    QVERIFY(told[0][0].toByteArray().contains("\"all\":200"));
    there.bring({{"evaluations/one/report.json", path("here/report.json")}});
    QTRY_COMPARE_WITH_TIMEOUT(brought.count(), 1, kPatience);
    const Json report = Json::parse(contentOf(path("here/report.json")).toStdString());
    QCOMPARE(report["samples"].get<int>(), 200);
    QVERIFY(QString::fromStdString(report["csv"].get<std::string>()).startsWith(path("a")));
    // A look at one of its samples, by the same engine.
    call.start(there, {"look", "<run>", "--sample", "7", "--saliency", "occlusion", "--json"});
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 2, kPatience);
    QCOMPARE(Json::parse(answered[1][0].toByteArray().toStdString())["look"]["map"]["width"].get<int>(), 3);
    // What is wrong is told, with the host's name.
    call.start(there, {"look", "<run>", "--sample", "900"});
    QTRY_COMPARE_WITH_TIMEOUT(refused.count(), 1, kPatience);
    QVERIFY2(refused[0][0].toString().startsWith("On atlas: ") && refused[0][0].toString().contains("has 200"),
             qPrintable(refused[0][0].toString()));
    // Nothing but questions about runs is asked in this way.
    call.start(there, {"train", path("p/p.loom")});
    QTRY_COMPARE_WITH_TIMEOUT(refused.count(), 2, kPatience);
    // What is called off answers nobody, and the next question is answered.
    call.start(there, words);
    call.cancel();
    call.start(there, words);
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 3, kPatience);
    there.bring({{"evaluations/none/report.json", path("here/none.json")}});
    QSignalSpy failed(&there, &HostAnswers::refused);
    QTRY_VERIFY_WITH_TIMEOUT(failed.count() > 0, kPatience);
    QCOMPARE(refused.count(), 2);
    // A line that is cut tells it, and the next question takes it up again.
    m_lines->line("a")->disconnectNow();
    QTRY_COMPARE_WITH_TIMEOUT(m_lines->line("a")->state(), LineState::offline, kPatience);
    call.start(there, words);
    QTRY_COMPARE_WITH_TIMEOUT(answered.count(), 4, kPatience);
  }

  void aRunThatMovedIsTheRunThatWasNeverStopped() {
    addHost("a");
    addHost("b");
    addHost("c", path("own"));
    train("whole", "a");
    ends("whole", RunState::finished);
    train("moved", "a");
    QTRY_VERIFY_WITH_TIMEOUT(run("moved").step > 250, kPatience);
    QVERIFY2(isLive(run("moved").state), "it was too fast to be stopped in between");
    m_launcher->stop("moved");
    ends("moved", RunState::stopped);
    const std::int64_t stopped = run("moved").step;
    QVERIFY(stopped < kSteps);
    Models models(*m_store, m_lines.get());
    QSignalSpy fetched(&models, &Models::fetched);
    models.fetch("moved", Models::Which::newest);
    QTRY_COMPARE_WITH_TIMEOUT(fetched.size(), 1, kPatience);
    QVERIFY(QDir().rename(path("a"), path("gone")));  // another machine sees nothing of it

    // A host whose own data are not there, and then are others.
    QVERIFY(QDir().mkpath(path("own")));
    m_launcher->resumeOn("moved", "c");
    ends("moved", RunState::failed);
    QVERIFY2(run("moved").message.contains(path("own/train.csv")), qPrintable(run("moved").message));
    write("own/train.csv", rows(kRows, 5));
    write("own/validation.csv", rows(200, 2));
    m_launcher->resume("moved");
    ends("moved", RunState::failed);
    QVERIFY2(run("moved").message.contains("dataset 'training'") &&
                 run("moved").message.contains("does not hold what the run was trained on"),
             qPrintable(run("moved").message));
    QCOMPARE(run("moved").step, stopped);

    m_launcher->resumeOn("moved", "b");
    ends("moved", RunState::finished);
    QCOMPARE(run("moved").step, std::int64_t{kSteps});
    QCOMPARE(started("moved")["resumed_from"].get<std::int64_t>(), stopped);
    QVERIFY(run("moved").attempt >= 2);
    // One curve: every step and every epoch once, the same as that of the other run; and the mirror is the host's log.
    for (const char* name : {series::kLoss, "epoch.loss", "validation.loss"}) {
      const auto points = m_store->points("moved", name), whole = m_store->points("whole", name);
      QCOMPARE(points.size(), whole.size());
      QVERIFY2(!points.empty(), name);
      for (std::size_t i = 0; i < points.size(); ++i) {
        QCOMPARE(points[i].step, whole[i].step);
        QVERIFY2(points[i].value == whole[i].value, name);
      }
    }
    QCOMPARE(contentOf(run("moved").folder + "/events.jsonl"), contentOf(path("b/runs/moved/events.jsonl")));
    haveTheSameWeights(path("b/runs/moved"), path("gone/runs/whole"), "last.json");
    haveTheSameWeights(path("b/runs/moved"), path("gone/runs/whole"), "best.json");
    const Json datasets = Json::parse(contentOf(path("b/runs/moved/run.json")).toStdString())["datasets"];
    QVERIFY(QString::fromStdString(datasets["training"]["csv"]).startsWith(path("b/data/")));
  }
};

QTEST_GUILESS_MAIN(MovedSshTest)
#include "moved_ssh_test.moc"
