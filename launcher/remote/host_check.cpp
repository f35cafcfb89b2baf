#include "launcher/remote/host_check.h"

#include <QHash>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "engine/base/json.h"

namespace loom {
namespace {

using Status = CheckLine::Status;
constexpr double kGibibyte = 1073741824.0;
constexpr double kClockSeconds = 2;                // times of events and of the queue then tell nonsense
constexpr double kSharedMemory = 256.0 * 1048576;  // Open MPI's rings for a few ranks of a machine

QString textOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}
double numberOf(const Json& object, const char* key, double otherwise = 0) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}
const Json& partOf(const Json& object, const char* key) {
  static const Json none = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : none;
}
QString gibibytes(double bytes) {
  return QString::number(bytes / kGibibyte, 'f', bytes < 10 * kGibibyte ? 1 : 0) + QStringLiteral(" GiB");
}

CheckLine openFiles(double limit, bool unlimited, int wanted, const QString& place) {
  CheckLine line{.group = "Limits and room", .name = "Open files"};
  line.finding =
      unlimited ? QStringLiteral("no limit")
                : QStringLiteral("limit %L1%2, %L3 is needed").arg(static_cast<qint64>(limit)).arg(place).arg(wanted);
  if (unlimited || limit >= wanted) return line;
  line.status = Status::failed;
  line.why = QStringLiteral(
      "The ranks of one machine open a socket to each other. A run would stop with “too many open files”.");
  line.remedy = QStringLiteral("echo \"$(id -un) - nofile 65536\" | sudo tee -a /etc/security/limits.conf");
  return line;
}

CheckLine openMpi(const Json& facts, const Host& host) {
  CheckLine line{.group = "Programs", .name = "Open MPI"};
  const Json& mpi = partOf(facts, "mpi");
  QString version = textOf(mpi, "version");
  line.finding = version.isEmpty() ? QStringLiteral("mpirun was not found")
                                   : QStringLiteral("%1, %2").arg(version.section(' ', -1), textOf(mpi, "program"));
  const bool wanted = host.totalRanks() > 1;
  // Modules and settings of the host bring an mpirun of their own, which the real start below tries out.
  if (!version.isEmpty() || !wanted || !host.modules.isEmpty() || !host.mpirun.isEmpty()) return line;
  line.status = Status::failed;
  line.why = QStringLiteral("%1 ranks are started by mpirun, which is not in the PATH of a login without a terminal.")
                 .arg(host.totalRanks());
  line.remedy = QStringLiteral("sudo apt-get install openmpi-bin    # or name a module: module load openmpi");
  return line;
}

CheckLine accelerators(const Json& facts) {
  CheckLine line{.group = "Programs", .name = "Accelerators"};
  QStringList gpus, drivers;
  const auto found = facts.find("gpus");
  for (const Json& each : found != facts.end() && found->is_array() ? *found : Json::array()) {
    if (const QString fault = textOf(each, "fault"); !fault.isEmpty()) {
      line.status = Status::doubtful;
      line.why = QStringLiteral("There is a driver, but it does not answer: ranks would compute on the CPU.");
      line.remedy = QStringLiteral("nvidia-smi");
      gpus << fault;
      continue;
    }
    gpus << textOf(each, "name") + ' ' + textOf(each, "memory");
    if (const QString driver = textOf(each, "driver"); !driver.isEmpty()) drivers << driver;
  }
  drivers.removeDuplicates();
  if (!drivers.isEmpty()) gpus << QStringLiteral("driver ") + drivers.join(", ");
  line.finding =
      gpus.isEmpty()
          ? QStringLiteral("none found, CPU ranks with %1 cores").arg(static_cast<int>(numberOf(facts, "cores", 1)))
          : gpus.join(", ");
  return line;
}

// What the engine found there of GPUs and their libraries (`loom doctor`): all of it where there are GPUs, else what is
// wrong. Modules and containers bring libraries that only a job sees.
QVector<CheckLine> libraryLines(const Json& facts, const Host& host) {
  static const QHash<QString, QString> names{
      {"cuda driver", "CUDA driver"}, {"cuda module", "CUDA module"}, {"cudnn", "cuDNN"}};
  const auto found = facts.find("libraries"), gpus = facts.find("gpus");
  const bool here = gpus != facts.end() && gpus->is_array() && !gpus->empty();
  const bool brought = !host.modules.isEmpty() || !host.containerPrefix.isEmpty();
  QVector<CheckLine> lines;
  for (const Json& each : found != facts.end() && found->is_array() ? *found : Json::array()) {
    const QString key = textOf(each, "key"), advice = textOf(each, "advice");
    const bool isGpu = key.startsWith("gpu ");
    if (!(names.contains(key) && (here || !advice.isEmpty())) && !(isGpu && !advice.isEmpty())) continue;
    CheckLine line{
        .group = "Programs", .name = isGpu ? key.toUpper() : names.value(key), .finding = textOf(each, "value")};
    if (!advice.isEmpty() && !(brought && (key == "cuda module" || key == "cudnn"))) {
      line.status = Status::doubtful;
      line.why = advice;
      line.remedy = textOf(each, "remedy");
      if (line.remedy.isEmpty()) line.remedy = QStringLiteral("nvidia-smi");
    }
    lines << line;
  }
  return lines;
}

