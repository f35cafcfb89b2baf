#include "launcher/ssh/ssh_host_key.h"

#include <libssh/libssh.h>

#include <QFile>
#include <functional>
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

using Entry = std::unique_ptr<ssh_knownhosts_entry, decltype(&ssh_knownhosts_entry_free)>;

// Every line of the files that is about this host, hashed names and patterns too: where it stands, its marker
// ("@revoked", "@cert-authority", or none) and its key.
void eachKnown(const SshTarget& target,
               const std::function<void(const QString& file, const QByteArray& marker, ssh_key key)>& take) {
  const QByteArray name = nameInFile(target).toUtf8();
  for (const QString& path : target.knownHosts + target.globalKnownHosts) {
    QFile file(path);
    if (!file.exists()) continue;
    if (!file.open(QIODevice::ReadOnly))
      throw SshError(SshFault::hostKey,
                     fmt::format("{} cannot be read, so the key of {} cannot be checked: {}", path.toStdString(),
                                 target.shown().toStdString(), file.errorString().toStdString()));
    while (!file.atEnd()) {
      QByteArray line = file.readLine().trimmed(), marker;
      if (line.startsWith('@')) {
        const qsizetype space = line.indexOf(' ');
        marker = line.left(space);
        line = space < 0 ? QByteArray() : line.mid(space).trimmed();
      }
      ssh_knownhosts_entry* raw = nullptr;
      if (line.isEmpty() || line.startsWith('#') ||
          ssh_known_hosts_parse_line(name.constData(), line.constData(), &raw) != SSH_OK || !raw)
        continue;
      const Entry entry(raw, &ssh_knownhosts_entry_free);
      if (entry->publickey) take(path, marker, entry->publickey);
    }
  }
}

}  // namespace

QString preferredHostKeys(const SshTarget& target) {
  // As the library orders them.
  QStringList all{"ssh-ed25519",         "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp384",
                  "ecdsa-sha2-nistp256", "rsa-sha2-512",        "rsa-sha2-256"};
  QStringList first;
  eachKnown(target, [&](const QString&, const QByteArray& marker, ssh_key key) {
    const QString type = QString::fromLatin1(ssh_key_type_to_char(ssh_key_type(key)));
    if (marker.isEmpty())
      first << (type == "ssh-rsa" ? QStringList{"rsa-sha2-512", "rsa-sha2-256"} : QStringList{type});
  });
  first.removeDuplicates();
  if (first.isEmpty()) return {};
  for (const QString& each : std::as_const(first)) all.removeAll(each);
  return (first + all).join(',');
}

QString checkHostKey(ssh_session session, const SshTarget& target, const SshAsk& ask) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(session, &raw) != SSH_OK)
    throw SshError(SshFault::hostKey, fmt::format("{} showed no key", target.shown().toStdString()));
  const std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)> key(raw, &ssh_key_free);
  const QString shown = fingerprintOf(key.get()), name = nameInFile(target);
  QString revokedIn, changedIn;
  QStringList others;
  bool isKnown = false, hasAuthority = false;
  eachKnown(target, [&](const QString& file, const QByteArray& marker, ssh_key known) {
    const bool same = ssh_key_cmp(known, key.get(), SSH_KEY_CMP_PUBLIC) == 0;
    if (marker == "@revoked") {
      if (same) revokedIn = file;
    } else if (marker == "@cert-authority") {
      hasAuthority = true;
    } else if (same) {
      isKnown = true;
    } else if (marker.isEmpty()) {
      if (changedIn.isEmpty()) changedIn = file;
      if (file == changedIn) others << fingerprintOf(known);
    }
  });
  if (!revokedIn.isEmpty())
    throw SshError(SshFault::hostKey,
                   fmt::format("the key of {} ({}) is revoked in {}: whoever shows it is not to be trusted. Ask who "
                               "runs the host for its new key",
                               target.shown().toStdString(), shown.toStdString(), revokedIn.toStdString()));
  if (isKnown) return shown;
  if (!others.isEmpty())
    throw SshError(
        SshFault::hostKey,
        fmt::format(
            "the key of {} has changed: it shows {}, but {} has {}. Somebody may stand between, or the host was set "
            "up anew. "
            "Ask whoever runs it; if the new key is right, remove the old one with: ssh-keygen -R '{}' -f '{}'",
            target.shown().toStdString(), shown.toStdString(), changedIn.toStdString(),
            others.join(QStringLiteral(" or ")).toStdString(), name.toStdString(), changedIn.toStdString()));
  if (target.newHostKey == SshTarget::NewHostKey::refuse)
    throw SshError(
        SshFault::hostKey,
        fmt::format("the key of {} ({}) is not known, and ~/.ssh/config has StrictHostKeyChecking yes: enter "
                    "it in {} first",
                    target.shown().toStdString(), shown.toStdString(), target.knownHosts.value(0).toStdString()));
  if (target.newHostKey == SshTarget::NewHostKey::ask) {
    QString text = QStringLiteral("%1 is not known yet.").arg(name);  // the fingerprint stands by itself
    if (hasAuthority)
      text += QStringLiteral(
          " known_hosts names an authority that signs the keys of this host; its signature is not checked here, only "
          "by "
          "the system's own ssh.");
    const auto answer =
        ask({.kind = SshQuestion::Kind::newHostKey, .host = target.shown(), .text = text, .fingerprint = shown});
    if (answer != QStringLiteral("yes"))
      throw SshError(SshFault::hostKey, fmt::format("the key of {} ({}) is not known and was not accepted",
                                                    target.shown().toStdString(), shown.toStdString()));
  }
  if (!target.knownHosts.isEmpty() && ssh_session_update_known_hosts(session) != SSH_OK)
    throw SshError(SshFault::hostKey,
                   fmt::format("the key of {} cannot be entered in {}: {}", target.shown().toStdString(),
                               target.knownHosts[0].toStdString(), ssh_get_error(session)));
  return shown;
}

}  // namespace loom
