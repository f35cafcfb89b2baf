#include "launcher/hosts/host.h"

#include <QRegularExpression>
#include <set>

#include "engine/agent/job_folder.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace loom {
namespace {

Json toJson(const QStringList& list) {
  Json array = Json::array();
  for (const QString& each : list) array.push_back(each.toStdString());
  return array;
}

// Reads the keys of one object and complains about those that nobody asked for.
class Keys {
 public:
  Keys(const Json& object, std::string place) : m_object(object), m_place(std::move(place)) {
    if (!object.is_object()) throwError(ErrorCode::badData, "{} is no JSON object", m_place);
  }

  QString text(const char* key, const QString& otherwise = {}) {
    const Json* const value = find(key);
    if (!value) return otherwise;
    if (!value->is_string()) wrong(key, "a text");
    return QString::fromStdString(value->get<std::string>());
  }
  int integer(const char* key, int otherwise) {
    const Json* const value = find(key);
    if (!value) return otherwise;
    if (!value->is_number_integer()) wrong(key, "a whole number");
    return value->get<int>();
  }
  bool flag(const char* key, bool otherwise) {
    const Json* const value = find(key);
    if (!value) return otherwise;
    if (!value->is_boolean()) wrong(key, "true or false");
    return value->get<bool>();
  }
  QStringList list(const char* key) {
    QStringList texts;
    const Json* const value = find(key);
    if (!value) return texts;
    if (!value->is_array()) wrong(key, "a list of texts");
    for (const Json& each : *value) {
      if (!each.is_string()) wrong(key, "a list of texts");
      texts << QString::fromStdString(each.get<std::string>());
    }
    return texts;
  }
  const Json* find(const char* key) {
    m_asked.insert(key);
    const auto found = m_object.find(key);
    return found == m_object.end() ? nullptr : &*found;
  }
  // Keys that nobody asked for.
  Json rest(UnknownKeys unknown = UnknownKeys::refuse) const {
    Json rest = Json::object();
    for (const auto& [key, value] : m_object.items()) {
      if (m_asked.count(key)) continue;
      if (unknown == UnknownKeys::refuse)
        throwError(ErrorCode::badData, "{}: '{}' is no setting of a host", m_place, key);
      rest[key] = value;
    }
    return rest;
  }

 private:
  [[noreturn]] void wrong(const char* key, const char* wanted) const {
    throwError(ErrorCode::badData, "{}: '{}' must be {}", m_place, key, wanted);
  }
  const Json& m_object;
  std::string m_place;
  std::set<std::string> m_asked;
};

void addMissing(Json& into, const Json& further) {
  for (const auto& [key, value] : further.items()) {
    if (!into.contains(key))
      into[key] = value;
    else if (into[key].is_object() && value.is_object())
      addMissing(into[key], value);
  }
}

}  // namespace

int Host::totalRanks() const {
  if (kind == HostKind::slurm) return slurm.nodes * slurm.ranksPerNode;
  if (places.isEmpty()) return ranks;
  int total = 0;
  for (const RankPlace& each : places) total += each.ranks;
  return total;
}

