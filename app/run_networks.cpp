#include "app/run_networks.h"

#include <QCryptographicHash>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/network/flatten.h"
#include "engine/network/project.h"

namespace loom {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr int kAtOnce = 32;  // runs that are read before the window hears of them
constexpr int kMostParts = 4, kFewNames = 2;
constexpr char kBetween = '\t';  // node and field; no id has it

QByteArray hashOf(const std::string& text) {
  return QCryptographicHash::hash(QByteArrayView(text.data(), static_cast<qsizetype>(text.size())),
                                  QCryptographicHash::Sha1);
}

void take(RunNetwork& into, std::string name, std::string text, bool isNumber) {
  into.places.emplace(name, into.values.size());
  into.values.push_back({std::move(name), std::move(text), isNumber, true});
}

// Defaults are written out: what says nothing and what says the default are one network.
void takeNode(RunNetwork& into, const Node& node) {
  take(into, node.id, node.layer, false);
  const LayerDefinition* const layer = findLayer(node.layer);
  const auto value = [&](const std::string& key, const Json& what) {
    if (!what.is_null()) take(into, node.id + kBetween + key, comparableText(what), what.is_number());
  };
  if (layer)
    for (const Field& field : layer->entry.fields)
      value(field.key, node.values.contains(field.key) ? node.values[field.key] : field.defaultValue);
  else
    for (const auto& item : node.values.items()) value(item.key(), item.value());
  if (!node.shares.empty()) take(into, node.id + kBetween + "shares", '"' + node.shares + '"', false);
}

std::string wiring(const Network& network) {
  std::vector<std::string> edges;
  for (const Edge& each : network.edges)
    edges.push_back(each.from.node + '.' + each.from.port + '>' + each.to.node + '.' + each.to.port);
  std::sort(edges.begin(), edges.end());
  std::string all;
  for (const std::string& each : edges) all += each + '\n';
  return hashOf(all).toHex().toStdString();
}

std::pair<std::string, std::string> nodeAndField(const std::string& name) {
  const std::size_t at = name.find(kBetween);
  return at == std::string::npos ? std::pair(name, std::string()) : std::pair(name.substr(0, at), name.substr(at + 1));
}

}  // namespace

const NamedValue* RunNetwork::find(const std::string& name) const {
  const auto at = places.find(name);
  return at == places.end() ? nullptr : &values[at->second];
}

RunNetwork readRunNetwork(const QString& folder) {
  const Json run = parseJson(readFile((folder + "/run.json").toStdString(), kLargestFile), "run.json");
  if (!run.is_object() || !run.contains("project") || !run["project"].is_object())
    throwError(ErrorCode::badData, "{}: its run.json holds no project", folder.toStdString());
  const ReadProject read = readProject(run["project"].dump(), "run.json");
  const Project& project = read.project;
  const std::string name = project.training.updates.empty() ? "main" : project.training.updates.front().network;
  const Network* const drawn = project.network(name);
  if (!read.readable || !drawn) throwError(ErrorCode::badData, "{}: it holds no network", folder.toStdString());
  const Network flat = flatten(project, *drawn).network;
  RunNetwork network;
  for (const Node& node : flat.nodes) takeNode(network, node);
  take(network, {}, wiring(flat), false);
  std::string all;
  for (const NamedValue& each : network.values) all += each.name + '=' + each.text + '\n';
  network.drawing = hashOf(all);
  const auto datasets = run["project"].find("datasets");
  network.data = hashOf(datasets == run["project"].end() ? std::string() : datasets->dump());
  return network;
}

QString labelOfNetworkValue(const std::string& name) {
  if (name.empty()) return QObject::tr("Wiring");
  const auto [node, field] = nodeAndField(name);
  return QString::fromStdString(field.empty() ? node : node + ' ' + field);
}

QString textOfNetworkValue(const NamedValue* value) {
  if (!value) return QStringLiteral("–");
  if (value->name.empty()) return QString::fromStdString(value->text.substr(0, 6));
  QString text = QString::fromStdString(value->text);
  if (text.size() >= 2 && text.startsWith('"') && text.endsWith('"')) text = text.mid(1, text.size() - 2);
  return text.replace(',', ", ");
}

std::vector<std::string> networkDifferences(const Differences& differences) {
  std::vector<std::string> names;
  for (std::string& name : differences.names()) {
    const auto [node, field] = nodeAndField(name);
    // Fields of a node that is another layer elsewhere, or missing, follow from that.
    if (!field.empty() && differences.differs(node)) continue;
    if (!name.empty()) names.push_back(std::move(name));
  }
  if (names.empty() && differences.differs(std::string())) names.emplace_back();
  return names;
}

QString describeNetwork(const RunNetwork& network, const std::vector<std::string>& names, const RunNetwork* most) {
  if (!network.isKnown()) return {};
  if (names.size() <= kFewNames) most = nullptr;
  if (most && most->drawing == network.drawing) return QObject::tr("as most");
  QStringList parts;
  for (const std::string& name : names) {
    const NamedValue* const value = network.find(name);
    const NamedValue* const usual = most ? most->find(name) : nullptr;
    if (most && (value && usual ? value->text == usual->text : value == usual)) continue;
    if (!value && nodeAndField(name).second.empty())
      parts << QObject::tr("without %1").arg(labelOfNetworkValue(name));
    else if (value)
      parts << labelOfNetworkValue(name) + ' ' + textOfNetworkValue(value);
    if (parts.size() > kMostParts) break;
  }
  if (parts.size() > kMostParts) {
    parts.removeLast();
    parts << QStringLiteral("…");
  }
  if (parts.isEmpty() && most) parts << labelOfNetworkValue({}) + ' ' + textOfNetworkValue(network.find({}));
  return parts.join(", ");
}

RunNetworks::RunNetworks(QObject* parent) : QObject(parent) {}

void RunNetworks::want(const QString& run, const QString& folder) {
  if (m_known.contains(run)) return;
  m_known.insert(run, nullptr);
  m_wanted.append({run, folder});
  readSome();
}

void RunNetworks::readSome() {
  if (m_wanted.isEmpty() || m_task.busy()) return;
  const QList<Wish> some = m_wanted.mid(0, kAtOnce);
  m_wanted.remove(0, some.size());
  m_task.ask([this, some](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    std::vector<Answer> answers;
    for (const Wish& each : some) {
      if (outdated) return {};
      auto network = std::make_shared<RunNetwork>();
      try {
        *network = readRunNetwork(each.folder);
      } catch (const std::exception&) {
        // Of another program, or gone: it is not known.
      }
      answers.push_back({each.run, std::move(network)});
    }
    return [this, answers = std::move(answers)] {
      QStringList runs;
      for (const Answer& each : answers) {
        std::shared_ptr<const RunNetwork>& shared = m_shared[each.network->drawing + each.network->data];
        if (!shared) shared = each.network;
        m_known.insert(each.run, shared);
        runs << each.run;
      }
      Q_EMIT read(runs);
      readSome();
    };
  });
}

}  // namespace loom
