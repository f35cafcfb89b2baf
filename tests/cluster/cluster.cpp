#include "tests/cluster/cluster.h"

#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>

#include "engine/base/json.h"
#include "engine/run/process.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

constexpr int kAll = 1 << 20;

// Steps of some milliseconds, so that a minute of them is no flood.
constexpr const char* kProject = R"({"loom": 1,
  "networks": {"main": {
    "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 512},
              {"id": "relu1", "layer": "ReLU"}, {"id": "fc2", "layer": "Linear", "outputs": 512},
              {"id": "relu2", "layer": "ReLU"}, {"id": "fc3", "layer": "Linear", "outputs": 2},
              {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
              {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "fc1"], ["fc1", "relu1"], ["relu1", "fc2"], ["fc2", "relu2"], ["relu2", "fc3"], ["fc3", "loss"],
              ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "points.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": 1000000, "batch": 32,
               "optimizer": {"name": "Momentum", "learning_rate": 0.01}}})";

QByteArray points() {
  QByteArray text = "x__0,x__1,x__2,y\n";
  for (int i = 0; i < 4096; ++i)
    text += QByteArray::number(i % 7) + ',' + QByteArray::number(i % 5) + ',' + QByteArray::number(i % 3) + ',' +
            QByteArray::number(i % 2) + '\n';
  return text;
}

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) qFatal("cannot write %s", qPrintable(path));
}

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

Cluster::Cluster(const QString& folder) : m_folder(folder) {
  if (QFile::exists(path("p.loom"))) return;
  write(path("p.loom"), kProject);
  write(path("points.csv"), points());
}

Cluster::~Cluster() {
  close();
  for (const QString& each : m_started) run(GRADLOOM_SOURCE_DIR "/tests/cluster/cluster.sh", {"down", each});
}

QString Cluster::why(const QStringList& programs) {
  if (::geteuid() != 0) return QStringLiteral("network namespaces and Slurm's daemons need root");
  for (const QString& each : programs + QStringList{"mpirun"})
    if (QStandardPaths::findExecutable(each).isEmpty() &&
        QStandardPaths::findExecutable(each, {"/usr/sbin", "/sbin"}).isEmpty())
      return QStringLiteral("there is no %1 here (installer/setup.sh names its package)").arg(each);
  return {};
}

bool Cluster::run(const QString& program, const QStringList& words) {
  QProcess process;
  process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
  auto environment = QProcessEnvironment::systemEnvironment();
  environment.insert("PATH", environment.value("PATH") + ":/usr/sbin:/sbin");
  environment.insert("OWNER", QString::number(::getpid()));
  process.setProcessEnvironment(environment);
  process.start(program, words);
  return process.waitForFinished(60000) && process.exitCode() == 0;
}

bool Cluster::start(const QStringList& words) {
  const QString folder = path(words[0]);
  m_started << folder;
  return run(GRADLOOM_SOURCE_DIR "/tests/cluster/cluster.sh", QStringList{words[0], folder} + words.mid(1));
}

void Cluster::open(const Host& host, LineOptions options) {
  m_store = std::make_unique<RunStore>(path("store"));
  m_hosts = std::make_unique<HostStore>(path("store"));
  if (!m_hosts->find(host.id)) m_hosts->add(host);
  options.bundle = GRADLOOM_BUNDLE;
  m_lines = std::make_unique<HostLines>(*m_hosts, std::move(options));
  m_launcher = std::make_unique<Launcher>(*m_store, LauncherOptions{.hosts = m_lines.get()});
}

void Cluster::close() {
  m_launcher.reset();
  m_lines.reset();
  m_hosts.reset();
  m_store.reset();
}

Cluster::Said Cluster::gradloom(const QStringList& words, const QString& home) const {
  auto environment = QProcessEnvironment::systemEnvironment();
  for (const char* each : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "XDG_DATA_HOME"}) environment.remove(each);
  environment.insert("HOME", home);
  environment.insert("GRADLOOM_BUNDLE", GRADLOOM_BUNDLE);
  QProcess process;
  process.setProcessEnvironment(environment);
  process.start(GRADLOOM_PROGRAM, words + QStringList{"--data-folder", path("store")});
  if (!process.waitForFinished(240000))
    return {-1, process.readAllStandardOutput(), "it did not end: " + process.readAllStandardError()};
  return {process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1, process.readAllStandardOutput(),
          process.readAllStandardError()};
}

Job Cluster::job(const QString& id, const QString& host) const {
  return {.id = id,
          .name = id,
          .project = path("p.loom"),
          .snapshot = contentOf(path("p.loom")),
          .dataFolder = m_folder,
          .host = host};
}

QVector<Cluster::Rank> Cluster::ranks(const QString& id) {
  const std::int64_t attempt = m_store->find(id)->attempt;
  QVector<Rank> found;
  for (const Event& each : m_store->events(id, kAll)) {
    if (each.kind != "devices" || each.attempt != attempt) continue;
    for (const Json& rank : each.body["ranks"])
      found.append({rank["pid"].get<int>(), QString::fromStdString(rank["host"].get<std::string>())});
  }
  return step(id) > startedFrom(id) + 3 ? found : QVector<Rank>();
}

bool Cluster::lives(int process) {
  const auto stat = processStat(process);
  return stat && stat->state != 'Z';
}

std::int64_t Cluster::startedFrom(const QString& id) {
  std::int64_t step = 0;
  for (const Event& each : m_store->events(id, kAll))
    if (each.kind == "started") step = each.body.value("resumed_from", std::int64_t{0});
  return step;
}

int Cluster::startedWith(const QString& id) {
  int ranks = 0;
  for (const Event& each : m_store->events(id, kAll))
    if (each.kind == "started") ranks = each.body.value("ranks", 0);
  return ranks;
}

QString Cluster::wrong(const QString& id) {
  const QString there = path("there/runs/" + id + "/events.jsonl");
  std::int64_t last = 0;
  EventReader reader(there.toStdString());
  for (std::vector<Event> some = reader.read(); !some.empty(); some = reader.read())
    for (const Event& each : some)
      if (each.kind == "step") last = std::max(last, each.body.value("step", std::int64_t{0}));
  const auto points = m_store->points(id, series::kLoss);
  if (static_cast<std::int64_t>(points.size()) != last)
    return QStringLiteral("the store shows %1 steps, the host logged %2").arg(points.size()).arg(last);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].step != static_cast<std::int64_t>(i + 1))
      return QStringLiteral("place %1 of the store holds step %2").arg(i + 1).arg(points[i].step);
  if (last == 0) return QStringLiteral("nothing was logged");
  if (contentOf(m_store->find(id)->folder + "/events.jsonl") != contentOf(there))
    return QStringLiteral("the mirror is not the same as the host's log");
  return {};
}

}  // namespace loom
