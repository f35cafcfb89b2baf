#include "tests/cluster/soak.h"

#include <signal.h>
#include <sys/stat.h>

#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <future>

#include "engine/base/files.h"
#include "engine/base/json.h"
#include "tests/cluster/cluster.h"

using namespace loom;
using namespace loom::soak;

namespace {

// Some seconds of steps of some milliseconds, the same on any number of threads.
constexpr const char* kProject = R"({"loom": 1,
  "networks": {"main": {
    "nodes": [{"id": "x", "layer": "Input", "shape": [3]}, {"id": "fc1", "layer": "Linear", "outputs": 640},
              {"id": "relu1", "layer": "ReLU"}, {"id": "fc2", "layer": "Linear", "outputs": 640},
              {"id": "relu2", "layer": "ReLU"}, {"id": "fc3", "layer": "Linear", "outputs": 2},
              {"id": "y", "layer": "Input", "shape": [1], "type": "label"},
              {"id": "loss", "layer": "SoftmaxCrossEntropy"}],
    "edges": [["x", "fc1"], ["fc1", "relu1"], ["relu1", "fc2"], ["fc2", "relu2"], ["relu2", "fc3"], ["fc3", "loss"],
              ["y", "loss.target"]]}},
  "datasets": {"training": {"csv": "points.csv"}},
  "training": {"network": "main", "dataset": "training", "epochs": EPOCHS, "batch": 32, "threads": 1, "precision": "f32",
               "deterministic": true, "optimizer": {"name": "Momentum", "learning_rate": 0.01}}})";

int numberOf(const char* variable, int otherwise) {
  bool ok = false;
  const int number = qEnvironmentVariableIntValue(variable, &ok);
  return ok && number > 0 ? number : otherwise;
}

void write(const Path& path, const std::string& text) {
  std::ofstream(path) << text;
}

void writeProgram(const Path& path, const std::string& body) {
  write(path, "#!/bin/sh\n" + body);
  ::chmod(path.c_str(), 0755);
}

void writeProject(const Path& folder, int epochs) {
  std::string project = kProject;
  project.replace(project.find("EPOCHS"), 6, std::to_string(epochs));
  write(folder / "p.loom", project);
  std::string text = "x__0,x__1,x__2,y\n";
  for (int i = 0; i < 2048; ++i)
    text += std::to_string(i % 7) + ',' + std::to_string(i % 5) + ',' + std::to_string(i % 3) + ',' +
            std::to_string(i % 2) + '\n';
  write(folder / "points.csv", text);
}

// What stands before `loom` and before Slurm's programs, and lies when it is told to.
void writeLiars(const Path& folder) {
  std::filesystem::create_directories(folder / "bin");
  const std::string lie = "case $(cat " + (folder / "lie").string() + " 2>/dev/null) in\n",
                    slurm = "case $(cat " + (folder / "lie-slurm").string() + " 2>/dev/null) in\n";
  writeProgram(folder / "bin/loom", "if [ \"$1\" = agent ] && [ $# = 1 ]; then " + lie +
                                        "garbage) head -c 20000 /dev/urandom; sleep 1; exit 0;;\n"
                                        "half) " SOAK_LOOM
                                        " agent | head -c 700; exit 0;;\n"
                                        "flood) timeout 3 yes \"$(printf '\\033]0;x\\007')\"; exit 0;;\n"
                                        "dies) exit 1;;\n"
                                        "silent) sleep 6; exit 0;;\n"
                                        "esac; fi\nexec " SOAK_LOOM " \"$@\"\n");
  for (const char* each : {"squeue", "sbatch", "scontrol", "sacct"})
    writeProgram(folder / "bin" / each,
                 slurm +
                     "nothing) exit 0;;\n"
                     "garbage) head -c 300 /dev/urandom; exit 0;;\n"
                     "refuses) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1;;\n"
                     "hangs) sleep 6;;\nesac\nexec /usr/bin/" +
                     each + " \"$@\"\n");
}

