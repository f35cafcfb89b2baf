// Files of a person's ssh and of the launcher, read on the way to a host.
#include <QCoreApplication>

#include "launcher/hosts/host_store.h"
#include "launcher/hosts/ssh_config.h"
#include "launcher/ssh/ssh_host_key.h"
#include "tests/fuzz/fuzz.h"

using namespace loom;

namespace {
QString shown(const std::filesystem::path& path) {
  return QString::fromStdString(path.string());
}
}  // namespace

LOOM_FUZZ(ssh_config) {
  const fuzz::Folder folder;
  const SshConfig config(shown(folder.write("config", bytes)));
  for (const QString& name : config.names() + QStringList{QStringLiteral("atlas"), QStringLiteral("*")}) {
    try {
      (void)config.resolve(name).shown();
    } catch (const Error&) {
    }
  }
}

LOOM_FUZZ(hosts_json) {
  const fuzz::Folder folder;
  folder.write("hosts.json", bytes);
  try {
    HostStore store(shown(folder.path("")));
    for (const Host& host : store.hosts()) (void)problems(host);
    // What could be read is kept through a change of the list.
    const qsizetype before = store.hosts().size();
    const QString id = store.add(hostFromText(QStringLiteral("mara@head.atlas.example")));
    store.remove(id);
    HostStore again(shown(folder.path("")));
    if (again.hosts().size() != before) std::abort();
  } catch (const Error&) {
  }
}

LOOM_FUZZ(known_hosts) {
  const fuzz::Folder folder;
  SshTarget target;
  target.name = target.host = QStringLiteral("head.atlas.example");
  target.knownHosts = {shown(folder.write("known_hosts", bytes))};
  try {
    (void)preferredHostKeys(target);
  } catch (const Error&) {
  }
}
