#include "launcher/hosts/host_store.h"

#include <QDateTime>
#include <QDir>
#include <QFile>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"

namespace loom {

HostStore::HostStore(const QString& folder, QObject* parent) : QObject(parent), m_file(folder + "/hosts.json") {
  if (!QDir().mkpath(folder)) throwError(ErrorCode::inputOutput, "{} cannot be made", folder.toStdString());
  if (!QFile::exists(m_file)) return;
  try {
    const Json json = parseJson(readFile(m_file.toStdString(), std::size_t{16} << 20), "hosts.json");
    const auto list = json.find("hosts");
    if (list == json.end() || !list->is_array()) throwError(ErrorCode::badData, "hosts.json has no list 'hosts'");
    for (const Json& each : *list) m_hosts.append(hostFromJson(each));
  } catch (const Error& error) {
    m_hosts.clear();
    const QString aside = m_file + ".damaged-" + QDateTime::currentDateTime().toString("yyyyMMdd-HHmmss");
    QFile::rename(m_file, aside);
    m_notice = tr("The list of hosts cannot be read (%1). It was kept as %2.")
                   .arg(QString::fromStdString(error.what()), aside);
  }
}

const Host* HostStore::find(const QString& id) const {
  for (const Host& each : m_hosts)
    if (each.id == id) return &each;
  return nullptr;
}

QString HostStore::add(Host host) {
  const QString wanted = host.id.isEmpty() ? QStringLiteral("host") : host.id;
  host.id = wanted;
  for (int number = 2; find(host.id); ++number) host.id = wanted + '-' + QString::number(number);
  m_hosts.append(host);
  try {
    save();
  } catch (...) {
    m_hosts.removeLast();
    throw;
  }
  Q_EMIT hostAdded(host.id);
  return host.id;
}

void HostStore::change(const Host& host) {
  for (Host& each : m_hosts) {
    if (each.id != host.id) continue;
    const Host before = std::exchange(each, host);
    try {
      save();
    } catch (...) {
      each = before;
      throw;
    }
    Q_EMIT hostChanged(host.id);
    return;
  }
  throwError(ErrorCode::badArgument, "there is no host '{}'", host.id.toStdString());
}

void HostStore::remove(const QString& id) {
  const QList<Host> before = m_hosts;
  m_hosts.removeIf([&](const Host& each) { return each.id == id; });
  if (m_hosts.size() == before.size()) return;
  try {
    save();
  } catch (...) {
    m_hosts = before;
    throw;
  }
  Q_EMIT hostRemoved(id);
}

void HostStore::save() const {
  Json list = Json::array();
  for (const Host& each : m_hosts) list.push_back(toJson(each));
  writeFileAtomically(m_file.toStdString(), formatJson({{"gradloom_hosts", 1}, {"hosts", list}}) + "\n");
}

}  // namespace loom