// A run that nothing befell, and its last checkpoint.
Path undisturbed(const Path& folder, int ranks) {
  const Path run = folder / ("undisturbed-" + std::to_string(ranks));
  std::string line = SOAK_LOOM " train " + (folder / "p.loom").string() + " --run " + run.string();
  if (ranks > 1)
    line = "mpirun --allow-run-as-root --oversubscribe --bind-to none -n " + std::to_string(ranks) + " " + line;
  if (!Lane::command(line)) return {};
  const Json last = Json::parse(readFile(run / "checkpoints/last.json"), nullptr, false);
  return run / "checkpoints" / Path(last.value("file", std::string())).filename();
}

}  // namespace

// Random faults over local runs, two hosts and Slurm, side by side; see README.md for what may be said by environment.
class SoakTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyRunComesToItsEnd() {
    if (const QString why =
            Cluster::why({"ip", "ssh", "ssh-keygen", "sshd", "slurmctld", "slurmd", "munged", "sbatch", "mount"});
        !why.isEmpty())
      QSKIP(qPrintable(why));
    const QTemporaryDir folder;
    Cluster cluster(folder.path());
    const Path root(folder.path().toStdString());
    const QString script = GRADLOOM_SOURCE_DIR "/tests/cluster/cluster.sh";
    for (const char* each : {"local", "hosts", "slurm"})
      QVERIFY(Cluster::run(script, {"disk", folder.filePath("up"), each, "160m"}));
    if (!cluster.start({"up", "2"}) || !cluster.start({"slurm"})) QSKIP("the cluster cannot be started here");
    qputenv("SLURM_CONF", folder.filePath("slurm/slurm.conf").toUtf8());

    Course course;
    course.seed = static_cast<std::uint64_t>(numberOf("GRADLOOM_SOAK_SEED", 1));
    course.faults = numberOf("GRADLOOM_SOAK_FAULTS", 10);
    const bool byHand = qEnvironmentVariableIsSet("GRADLOOM_SOAK_FAULTS");
    std::vector<std::unique_ptr<Lane>> lanes;
    for (const Kind kind : {Kind::local, Kind::hosts, Kind::slurm}) {
      const Place place{.kind = kind, .cluster = root, .folder = root / toText(kind)};
      std::filesystem::create_directories(place.folder);
      writeProject(place.folder, byHand ? 12 : 5);
      writeLiars(place.folder);
      if (kind == Kind::slurm)
        QVERIFY(Cluster::run(
            script, {"login", folder.filePath("up"),
                     QStringLiteral("SetEnv SLURM_CONF=%1 PATH=%2/bin:/usr/bin:/bin:/usr/sbin:/sbin")
                         .arg(folder.filePath("slurm/slurm.conf"), QString::fromStdString(place.folder.string()))}));
      lanes.push_back(std::make_unique<Lane>(place, course));
    }
    std::map<int, std::shared_future<Path>> wanted;
    for (const int ranks : {1, 2})
      wanted[ranks] = std::async(std::launch::async, undisturbed, root / toText(Kind::local), ranks).share();
    course.undisturbed = [&wanted](int ranks) { return wanted.at(ranks).get(); };
    // In a row of tests it may take 45 s, whatever came of it.
    course.until = Clock::now() + (byHand ? std::chrono::seconds(86400) : std::chrono::seconds(25));
    std::vector<std::thread> threads;
    const QByteArray only = qgetenv("GRADLOOM_SOAK_ONLY");  // the name of one lane
    for (const auto& lane : lanes)
      if (only.isEmpty() || only == toText(lane->place().kind)) threads.emplace_back([&lane] { lane->go(); });
    for (std::thread& each : threads) each.join();

    std::string counts;
    for (const auto& [name, count] : course.counts) counts += "\n  " + std::to_string(count) + " " + name;
    qInfo("seed %llu: %d faults%s", static_cast<unsigned long long>(course.seed), course.done.load(), counts.c_str());
    for (const std::string& each : course.violations) qWarning("%s", each.c_str());
    QVERIFY(course.violations.empty());
    QVERIFY(course.done > 0);
  }
};

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // an IDE that was killed
  if (argc == 5 && std::string_view(argv[1]) == "--ide") return ideMain(argc, argv);
  ::setenv("QTEST_FUNCTION_TIMEOUT", "86400000", 0);
  QCoreApplication application(argc, argv);
  SoakTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "soak_test.moc"
