#include "launcher/ssh/ssh_host_key.h"

#include <libssh/libssh.h>

#include <QFile>
#include <memory>

namespace loom {
namespace {

QString fingerprintOf(ssh_key key) {
  unsigned char* hash = nullptr;
  size_t length = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != SSH_OK)
    return QStringLiteral("unknown");
  char* text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  QString type = QString::fromLatin1(ssh_key_type_to_char(ssh_key_type(key)));
  if (type.startsWith("ssh-")) type = type.mid(4);
  const QString shown = type.section('-', 0, 0).toUpper() + ' ' + QString::fromLatin1(text);
  ssh_string_free_char(text);
  ssh_clean_pubkey_hash(&hash);
  return shown;
}

QString nameInFile(const SshTarget& target) {
  if (!target.hostKeyAlias.isEmpty()) return target.hostKeyAlias;
  return target.port == 22 ? target.host : QStringLiteral("[%1]:%2").arg(target.host).arg(target.port);
}

// Every fingerprint that the file has for this name, hashed names and patterns too.
QString knownFingerprints(const QString& path, const QString& name) {
  QStringList found;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  for (const QByteArray& line : file.readAll().split('\n')) {
    ssh_knownhosts_entry* entry = nullptr;
    if (ssh_known_hosts_parse_line(name.toUtf8().constData(), line.constData(), &entry) != SSH_OK || !entry) continue;
    if (entry->publickey) found << fingerprintOf(entry->publickey);
    ssh_knownhosts_entry_free(entry);
  }
  return found.join(QStringLiteral(" or "));
}

}  // namespace

QString checkHostKey(ssh_session session, const SshTarget& target, const SshAsk& ask) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK)
    throw SshError(SshFault::hostKey, fmt::format("{} showed no key", target.shown().toStdString()));
  const std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)> key(raw, &ssh_key_free);
  const QString shown = fingerprintOf(key.get()), name = nameInFile(target), file = target.knownHosts.value(0);
  switch (ssh_session_is_known_server(session)) {
    case SSH_KNOWN_HOSTS_OK:
      return shown;
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      throw SshError(
          SshFault::hostKey,
          fmt::format(
              "the key of {} has changed: it shows {}, but {} has {}. Somebody may stand between, or the host was set "
              "up anew. "
              "Ask whoever runs it; if the new key is right, remove the old one with: ssh-keygen -R '{}' -f '{}'",
              target.shown().toStdString(), shown.toStdString(), file.toStdString(),
              knownFingerprints(file, name).toStdString(), name.toStdString(), file.toStdString()));
    case SSH_KNOWN_HOSTS_NOT_FOUND:
    case SSH_KNOWN_HOSTS_UNKNOWN:
      break;
    case SSH_KNOWN_HOSTS_ERROR:
      throw SshError(SshFault::hostKey,
                     fmt::format("{} cannot be read, so the key of {} cannot be checked: {}", file.toStdString(),
                                 target.shown().toStdString(), ssh_get_error(session)));
  }
  const auto answer = ask({.kind = SshQuestion::Kind::newHostKey,
                           .host = target.shown(),
                           .text = QStringLiteral("%1 is not known yet. Its key is %2.").arg(name, shown),
                           .fingerprint = shown});
  if (answer != QStringLiteral("yes"))
    throw SshError(SshFault::hostKey, fmt::format("the key of {} ({}) is not known and was not accepted",
                                                  target.shown().toStdString(), shown.toStdString()));
  if (ssh_session_update_known_hosts(session) != SSH_OK)
    throw SshError(SshFault::hostKey,
                   fmt::format("the key of {} cannot be entered in {}: {}", target.shown().toStdString(),
                               file.toStdString(), ssh_get_error(session)));
  return shown;
}

}  // namespace loom
