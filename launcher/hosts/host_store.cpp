#include "launcher/hosts/host_store.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "launcher/store/file_lock.h"

namespace loom {

struct HostStore::Contents {
  QList<Host> hosts;
  Json whole = {{"gradloom_hosts", 1}};  // with what else the file holds
  Json unread = Json::array();           // entries that cannot be used
  QString notice;
};

HostStore::HostStore(const QString& folder, QObject* parent)
    : QObject(parent), m_folder(folder), m_file(folder + "/hosts.json") {
  if (!QDir().mkpath(folder)) throwError(ErrorCode::inputOutput, "{} cannot be made", folder.toStdString());
  try {
    const Contents contents = read();
    m_hosts = contents.hosts;
    m_notice = contents.notice;
  } catch (const Error& error) {
    setAside(QString::fromStdString(error.what()));
  }
}

HostStore::Contents HostStore::read() const {
  Contents contents;
  if (!QFile::exists(m_file)) return contents;
  const Json json = parseJson(readFile(m_file.toStdString(), std::size_t{16} << 20), "hosts.json");
  const auto list = json.find("hosts");
  if (list == json.end() || !list->is_array()) throwError(ErrorCode::badData, "hosts.json has no list 'hosts'");
  for (const Json& each : *list) {
    try {
      contents.hosts.append(hostFromJson(each, UnknownKeys::keep));
    } catch (const Error& error) {
      contents.unread.push_back(each);
      contents.notice = tr("A host in %1 cannot be used (%2). It is kept there as it stands.")
                            .arg(m_file, QString::fromStdString(error.what()));
    }
  }
  contents.whole = json;
  return contents;
}

void HostStore::setAside(const QString& why) {
  const QString aside = m_file + ".damaged-" + QDateTime::currentDateTime().toString("yyyyMMdd-HHmmss");
  QFile::rename(m_file, aside);
  m_notice = tr("The list of hosts cannot be read (%1). It was kept as %2.").arg(why, aside);
}

// Tells what another window changed, too.
void HostStore::take(const Contents& contents) {
  const QList<Host> before = std::exchange(m_hosts, contents.hosts);
  const auto in = [](const QList<Host>& hosts, const QString& id) {
    return std::find_if(hosts.begin(), hosts.end(), [&](const Host& each) { return each.id == id; });
  };
  for (const Host& each : before)
    if (in(contents.hosts, each.id) == contents.hosts.end()) Q_EMIT hostRemoved(each.id);
  for (const Host& each : contents.hosts) {
    const auto known = in(before, each.id);
    if (known == before.end())
      Q_EMIT hostAdded(each.id);
    else if (toJson(*known) != toJson(each))
      Q_EMIT hostChanged(each.id);
  }
}

void HostStore::alter(const std::function<void(QList<Host>&)>& change) {
  Contents contents;
  {
    const FileLock lock(m_folder + "/hosts.lock", FileLock::Kind::exclusive);
    try {
      contents = read();
    } catch (const Error& error) {  // damaged while we had it open
      setAside(QString::fromStdString(error.what()));
      contents.hosts = m_hosts;
    }
    change(contents.hosts);
    Json list = Json::array();
    for (const Host& each : contents.hosts) list.push_back(toJson(each));
    for (const Json& each : contents.unread) list.push_back(each);
    contents.whole["hosts"] = std::move(list);
    writeFileAtomically(m_file.toStdString(), formatJson(contents.whole) + "\n");
  }
  take(contents);
}

const Host* HostStore::find(const QString& id) const {
  for (const Host& each : m_hosts)
    if (each.id == id) return &each;
  return nullptr;
}

QString HostStore::add(Host host) {
  alter([&](QList<Host>& hosts) {
    const QString wanted = host.id.isEmpty() ? QStringLiteral("host") : host.id;
    const auto taken = [&] {
      return std::any_of(hosts.begin(), hosts.end(), [&](const Host& each) { return each.id == host.id; });
    };
    host.id = wanted;
    for (int number = 2; taken(); ++number) host.id = wanted + '-' + QString::number(number);
    hosts.append(host);
  });
  return host.id;
}

void HostStore::change(const Host& host) {
  alter([&](QList<Host>& hosts) {
    for (Host& each : hosts)
      if (each.id == host.id) {
        each = host;
        return;
      }
    throwError(ErrorCode::badArgument, "there is no host '{}'", host.id.toStdString());
  });
}

void HostStore::remove(const QString& id) {
  alter([&](QList<Host>& hosts) { hosts.removeIf([&](const Host& each) { return each.id == id; }); });
}

}  // namespace loom
