#include <QDir>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <thread>
#include <utility>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/data/write_png.h"
#include "launcher/hosts/host_store.h"
#include "launcher/hosts/ssh_config.h"
#include "launcher/job.h"
#include "launcher/remote/data_size.h"
#include "launcher/remote/engine_installer.h"
#include "launcher/remote/host_check.h"
#include "launcher/remote/launch_order.h"
#include "launcher/remote/packed_data.h"
#include "launcher/remote/questions.h"

using namespace loom;

// What is known of hosts before anything is connected.
class HostsTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;
  QString write(const QString& name, const QByteArray& text) {
    QFile file(m_folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
    file.write(text);
    return file.fileName();
  }
  static Host slurmHost() {
    Host host;
    host.id = host.name = host.address = "hpc";
    host.kind = HostKind::slurm;
    host.slurm = {.account = "ab12",
                  .partition = "gpu",
                  .gres = "gpu:a100:4",
                  .time = "08:00:00",
                  .nodes = 4,
                  .ranksPerNode = 4,
                  .continuations = 2,
                  .lines = {"#SBATCH --exclusive"}};
    host.modules = {"module load openmpi/4.1"};
    host.containerPrefix = {"apptainer", "exec", "a b.sif"};
    return host;
  }

 private Q_SLOTS:
  void anEngineThatMayNotBeRunIsTold() {
    EngineBundle bundle;
    bundle.sha256 = QString(64, 'a');
    const auto answer = [&](int code) {
      QProcess shell;
      shell.start("/bin/sh", {"-c", QString::fromUtf8(agentCommand(m_folder.path(), bundle))});
      if (!shell.waitForFinished() || shell.exitCode() != code) return QString("exit code %1").arg(shell.exitCode());
      return QString::fromUtf8(shell.readAllStandardError());
    };
    QCOMPARE(answer(127), QString());  // none is there: it is brought
    const QString folder = QStringLiteral("engine/%1/bin").arg(bundle.id());
    QVERIFY(QDir(m_folder.path()).mkpath(folder));
    const QString program = write(folder + "/loom", "#!/bin/sh\necho started\n");
    QVERIFY2(answer(126).contains("mounted noexec. Name another folder"), qPrintable(answer(126)));
    QVERIFY(QFile(program).setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    QCOMPARE(answer(0), QString());
  }

  void aHostComesBackAsItWas() {
    Host host = slurmHost();
    host.user = "mara", host.port = 2222, host.folder = "/scratch/mara", host.dataFolder = "/data/cifar",
    host.stalledAfter = 90, host.libraries = "/opt/nvidia/lib";
    host.mpirun = {"/opt/mpirun", "--mca", "btl", "tcp,self"};
    host.places = {{"a01", 4}, {"a02", 2}};
    const Json json = toJson(host);
    QCOMPARE(QString::fromStdString(toJson(hostFromJson(json)).dump()), QString::fromStdString(json.dump()));
    QVERIFY(problems(host).isEmpty());
    QCOMPARE(host.totalRanks(), 16);
    Json wrong = json;
    wrong["pasword"] = "x";
    QVERIFY_EXCEPTION_THROWN(hostFromJson(wrong), Error);
    wrong = json;
    wrong["port"] = "22";
    QVERIFY_EXCEPTION_THROWN(hostFromJson(wrong), Error);
  }

  void whatCannotStandInACommandIsAProblem() {
    for (const char* bad : {"a b", "-oProxyCommand=x", "a;b", "$(x)", "a\nb"}) {
      Host host = hostFromText("x");
      host.address = bad;
      QVERIFY2(!problems(host).isEmpty(), bad);
      host = hostFromText("x");
      host.folder = QString("/tmp/") + bad;
      if (QByteArray(bad)[0] != '-') QVERIFY2(!problems(host).isEmpty(), bad);
      host = slurmHost();
      host.slurm.partition = QString("gpu\n") + bad;
      QVERIFY2(!problems(host).isEmpty(), bad);
    }
    for (const char* bad : {"relative/lib", "/opt/a b", "/opt/$(x)", "/a:/b"}) {
      Host host = hostFromText("x");
      host.libraries = bad;
      QCOMPARE(problems(host).size(), 1);
    }
    Host host = slurmHost();
    host.slurm.lines = {"rm -rf /"};
    QCOMPARE(problems(host).size(), 1);
  }

  void oneFieldMakesAHost() {
    const Host host = hostFromText(" mara@Head.atlas.example:2222 ");
    QCOMPARE(host.user, "mara");
    QCOMPARE(host.address, "Head.atlas.example");
    QCOMPARE(host.port, 2222);
    QCOMPARE(host.id, "head-atlas-example");
    QCOMPARE(hostFromText("[fe80::1]:22").address, "fe80::1");
    QCOMPARE(hostFromText("fe80::1").address, "fe80::1");
    QCOMPARE(hostFromText("vega").user, "");
  }

  void theStoreKeepsThemAndNothingSecret() {
    const QString folder = m_folder.filePath("store");
    {
      HostStore store(folder);
      QSignalSpy added(&store, &HostStore::hostAdded);
      QCOMPARE(store.add(hostFromText("mara@vega")), "vega");
      QCOMPARE(store.add(hostFromText("tom@vega")), "vega-2");
      QCOMPARE(added.size(), 2);
      Host host = *store.find("vega");
      host.ranks = 8;
      store.change(host);
      QVERIFY_EXCEPTION_THROWN(store.change(hostFromText("nobody")), Error);
    }
    HostStore again(folder);
    QCOMPARE(again.hosts().size(), 2);
    QCOMPARE(again.find("vega")->ranks, 8);
    again.remove("vega");
    QCOMPARE(HostStore(folder).hosts().size(), 1);
    write("store/hosts.json", "{\"hosts\": [{\"id\": ");
    HostStore damaged(folder);
    QVERIFY2(damaged.notice().contains("kept as"), qPrintable(damaged.notice()));
    QVERIFY(damaged.hosts().isEmpty());
    QCOMPARE(QDir(folder).entryList({"hosts.json.damaged-*"}).size(), 1);
  }

  // Written by a newer version, or by hand: nothing of it is lost, and one host does not take the others along.
  void whatTheStoreDoesNotKnowIsKept() {
    const QString folder = m_folder.filePath("newer");
    QDir().mkpath(folder);
    write("newer/hosts.json", R"({"gradloom_hosts": 2, "colour": "blue", "hosts": [
      {"id": "vega", "address": "vega", "kind": "slurm", "energy": {"price": 0.3}, "slurm": {"nodes": 2, "qos": "high"}},
      {"id": "odd", "address": "odd", "port": "22"}, {"id": "atlas", "address": "atlas"}]})");
    HostStore store(folder);
    QCOMPARE(store.hosts().size(), 2);
    QVERIFY2(store.notice().contains("odd") && store.notice().contains("port"), qPrintable(store.notice()));
    Host vega = *store.find("vega");
    vega.slurm.nodes = 3;
    store.change(vega);
    store.remove("atlas");
    QFile file(folder + "/hosts.json");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const Json now = Json::parse(file.readAll().toStdString());
    QCOMPARE(now["colour"].get<std::string>(), std::string("blue"));
    QCOMPARE(now["gradloom_hosts"].get<int>(), 2);
    QCOMPARE(now["hosts"].size(), std::size_t{2});
    QCOMPARE(now["hosts"][0]["energy"]["price"].get<double>(), 0.3);
    QCOMPARE(now["hosts"][0]["slurm"]["nodes"].get<int>(), 3);
    QCOMPARE(now["hosts"][0]["slurm"]["qos"].get<std::string>(), std::string("high"));
    QCOMPARE(now["hosts"][1]["port"].get<std::string>(), std::string("22"));
    QVERIFY(QDir(folder).entryList({"hosts.json.damaged-*"}).isEmpty());
  }

  void twoWindowsLoseNoHost() {
    const QString folder = m_folder.filePath("two");
    HostStore one(folder), other(folder);
    QSignalSpy added(&other, &HostStore::hostAdded), removed(&other, &HostStore::hostRemoved);
    one.add(hostFromText("vega"));
    QCOMPARE(other.add(hostFromText("vega")), "vega-2");
    QCOMPARE(added.size(), 2);  // the other window's, too
    QCOMPARE(HostStore(folder).hosts().size(), 2);
    one.remove("vega");
    QCOMPARE(one.hosts().size(), 1);
    other.change(*other.find("vega-2"));
    QCOMPARE(removed.size(), 1);
  }

  void theConfigurationIsReadAsSshReadsIt() {
    write("more", "Host deep\n  Port 2200\n");
    const SshConfig config(write("config", R"(
# a comment
Include more
Host atlas gate* !gate9 !gate1
    HostName head.%h.example
    User mara
    IdentityFile ~/.ssh/atlas
    IdentityFile "~/.ssh/second key"
    ProxyJump tom@gate1:2022,inner
Host=gate1
  Hostname = gate.lab.example
  IdentitiesOnly yes
Host inner
  User in
Match exec "touch /tmp/never"
  User evil
Match all
  ConnectTimeout 7
Host *
  User everyone
  UserKnownHostsFile /tmp/kh1 /tmp/kh2
)"));
    const SshTarget atlas = config.resolve("atlas");
    QCOMPARE(atlas.host, "head.atlas.example");
    QCOMPARE(atlas.user, "mara");
    QCOMPARE(atlas.port, 22);
    QCOMPARE(atlas.identities, QStringList({QDir::homePath() + "/.ssh/atlas", QDir::homePath() + "/.ssh/second key"}));
    QCOMPARE(atlas.connectTimeout, 7);
    QCOMPARE(atlas.knownHosts, QStringList({"/tmp/kh1", "/tmp/kh2"}));
    QVERIFY(atlas.warning.contains("Match exec"));
    QCOMPARE(atlas.jumps.size(), 2);
    QCOMPARE(atlas.jumps[0].shown(), "tom@gate.lab.example:2022");
    QCOMPARE(atlas.jumps[1].shown(), "in@inner");
    QCOMPARE(config.resolve("gate9").user, "everyone");
    QCOMPARE(config.resolve("GATE5", "me", 99).shown(), "me@head.GATE5.example:99");
    QCOMPARE(config.resolve("deep").port, 2200);
    QCOMPARE(config.names(), QStringList({"deep", "atlas", "gate1", "inner"}));
    QCOMPARE(SshConfig(m_folder.filePath("none")).resolve("a.b").host, "a.b");
  }

  void whatIsIncludedBelongsToItsBlock() {
    write("inner", "User inner\nHost deep\n  Port 2200\nHost atlas\n  Port 2300\n");
    const SshConfig config(
        write("outer",
              "Host atlas\n  Include inner\n  HostName atlas.example\nHost deep\n  HostName deep.example\n"
              "Host *\n  User everyone\n  StrictHostKeyChecking accept-new\n  GlobalKnownHostsFile /g1 /g2\n"));
    const SshTarget atlas = config.resolve("atlas"), deep = config.resolve("deep");
    QCOMPARE(atlas.shown(), "inner@atlas.example:2300");  // the block goes on behind what it includes
    QCOMPARE(deep.shown(), "everyone@deep.example");      // and what is included there is not of others
    QCOMPARE(deep.newHostKey, SshTarget::NewHostKey::accept);
    QCOMPARE(deep.globalKnownHosts, QStringList({"/g1", "/g2"}));
    QCOMPARE(SshConfig("/none").resolve("a").newHostKey, SshTarget::NewHostKey::ask);
  }

  void jumpsInACircleAreAnError() {
    const SshConfig config(write("circle", "Host a\nProxyJump b\nHost b\nProxyJump a\n"));
    QVERIFY_EXCEPTION_THROWN(config.resolve("a"), Error);
    QVERIFY_EXCEPTION_THROWN(SshConfig(write("bad", "Host a\nPort 99999\n")).resolve("a"), Error);
    QVERIFY(SshConfig(write("proxy", "Host a\nProxyCommand nc %h 22\n")).resolve("a").warning.contains("ProxyJump"));
  }

  void ranksAreSpreadOverThePlaces() {
    Host host = hostFromText("head");
    JobFile job;
    job.start = 3, job.overrides = QStringList{"seed=1"};
    QVERIFY(!launchOrder(host, job).contains("hosts"));
    QVERIFY(!launchOrder(host, job).contains("libraries"));
    host.libraries = "/opt/nvidia/lib";
    QCOMPARE(launchOrder(host, job)["libraries"].dump(), R"("/opt/nvidia/lib")");
    host.ranks = 4;
    QCOMPARE(launchOrder(host, job)["hosts"].dump(), R"([{"name":"localhost","ranks":4}])");
    host.places = {{"a01", 4}, {"a02", 4}};
    job.ranks = 6;
    const Json launch = launchOrder(host, job);
    QCOMPARE(launch["ranks"].get<int>(), 6);
    QCOMPARE(launch["start"].get<int>(), 3);
    QCOMPARE(launch["hosts"].dump(), R"([{"name":"a01","ranks":4},{"name":"a02","ranks":2}])");
    job.ranks = 9;
    QVERIFY_EXCEPTION_THROWN(launchOrder(host, job), Error);
  }

  void aRunsIdIsPlainOnEveryHost() {
    for (const auto& [project, begin] :
         {std::pair{"/a/日本.loom", "run-2"}, std::pair{"/a/_x.loom", "x-2"}, std::pair{"/a/-n.loom", "n-2"},
          std::pair{"/a/Größe 2.loom", "Gro-e-2-2"}, std::pair{"/a/digits.loom", "digits-2"}}) {
      const QString id = makeRunId(QString::fromUtf8(project));
      QVERIFY2(id.startsWith(QLatin1String(begin)), qPrintable(id));
      QVERIFY2(isJobId(id.toStdString()), qPrintable(id));
    }
  }

  void theSlurmScriptSaysEverything() {
    JobFile job;
    job.ranks = 8;
    Host host = slurmHost();
    host.slurm.coresPerRank = 12;
    const QString script = slurmScript(host, "lars-1", job, "/e/bin/loom", "/r/lars-1");
    QVERIFY(script.startsWith("#!/bin/bash -l\n"));  // else `module` is not known in it on many clusters
    for (const char* line :
         {"#SBATCH --cpus-per-task=12\n", "#SBATCH --requeue\n", "#SBATCH --job-name=lars-1\n", "#SBATCH --nodes=2\n",
          "#SBATCH --ntasks-per-node=4\n", "#SBATCH --account=ab12\n", "#SBATCH --partition=gpu\n",
          "#SBATCH --gres=gpu:a100:4\n", "#SBATCH --time=08:00:00\n", "#SBATCH --exclusive\n",
          "#SBATCH --signal=B:USR1@120\n", "\nmodule load openmpi/4.1\n", "\nexec /e/bin/loom agent --job /r/lars-1\n"})
      QVERIFY2(script.contains(line), line);
    QVERIFY(!script.contains('{'));
  }

  void factsBecomeLinesWithRemedies() {
    const Json facts = {{"cores", 4},
                        {"open_files", {{"soft", 300}}},
                        {"disk", {{"free", 1e9}, {"size", 2e11}, {"folder", "/c"}, {"why", ""}}},
                        {"quota", "/dev/sda 900* 800"},
                        {"shared_memory", {{"free", 64 << 20}}},
                        {"gpus", {{{"fault", "driver mismatch"}}}}};
    Host host = hostFromText("head");
    host.ranks = 8;
    int failed = 0, doubtful = 0;
    for (const CheckLine& line : judgeFacts(facts, {.host = host, .clockAhead = -7})) {
      failed += line.status == CheckLine::Status::failed;
      doubtful += line.status == CheckLine::Status::doubtful;
      QVERIFY2((line.status == CheckLine::Status::well) == line.remedy.isEmpty(), qPrintable(line.name));
      QVERIFY2(!line.finding.isEmpty(), qPrintable(line.name));
    }
    QCOMPARE(failed, 3);    // no mpirun, open files, quota
    QCOMPARE(doubtful, 4);  // the GPU, disk, shared memory, clocks
  }

  void whatDoesNotFitTogetherForGpusIsALineEach() {
    Json facts = {
        {"cores", 64},
        {"gpus", {{{"name", "NVIDIA H200"}, {"memory", "143771 MiB"}, {"driver", "580.65.06"}}}},
        {"libraries",
         {{{"key", "cuda driver"}, {"value", "CUDA 13.0"}, {"advice", ""}, {"remedy", ""}},
          {{"key", "gpu 0"}, {"value", "NVIDIA H200"}, {"advice", ""}, {"remedy", ""}},
          {{"key", "cuda module"}, {"value", "CUDA 13.0"}, {"advice", ""}, {"remedy", ""}},
          {{"key", "cudnn"}, {"value", "8.9.7"}, {"advice", "cuDNN 8 is here, but 9 is needed"}, {"remedy", "apt"}},
          {{"key", "nccl"}, {"value", "not found"}, {"advice", ""}, {"remedy", ""}}}}};
    const auto lineOf = [](const Json& told, const Host& host, const QString& name) {
      for (const CheckLine& line : judgeFacts(told, {.host = host}))
        if (line.name == name) return line;
      return CheckLine{};
    };
    Host host = hostFromText("head");
    QCOMPARE(lineOf(facts, host, "Accelerators").finding, QString("NVIDIA H200 143771 MiB, driver 580.65.06"));
    QCOMPARE(lineOf(facts, host, "CUDA driver").finding, QString("CUDA 13.0"));
    QCOMPARE(lineOf(facts, host, "CUDA module").status, CheckLine::Status::well);
    QVERIFY(lineOf(facts, host, "GPU 0").finding.isEmpty());
    const CheckLine cudnn = lineOf(facts, host, "cuDNN");
    QCOMPARE(cudnn.status, CheckLine::Status::doubtful);
    QCOMPARE(cudnn.finding, QString("8.9.7"));
    QCOMPARE(cudnn.why, QString("cuDNN 8 is here, but 9 is needed"));
    QCOMPARE(cudnn.remedy, QString("apt"));
    host.modules = {"module load cudnn"};  // then a job may well find another
    QCOMPARE(lineOf(facts, host, "cuDNN").status, CheckLine::Status::well);
    facts["gpus"] = Json::array();  // without a GPU, only what stands in the way of one
    QVERIFY(lineOf(facts, host, "CUDA driver").finding.isEmpty());
    facts["libraries"][0]["advice"] = "without NVIDIA's driver nothing computes on them";
    QCOMPARE(lineOf(facts, host, "CUDA driver").status, CheckLine::Status::doubtful);
    facts["libraries"][1]["advice"] = "it does not compute";
    QCOMPARE(lineOf(facts, host, "GPU 0").why, QString("it does not compute"));
  }

  void aRealStartIsCountedByRanks() {
    Host host = hostFromText("head");
    host.places = {{"a01", 1}, {"a02", 1}};
    const QString line = R"({"probe":1,"machine":"%1","version":"%2","open_files":4096})";
    const auto statusOf = [&](const QString& output, int code) {
      return judgeProbe(output, code, 10, {.host = host}).front();
    };
    QCOMPARE(statusOf("banner\n" + line.arg("a01", "v") + "\n" + line.arg("a02", "v"), 0).status,
             CheckLine::Status::well);
    QVERIFY(
        statusOf(line.arg("a01", "v") + "\nPermission denied (publickey).\n", 255).why.contains("Permission denied"));
    QVERIFY(statusOf(line.arg("a01", "v") + "\n" + line.arg("a02", "w"), 0).why.contains("not shared"));
    const auto homes =
        judgeProbe(line.arg("a01", "v") + "\nor execute an executable:\n\nExecutable: /home/m/bin/loom\nNode: a02\n",
                   132, 10, {.host = host, .program = "/home/m/bin/loom", .base = "/home/m"})
            .front();
    QVERIFY2(homes.why.contains("a02 has no /home/m/bin/loom") && homes.remedy.contains("all of them see"),
             qPrintable(homes.why));
    const QString both = line.arg("a01", "v") + "\n" + line.arg("a02", "v") + "\n";
    const auto network = [&](const char* bandwidth) {
      return judgeProbe(
          both +
              QString(
                  R"({"network":2,"across":true,"delay":1.8e-5,"bandwidth":%1,"all_reduce":0.0052,"all_reduce_bytes":1048576})")
                  .arg(bandwidth),
          0, 1, {.host = host});
    };
    QCOMPARE(network("1.16e9").size(), 3);
    QCOMPARE(network("1.16e9")[1].finding, "1.16 GB/s, delay 18 µs");
    QCOMPARE(network("1.16e9")[2].finding, "1 MiB over 2 ranks in 5.2 ms");
    QCOMPARE(network("2e7")[1].status, CheckLine::Status::doubtful);
    QVERIFY(network("2e7")[1].why.contains("10.2 s a step"));
    QCOMPARE(network("-1").size(), 1);
    QCOMPARE(judgeProbe(line.arg("a01", "v").replace("4096", "64") + "\n" + line.arg("a02", "v"), 0, 1, {.host = host})
                 .last()
                 .name,
             "Open files");
  }

  void dataIsPackedOnceAndNamedByItsBytes() {
    const QString csv = write("t w;o.csv", "x,y\n1,0\n2,1\n");
    const QByteArray project = QByteArray::fromStdString(
        Json{{"datasets", {{"training", {{"csv", csv.toStdString()}}}, {"validation", {{"csv", csv.toStdString()}}}}}}
            .dump());
    const auto yes = [](const QString&) { return true; };
    const QList<PackedData> data = packData(project, yes);
    QCOMPARE(data.size(), 2);
    QCOMPARE(data[0].sha256, data[1].sha256);
    QCOMPARE(data[0].sha256.size(), 64);
    QVERIFY(data[0].size > 0);
    QCOMPARE(packData(project, yes)[0].sha256, data[0].sha256);
    const QByteArray there = withDataAt(project, {{"training", "/h/data/1.pack"}});
    QVERIFY(there.contains("/h/data/1.pack") && there.contains("t w;o.csv"));
    QVERIFY(withDataMoved(project, m_folder.path(), "/data/own").contains("/data/own/t w;o.csv"));
    QVERIFY_EXCEPTION_THROWN(withDataMoved(project, m_folder.filePath("elsewhere"), "/d"), Error);
    QVERIFY_EXCEPTION_THROWN(packData(R"({"datasets":{"training":{"csv":"/no/such.csv"}}})", yes), Error);
  }

  // A file of weights travels as data do, and is named where it lies there; of a run its best checkpoint.
  void weightsToBeginWithTravel() {
    const QString weights = write("w.safetensors", "not read here");
    const auto yes = [](const QString&) { return true; };
    const QByteArray relative = R"({"training":[{"start_from":"w.safetensors"},{}]})";
    const QByteArray project = withAbsolutePaths(relative, m_folder.path());
    QVERIFY(project.contains(weights.toUtf8()));
    const QList<PackedData> data = packData(project, yes);
    QCOMPARE(data.size(), 1);
    QCOMPARE(data[0].dataset, QString(kWeights));
    QCOMPARE(data[0].file, weights);
    QVERIFY(withDataAt(project, {{kWeights, "/h/data/7"}}).contains("\"start_from\": \"/h/data/7\""));
    QVERIFY(withDataMoved(project, m_folder.path(), "/data/own").contains("/data/own/w.safetensors"));
    QVERIFY_EXCEPTION_THROWN(withDataMoved(project, m_folder.filePath("elsewhere"), "/d"), Error);
    QDir(m_folder.path()).mkpath("run/checkpoints");
    const QString best = write("run/checkpoints/step-00000001.safetensors", "x");
    write("run/checkpoints/best.json", R"({"file":"step-00000001.safetensors"})");
    QCOMPARE(packData(withAbsolutePaths(R"({"training":{"start_from":"run"}})", m_folder.path()), yes)[0].file, best);
    QVERIFY_EXCEPTION_THROWN(packData(R"({"training":{"start_from":"/no/such"}})", yes), Error);
  }

  // What a host needs room for is what it is sent: the images, not only the CSV that names them.
  void theRoomThatDataNeedsCountsItsImages() {
    const std::vector<std::byte> image(3 * 40 * 50, std::byte{7});
    QByteArray rows = "x:image,y:label\n";
    for (int i = 0; i < 100; ++i) rows += "i.png," + QByteArray::number(i % 10) + "\n";
    writePng(m_folder.filePath("i.png").toStdString(), image, {3, 40, 50});
    const QString csv = write("images.csv", rows.chopped(1));
    const qint64 expected = packedBytes({csv, csv});
    QCOMPARE(expected, qint64{100} * (3 * 40 * 50 + 4));
    const QByteArray project =
        QByteArray::fromStdString(Json{{"datasets", {{"training", {{"csv", csv.toStdString()}}}}}}.dump());
    const qint64 packed = packData(project, [](const QString&) { return true; })[0].size;
    QVERIFY2(std::abs(packed - expected) < expected / 20, qPrintable(QString::number(packed)));
    QCOMPARE(packedBytes({csv}), packed);
    QCOMPARE(packedBytes({m_folder.filePath("none.csv")}), qint64{0});
  }

  void questionsAreAskedOnceAndNeverByAReconnect() {
    int asked = 0;
    Questions* self = nullptr;
    Questions questions(
        [&](int id, const SshQuestion& question) {
          ++asked;
          if (question.kind == SshQuestion::Kind::code) QThread::msleep(30);  // somebody looks at the telephone
          self->answer(id, question.kind == SshQuestion::Kind::password ? "geheim" : "123456");
        },
        [](int) {});
    self = &questions;
    const SshQuestion password{.kind = SshQuestion::Kind::password, .host = "a", .text = "Password"},
        code{.kind = SshQuestion::Kind::code, .host = "a", .text = "Code"};
    questions.begin(Questions::Mode::mustNotAsk);
    QVERIFY(!questions.ask(password));
    questions.begin(Questions::Mode::mayAsk);
    QCOMPARE(questions.ask(password).value_or(""), "geheim");
    QCOMPARE(questions.ask(code).value_or(""), "123456");
    questions.accepted();
    QCOMPARE(asked, 2);
    QVERIFY2(questions.waitedMs() >= 30, qPrintable(QString::number(questions.waitedMs())));
    questions.begin(Questions::Mode::mustNotAsk);
    QCOMPARE(questions.ask(password).value_or(""), "geheim");  // from memory
    QVERIFY(!questions.ask(password));                         // it was wrong
    QVERIFY(!questions.ask(code));                             // good once
    QCOMPARE(questions.waitedMs(), 0.0);
    questions.refused();
    questions.begin(Questions::Mode::mustNotAsk);
    QVERIFY(!questions.ask(password));
    QCOMPARE(asked, 2);
    // What the far side only tells waits for no answer; a reconnect does not begin what somebody has to confirm.
    const SshQuestion notice{.kind = SshQuestion::Kind::notice, .host = "a", .text = "Look at your telephone"};
    QVERIFY(!questions.ask(notice));
    questions.begin(Questions::Mode::mayAsk);
    QVERIFY(questions.ask(notice));
    QCOMPARE(asked, 3);
  }
};

QTEST_GUILESS_MAIN(HostsTest)
#include "hosts_test.moc"