CheckLine disk(const Json& facts, const CheckWish& wish) {
  const Json& disk = partOf(facts, "disk");
  CheckLine line{.group = "Limits and room", .name = "Disk"};
  const QString why = textOf(disk, "why"), folder = textOf(disk, "folder");
  line.finding = QStringLiteral("%1 free of %2 in %3")
                     .arg(gibibytes(numberOf(disk, "free")), gibibytes(numberOf(disk, "size")), folder);
  if (!why.isEmpty()) {
    line.status = Status::failed;
    line.finding = why;
    line.why = QStringLiteral("Data, checkpoints and the engine itself are kept there (%1 for this project).")
                   .arg(gibibytes(static_cast<double>(wish.bytesNeeded)));
    line.remedy = QStringLiteral("mkdir -p %1 && df -h %1 && du -sh %1/*    # and: quota -s").arg(folder);
  } else if (numberOf(disk, "free") < 2 * kGibibyte) {
    line.status = Status::doubtful;
    line.why = QStringLiteral("Checkpoints may not fit.");
    line.remedy = QStringLiteral("find %1/runs -maxdepth 1 -mtime +30 -print").arg(folder);
  }
  return line;
}

CheckLine quota(const QString& text) {
  CheckLine line{.group = "Limits and room", .name = "Quota"};
  // quota(1) marks what is exceeded with a star.
  line.finding = text.trimmed().isEmpty() ? QStringLiteral("none")
                 : text.contains('*')     ? QStringLiteral("exceeded")
                                          : QStringLiteral("within its limits");
  if (text.contains('*')) {
    line.status = Status::failed;
    line.why = QStringLiteral("The next write may be refused although the disk has room.");
    line.remedy = QStringLiteral("quota -s");
  }
  return line;
}

CheckLine clocks(double ahead) {
  CheckLine line{.group = "Limits and room", .name = "Clocks"};
  line.finding =
      std::abs(ahead) < 1
          ? QStringLiteral("difference %1 ms").arg(std::abs(ahead) * 1000, 0, 'f', 0)
          : QStringLiteral("the host is %1 s %2").arg(std::abs(ahead), 0, 'f', 1).arg(ahead > 0 ? "ahead" : "behind");
  if (std::abs(ahead) > kClockSeconds) {
    line.status = Status::doubtful;
    line.why = QStringLiteral(
        "Times of events and of this machine's runs do not fit together. Curves over steps are not touched.");
    line.remedy = QStringLiteral("sudo timedatectl set-ntp true");
  }
  return line;
}

// Lines from what the ranks measured between themselves; none where there is one rank, or an older engine.
QVector<CheckLine> networkLines(const Json& network) {
  const double bandwidth = numberOf(network, "bandwidth"), delay = numberOf(network, "delay"),
               sum = numberOf(network, "all_reduce");
  if (!(bandwidth > 0) || !(sum > 0)) return {};
  const bool across = network.value("across", Json()) == Json(true);
  CheckLine way{.group = "Network, measured", .name = across ? "Between hosts" : "Between ranks"};
  way.finding = QStringLiteral("%1 GB/s, delay %2 µs").arg(bandwidth / 1e9, 0, 'g', 3).arg(delay * 1e6, 0, 'f', 0);
  constexpr double kSlow = 60e6;  // a link of 1 Gbit/s carries 118 MB/s
  if (across && bandwidth < kSlow) {
    way.status = Status::doubtful;
    way.why = QStringLiteral(
                  "The 102 MB of ResNet-50's gradients would take %1 s a step. Open MPI may have taken a slow way out "
                  "of several.")
                  .arg(2 * 102e6 / bandwidth, 0, 'f', 1);
    way.remedy = QStringLiteral("ip -br addr    # then name the fast one under mpirun: --mca btl_tcp_if_include NAME");
  }
  CheckLine reduce{.group = "Network, measured", .name = "All-reduce"};
  reduce.finding = QStringLiteral("%1 MiB over %2 ranks in %3 ms")
                       .arg(numberOf(network, "all_reduce_bytes") / 1048576, 0, 'g', 3)
                       .arg(static_cast<int>(numberOf(network, "network")))
                       .arg(sum * 1e3, 0, 'g', 3);
  return {way, reduce};
}

}  // namespace

int openFilesFor(int ranks) {
  return 256 + 24 * std::max(1, ranks);
}

