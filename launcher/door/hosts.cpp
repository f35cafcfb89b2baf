#include <QEventLoop>
#include <QTimer>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "launcher/door/errand.h"
#include "launcher/door/terminal.h"
#include "launcher/door/verbs.h"
#include "launcher/local_process.h"
#include "launcher/ssh/local_transport.h"

namespace loom {
namespace {

const char* kindOf(const Host& host) {
  return host.kind == HostKind::slurm ? "slurm" : "mpirun";
}

int list(const DoorOptions& options, bool json) {
  const HostStore hosts(options.dataFolder);
  if (!hosts.notice().isEmpty()) fmt::print(stderr, "gradloom: {}\n", hosts.notice().toStdString());
  if (json) {
    Json all = Json::array();
    for (const Host& each : hosts.hosts()) {
      Json host = toJson(each);
      host["total_ranks"] = each.totalRanks();
      all.push_back(std::move(host));
    }
    printJson(all);
    return kExitDone;
  }
  Console console;
  console.line(fmt::format("{:<20}  {:<30}  {:<7}  {:>5} rank", "local", "this machine", "", 1));
  for (const Host& each : hosts.hosts()) {
    const QString address = (each.user.isEmpty() ? QString() : each.user + '@') + each.address +
                            (each.port ? ':' + QString::number(each.port) : QString());
    console.line(fmt::format("{:<20}  {:<30}  {:<7}  {:>5} {}", each.name.toStdString(), address.toStdString(),
                             kindOf(each), each.totalRanks(), each.totalRanks() == 1 ? "rank" : "ranks"));
  }
  return kExitDone;
}

void tell(Console& console, const CheckLine& line, QString& group) {
  if (line.group != group) console.line((group = line.group).toStdString());
  const char* sign = line.status == CheckLine::Status::well       ? "ok"
                     : line.status == CheckLine::Status::doubtful ? "!!"
                                                                  : "NO";
  console.line(fmt::format("  {}  {:<18} {}", sign, line.name.toStdString(), line.finding.toStdString()));
  if (line.status == CheckLine::Status::well) return;
  if (!line.why.isEmpty()) console.line(fmt::format("      {:<18} {}", "", line.why.toStdString()));
  if (!line.remedy.isEmpty()) console.line(fmt::format("      {:<18} {}", "remedy:", line.remedy.toStdString()));
}

Json toJson(const CheckLine& line) {
  const char* const words[] = {"ok", "doubtful", "failed"};
  Json json = {{"group", line.group.toStdString()},
               {"name", line.name.toStdString()},
               {"status", words[static_cast<int>(line.status)]},
               {"finding", line.finding.toStdString()}};
  if (!line.why.isEmpty()) json["why"] = line.why.toStdString();
  if (!line.remedy.isEmpty()) json["remedy"] = line.remedy.toStdString();
  if (line.milliseconds >= 0) json["ms"] = line.milliseconds;
  return json;
}

// By a line of its own: a check changes nothing that another Gradloom keeps.
int check(const DoorOptions& options, const QString& name, bool json) {
  const HostStore hosts(options.dataFolder);
  const QString id = meantHost(hosts, name);
  Host here;
  here.id = here.name = here.address = "local";
  LineOptions how = doorLine(options);
  if (id.isEmpty() && !how.transport) {
    how = {.program = options.program.isEmpty() ? findLoom() : options.program};
    how.transport = [](const SshAsk&) { return std::make_unique<LocalTransport>(); };
  }
  HostLine line(id.isEmpty() ? here : *hosts.find(id), how);
  std::optional<Console> console;
  if (!json) console.emplace();
  Json lines = Json::array();
  bool done = false, failed = false;
  std::optional<QString> fault;
  QString group;
  QObject::connect(&line, &HostLine::checkLine, &line, [&](const CheckLine& found) {
    failed = failed || found.status == CheckLine::Status::failed;
    lines.push_back(toJson(found));
    if (console) tell(*console, found, group);
  });
  QObject::connect(&line, &HostLine::checkDone, &line, [&] { done = true; });
  QObject::connect(&line, &HostLine::stateChanged, &line, [&] {
    if (console && line.state() == LineState::installing) console->live(line.sentence().toStdString());
  });
  QObject::connect(&line, &HostLine::question, &line, [&](int question, const SshQuestion& asked) {
    std::optional<QString> answer;
    try {
      answer = askOnTerminal(asked);
    } catch (const Error& error) {
      fault = QString::fromStdString(error.what());
    }
    line.answer(question, answer);
  });
  line.check(0);
  while (!done && !fault) {
    QEventLoop loop;
    QTimer::singleShot(kDoorLookMs, &loop, &QEventLoop::quit);
    loop.exec();
    if (Interrupts::came()) throw Error(ErrorCode::stopped, "the check was given up");
  }
  if (fault) throw Error(ErrorCode::badArgument, fault->toStdString());
  if (json) printJson({{"host", name.toStdString()}, {"ok", !failed}, {"lines", lines}});
  return failed ? exitCode(ErrorCode::communication) : kExitDone;
}

Host hostOf(const Words& words, const QString& address) {
  Host host = hostFromText(address);
  if (words.has("name")) host.name = words.value("name");
  if (words.has("slurm")) host.kind = HostKind::slurm;
  host.ranks = words.number("ranks", host.ranks);
  for (const QString& each : words.parser.values("place")) {
    const QString name = each.section('=', 0, 0);
    bool good = true;
    const int ranks = each.contains('=') ? each.section('=', 1).toInt(&good) : 1;
    if (!good)
      throwError(ErrorCode::badArgument, "--place {}: NAME=RANKS is wanted, such as --place a01=8", each.toStdString());
    host.places.append({name, ranks});
  }
  host.modules = words.parser.values("module");
  host.slurm.partition = words.value("partition");
  host.slurm.account = words.value("account");
  host.slurm.time = words.value("time");
  host.slurm.gres = words.value("gres");
  host.slurm.nodes = words.number("nodes", host.slurm.nodes);
  host.slurm.ranksPerNode = words.number("ranks-per-node", host.slurm.ranksPerNode);
  if (words.has("folder")) host.folder = words.value("folder");
  host.dataFolder = words.value("data");
  host.libraries = words.value("libraries");
  host.bringBest = words.has("bring-best");
  host.key = words.value("key");
  host.systemSsh = words.has("system-ssh");
  return host;
}

int add(const DoorOptions& options, const Words& words, const QString& address) {
  const Host host = hostOf(words, address);
  QStringList faults = problems(host);
  const HostStore known(options.dataFolder);
  for (const Host& each : known.hosts())
    if (each.name == host.name)
      faults << QStringLiteral("another host is called '%1': choose a name with --name").arg(host.name);
  if (!faults.isEmpty()) throwError(ErrorCode::badArgument, "{}", faults.join("; ").toStdString());
  Errand errand(options);
  const Json added = errand.ask({{"order", "add_host"}, {"host", toJson(host)}});
  if (words.has("json"))
    printJson({{"id", added["id"]}, {"name", host.name.toStdString()}});
  else
    Console().line(fmt::format("{} is added; gradloom hosts check {} says what it offers", host.name.toStdString(),
                               host.name.toStdString()));
  return kExitDone;
}

}  // namespace

int hostsVerb(const QStringList& given, const DoorOptions& options) {
  Words words(QStringLiteral(
      "Lists the hosts; checks one: connection, programs, limits, a real start of all ranks; or adds one."));
  words.parser.addPositionalArgument("check NAME | add USER@MACHINE", "Nothing: the list.",
                                     "[check NAME | add USER@MACHINE]");
  words.parser.addOptions(
      {{"json", "Print JSON and nothing else."},
       {"name", "add: what it is called here; its address, unless named.", "TEXT"},
       {"ranks", "add: how many on the host itself.", "N"},
       {"place", "add: a machine that it starts ranks on. Again for more.", "NAME=RANKS"},
       {"key", "add: a private key here for signing in.", "FILE"},
       {"system-ssh", "add: reach it by the system's own ssh: ProxyCommand, FIDO keys, certificates."},
       {"slurm", "add: it is the login machine of a Slurm cluster."},
       {"partition", "add: of Slurm.", "NAME"},
       {"account", "add: of Slurm.", "NAME"},
       {"time", "add: Slurm's time limit, 08:00:00.", "TIME"},
       {"gres", "add: Slurm's generic resources of each node, gpu:2.", "TEXT"},
       {"nodes", "add: of a Slurm job.", "N"},
       {"ranks-per-node", "add: of a Slurm job.", "N"},
       {"module", "add: a line that its shell reads before a job. Again for more.", "LINE"},
       {"folder", "add: for engine, runs and data there.", "FOLDER"},
       {"data", "add: where the data lies there already.", "FOLDER"},
       {"libraries", "add: a folder there with NVIDIA's libraries (cuDNN, cuBLAS), searched first.", "FOLDER"},
       {"bring-best", "add: bring the best checkpoint back when a run ends."}});
  if (!words.read("hosts", given)) return kExitDone;
  const QStringList what = words.positional();
  if (what.isEmpty()) return list(options, words.has("json"));
  if (what.size() == 2 && what[0] == "check") return check(options, what[1], words.has("json"));
  if (what.size() == 2 && what[0] == "add") return add(options, words, what[1]);
  throwError(ErrorCode::badArgument,
             "'{}' is not understood: gradloom hosts, gradloom hosts check NAME, gradloom hosts add USER@MACHINE",
             what.join(' ').toStdString());
}

}  // namespace loom