Json toJson(const Host& host) {
  const Host plain;
  Json json = {{"id", host.id.toStdString()},
               {"name", host.name.toStdString()},
               {"address", host.address.toStdString()},
               {"kind", host.kind == HostKind::slurm ? "slurm" : "mpirun"}};
  const auto text = [&json](const char* key, const QString& value) {
    if (!value.isEmpty()) json[key] = value.toStdString();
  };
  const auto list = [&json](const char* key, const QStringList& value) {
    if (!value.isEmpty()) json[key] = toJson(value);
  };
  text("user", host.user);
  if (host.port) json["port"] = host.port;
  if (host.systemSsh) json["system_ssh"] = true;
  text("key", host.key);
  if (host.ranks != plain.ranks) json["ranks"] = host.ranks;
  for (const RankPlace& each : host.places)
    json["places"].push_back({{"name", each.name.toStdString()}, {"ranks", each.ranks}});
  list("mpirun", host.mpirun);
  list("modules", host.modules);
  list("container", host.containerPrefix);
  if (host.kind == HostKind::slurm) {
    const SlurmSettings& slurm = host.slurm;
    json["slurm"] = {{"account", slurm.account.toStdString()},
                     {"partition", slurm.partition.toStdString()},
                     {"gres", slurm.gres.toStdString()},
                     {"time", slurm.time.toStdString()},
                     {"nodes", slurm.nodes},
                     {"ranks_per_node", slurm.ranksPerNode},
                     {"cores_per_rank", slurm.coresPerRank},
                     {"signal_seconds", slurm.signalSeconds},
                     {"continuations", slurm.continuations},
                     {"lines", toJson(slurm.lines)}};
  }
  if (host.stalledAfter) json["stalled_after"] = host.stalledAfter;
  if (host.folder != plain.folder) text("folder", host.folder);
  text("data_folder", host.dataFolder);
  text("libraries", host.libraries);
  if (host.bringBest) json["bring_best"] = true;
  if (!host.further.isEmpty()) addMissing(json, Json::parse(host.further.begin(), host.further.end()));
  return json;
}

Host hostFromJson(const Json& json, UnknownKeys unknown) {
  Keys keys(json, "a host");
  Host host;
  host.id = keys.text("id");
  if (host.id.isEmpty()) throwError(ErrorCode::badData, "a host has no id");
  Keys named(json, "host '" + host.id.toStdString() + "'");
  named.find("id");
  Json further = Json::object();
  host.name = named.text("name", host.id);
  host.address = named.text("address");
  host.user = named.text("user");
  host.port = named.integer("port", 0);
  host.systemSsh = named.flag("system_ssh", false);
  host.key = named.text("key");
  const QString kind = named.text("kind", "mpirun");
  if (kind != "mpirun" && kind != "slurm")
    throwError(ErrorCode::badData, "host '{}': the kind is '{}', but must be 'mpirun' or 'slurm'",
               host.id.toStdString(), kind.toStdString());
  host.kind = kind == "slurm" ? HostKind::slurm : HostKind::mpirun;
  host.ranks = named.integer("ranks", host.ranks);
  if (const Json* places = named.find("places")) {
    if (!places->is_array())
      throwError(ErrorCode::badData, "host '{}': 'places' must be a list", host.id.toStdString());
    for (const Json& each : *places) {
      Keys place(each, "host '" + host.id.toStdString() + "', a place");
      host.places.append({place.text("name"), place.integer("ranks", 1)});
      place.rest();
    }
  }
  host.mpirun = named.list("mpirun");
  host.modules = named.list("modules");
  host.containerPrefix = named.list("container");
  if (const Json* slurm = named.find("slurm")) {
    Keys inner(*slurm, "host '" + host.id.toStdString() + "', slurm");
    host.slurm.account = inner.text("account");
    host.slurm.partition = inner.text("partition");
    host.slurm.gres = inner.text("gres");
    host.slurm.time = inner.text("time");
    host.slurm.nodes = inner.integer("nodes", 1);
    host.slurm.ranksPerNode = inner.integer("ranks_per_node", 1);
    host.slurm.coresPerRank = inner.integer("cores_per_rank", 0);
    host.slurm.signalSeconds = inner.integer("signal_seconds", host.slurm.signalSeconds);
    host.slurm.continuations = inner.integer("continuations", 0);
    host.slurm.lines = inner.list("lines");
    if (Json rest = inner.rest(unknown); !rest.empty()) further["slurm"] = std::move(rest);
  }
  host.stalledAfter = named.integer("stalled_after", 0);
  host.folder = named.text("folder", host.folder);
  host.dataFolder = named.text("data_folder");
  host.libraries = named.text("libraries");
  host.bringBest = named.flag("bring_best", false);
  further.update(named.rest(unknown));
  if (!further.empty()) host.further = QByteArray::fromStdString(further.dump());
  return host;
}