QVector<CheckLine> judgeFacts(const Json& facts, const CheckWish& wish) {
  QVector<CheckLine> lines;
  lines << openMpi(facts, wish.host);
  if (wish.host.kind == HostKind::slurm) {
    const QString version = textOf(partOf(facts, "slurm"), "version");
    CheckLine line{.group = "Programs",
                   .name = "Slurm",
                   .finding = version.isEmpty() ? QStringLiteral("sbatch was not found") : version};
    if (version.isEmpty()) {
      line.status = Status::failed;
      line.why =
          QStringLiteral("Jobs are submitted with sbatch, which is not in the PATH of a login without a terminal.");
      line.remedy = QStringLiteral(
          "which sbatch    # in a terminal there; then put its folder into PATH in ~/.bashrc, above any “return”");
    }
    lines << line;
  }
  lines << accelerators(facts) << libraryLines(facts, wish.host);
  const Json& files = partOf(facts, "open_files");
  lines << openFiles(numberOf(files, "soft"), !textOf(files, "soft").isEmpty(), openFilesFor(wish.host.totalRanks()),
                     QString());
  lines << disk(facts, wish) << quota(textOf(facts, "quota"));
  const double shared = numberOf(partOf(facts, "shared_memory"), "free");
  CheckLine memory{.group = "Limits and room",
                   .name = "Shared memory",
                   .finding = QStringLiteral("/dev/shm %1").arg(gibibytes(shared))};
  if (shared < kSharedMemory && wish.host.totalRanks() > 1) {
    memory.status = Status::doubtful;
    memory.why = QStringLiteral(
        "Ranks of one machine exchange gradients there; 0.3 GiB is needed. In a container it is often 64 MiB.");
    memory.remedy = QStringLiteral("sudo mount -o remount,size=2G /dev/shm");
  }
  lines << memory << clocks(wish.clockAhead);
  return lines;
}

QVector<CheckLine> judgeProbe(const QString& output, int code, double milliseconds, const CheckWish& wish) {
  QVector<CheckLine> lines;
  const int wanted = wish.host.totalRanks();
  QHash<QString, int> machines;
  QString version, otherVersion, otherMachine, tight;
  double least = -1;
  int ranks = 0;
  Json network;
  for (const QString& each : output.split('\n')) {
    if (const auto measured = each.indexOf("{\"network\""); measured >= 0) {
      const QByteArray text = each.mid(measured).toUtf8();
      network = Json::parse(text.begin(), text.end(), nullptr, false);
      continue;
    }
    const auto begin = each.indexOf("{\"probe\"");
    if (begin < 0) continue;
    const QByteArray text = each.mid(begin).toUtf8();
    const Json probe = Json::parse(text.begin(), text.end(), nullptr, false);
    if (!probe.is_object()) continue;
    ++ranks;
    const QString machine = textOf(probe, "machine"), found = textOf(probe, "version");
    ++machines[machine];
    if (version.isEmpty())
      version = found;
    else if (found != version)
      otherVersion = found, otherMachine = machine;
    const double files = numberOf(probe, "open_files", -1);
    if (files >= 0 && (least < 0 || files < least)) least = files, tight = machine;
  }
  CheckLine start{.group = "Programs",
                  .name = wish.host.kind == HostKind::slurm ? "Compute nodes" : "Real start",
                  .milliseconds = milliseconds};
  start.finding = QStringLiteral("%1 of %2 ranks started on %3 %4")
                      .arg(ranks)
                      .arg(wanted)
                      .arg(machines.size())
                      .arg(machines.size() == 1 ? "machine" : "machines");
  if (code != 0 || ranks != wanted) {
    start.status = Status::failed;
    QStringList words = output.trimmed().split('\n');
    words.removeIf([](const QString& each) {
      return each.contains("{\"probe\"") || each.contains("{\"network\"") || each.trimmed().isEmpty() ||
             each.startsWith("---");
    });
    start.why = words.isEmpty() ? QStringLiteral("The start ended with code %1 and said nothing.").arg(code)
                                : words.mid(0, 4).join(' ').left(400);
    // Where the machines have homes of their own, the engine lies on the first of them alone.
    static const QRegularExpression missing("Node:\\s+(\\S+)\\s+Executable:|Executable:\\s+\\S+\\s+Node:\\s+(\\S+)");
    const auto without = missing.match(output);
    QStringList names;
    for (const RankPlace& each : wish.host.places) names << each.name;
    start.remedy = names.isEmpty() ? QStringLiteral("mpirun -n %1 hostname").arg(wanted)
                                   : QStringLiteral("for h in %1; do ssh -o BatchMode=yes $h %2 --version; done")
                                         .arg(names.join(' '), wish.program);
    if (without.hasMatch()) {
      const QString machine = without.captured(1) + without.captured(2);
      start.why =
          QStringLiteral(
              "%1 has no %2: the machines of a host need one file system for its folder, where engine, data and "
              "runs lie once.")
              .arg(machine, wish.program);
      start.remedy =
          QStringLiteral("df %1    # on each machine; then choose a folder that all of them see").arg(wish.base);
    }
  } else if (!otherVersion.isEmpty()) {
    start.status = Status::failed;
    start.why = QStringLiteral("%1 has %2, the others %3: the folder %4 is not shared between the machines.")
                    .arg(otherMachine, otherVersion, version, wish.base);
    start.remedy =
        QStringLiteral("df %1    # on each machine; then choose a folder on a shared file system").arg(wish.base);
  }
  lines << start;
  if (network.is_object()) lines += networkLines(network);
  if (least >= 0 && least < openFilesFor(wanted))
    lines << openFiles(least, false, openFilesFor(wanted), QStringLiteral(" on ") + tight);
  return lines;
}

}  // namespace loom
