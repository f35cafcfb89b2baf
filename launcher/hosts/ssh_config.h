#pragma once
// ~/.ssh/config as OpenSSH reads it, as far as it says where and as whom to sign in. What would run a command
// (ProxyCommand, Match exec) is never carried out; a jump host (ProxyJump) becomes a channel of the library.
#include <QString>
#include <QStringList>
#include <QVector>

namespace loom {

// One machine to sign in on, everything resolved.
struct SshTarget {
  QString name;  // as it was asked for
  QString host;  // the address
  QString user;
  int port = 22;
  QStringList identities;  // files of keys; empty = the usual ones
  bool identitiesOnly = false;
  QString agent;  // socket; empty = SSH_AUTH_SOCK, "none" = none
  QString hostKeyAlias;
  QStringList knownHosts;        // files; the first one is written to
  QStringList globalKnownHosts;  // files of the machine
  enum class NewHostKey { ask, accept, refuse };
  NewHostKey newHostKey = NewHostKey::ask;  // a changed one is never accepted, whatever StrictHostKeyChecking says
  QString ciphers, macs, keyExchange, hostKeyAlgorithms, publicKeyTypes;  // as libssh takes them; empty = its own
  int connectTimeout = 0;                                                 // seconds; 0 = ours
  QVector<SshTarget> jumps;                                               // the first is reached directly
  QString warning;  // something of the configuration that was not followed

  QString shown() const;  // "mara@head.atlas.example", with a port that is not 22
};

class SshConfig {
 public:
  // Reads the file and what it includes; a file that is not there is an empty one.
  explicit SshConfig(const QString& file);
  // The one of this person: ~/.ssh/config, then /etc/ssh/ssh_config.
  static SshConfig standard();

  // `user`, `port` of the caller win over the file's. Throws Error(badProject) for a circle of jump hosts or a value
  // that is none.
  SshTarget resolve(const QString& name, const QString& user = {}, int port = 0) const;
  // Names without a wildcard, in order: hosts that can be offered.
  QStringList names() const;

 private:
  struct Line {
    QString key;  // lower case; kBegin, kEnd around what was included
    QStringList words;
    QString source;  // "config line 12"
  };
  void read(const QString& file, int depth);
  QVector<Line> matching(const QString& name, QString& warning) const;
  SshTarget resolve(const QString& name, const QString& user, int port, int depth) const;

  QVector<Line> m_lines;
};

}  // namespace loom