QStringList problems(const Host& host) {
  QStringList found;
  const auto say = [&found](const QString& sentence) { found << sentence; };
  const QString name = host.name.isEmpty() ? host.address : host.name;
  if (host.address.isEmpty())
    say(QStringLiteral("%1 has no address: give a host name or a name of ~/.ssh/config").arg(name));
  static const QRegularExpression plain("^[A-Za-z0-9._:%-]+$");
  if (!host.address.isEmpty() && (!plain.match(host.address).hasMatch() || host.address.startsWith('-')))
    say(QStringLiteral("'%1' is no address: letters, digits, '.', ':' and '-' make one").arg(host.address));
  if (host.port < 0 || host.port > 65535)
    say(QStringLiteral("the port is %1, but must lie between 1 and 65535").arg(host.port));
  if (!isPlainPath(host.folder.toStdString()))
    say(QStringLiteral("the folder '%1' is named in job scripts, where spaces and signs have a meaning: choose one of "
                       "letters, digits and ._-/+@%=,")
            .arg(host.folder));
  if (!host.libraries.isEmpty() && (!host.libraries.startsWith('/') || !isPlainPath(host.libraries.toStdString())))
    say(QStringLiteral("'%1' is no folder of libraries: give its whole path, of letters, digits and ._-/+@%=,")
            .arg(host.libraries));
  if (host.totalRanks() < 1)
    say(QStringLiteral("%1 has %2 ranks, but a run needs at least 1").arg(name).arg(host.totalRanks()));
  for (const RankPlace& each : host.places)
    if (!plain.match(each.name).hasMatch() || each.name.startsWith('-') || each.ranks < 1)
      say(QStringLiteral("'%1' with %2 ranks is no place for ranks: give a host name and at least 1")
              .arg(each.name)
              .arg(each.ranks));
  if (host.stalledAfter != 0 && host.stalledAfter < 3)
    say(QStringLiteral("a rank cannot count as stalled after %1 s: give at least 3, or 0 for the usual 40")
            .arg(host.stalledAfter));
  if (host.kind == HostKind::slurm) {
    // Values that stand in the script's #SBATCH lines: one word each.
    static const QRegularExpression word("^[A-Za-z0-9._:,=@+*/\\[\\]-]*$");
    for (const QString& each : {host.slurm.account, host.slurm.partition, host.slurm.gres, host.slurm.time})
      if (!word.match(each).hasMatch())
        say(QStringLiteral("'%1' cannot stand in a line of a Slurm script: one word, without spaces and quotes")
                .arg(each));
    for (const QString& each : host.slurm.lines)
      if (!each.startsWith("#SBATCH ") || each.contains('\n'))
        say(QStringLiteral("'%1' is no line for Slurm: begin it with '#SBATCH '").arg(each));
    if (host.slurm.signalSeconds < 10)
      say(QStringLiteral("%1 s before the time limit are too short for a checkpoint: give at least 10")
              .arg(host.slurm.signalSeconds));
  }
  return found;
}

Host hostFromText(const QString& text) {
  Host host;
  QString rest = text.trimmed();
  if (const auto at = rest.lastIndexOf('@'); at > 0) {
    host.user = rest.left(at);
    rest = rest.mid(at + 1);
  }
  static const QRegularExpression bracketed("^\\[([^\\]]+)\\](?::(\\d+))?$"), plain("^([^:]+):(\\d+)$");
  for (const QRegularExpression* each : {&bracketed, &plain}) {
    if (const auto match = each->match(rest); match.hasMatch()) {
      rest = match.captured(1);
      host.port = match.captured(2).toInt();
      break;
    }
  }
  host.address = host.name = rest;
  QString id = rest.toLower();
  id.replace(QRegularExpression("[^a-z0-9]+"), "-");
  host.id = id;
  return host;
}

}  // namespace loom
