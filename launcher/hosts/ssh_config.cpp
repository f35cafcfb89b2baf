#include "launcher/hosts/ssh_config.h"

#include <pwd.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <tuple>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr int kDeepest = 16;
const QString kBegin = QStringLiteral("<"), kEnd = QStringLiteral(">");

QString ownUser() {
  const passwd* person = ::getpwuid(::geteuid());
  return person ? QString::fromLocal8Bit(person->pw_name) : QStringLiteral("root");
}

// "Key value", "Key=value", words in double quotes; a '#' begins a comment where a word begins.
QStringList wordsOf(const QString& line) {
  QStringList words;
  QString word;
  bool quoted = false, open = false;
  for (const QChar c : line) {
    if (c == '"') {
      quoted = !quoted;
      open = true;
    } else if (!quoted && (c.isSpace() || (c == '=' && words.size() + (open ? 1 : 0) <= 1))) {
      if (open) words << word;
      word.clear();
      open = false;
    } else if (!quoted && !open && c == '#') {
      return words;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words << word;
  return words;
}

// '*' and '?' of the patterns, nothing else.
bool fits(const QString& pattern, const QString& name) {
  const QString text = QRegularExpression::escape(pattern).replace("\\*", ".*").replace("\\?", ".");
  return QRegularExpression(QRegularExpression::anchoredPattern(text), QRegularExpression::CaseInsensitiveOption)
      .match(name)
      .hasMatch();
}

// Patterns of a Host line: one must fit and none with '!' may.
bool fitsAny(const QStringList& patterns, const QString& name) {
  bool found = false;
  for (const QString& each : patterns) {
    if (each.startsWith('!')) {
      if (fits(each.mid(1), name)) return false;
    } else if (fits(each, name)) {
      found = true;
    }
  }
  return found;
}

QString withHome(const QString& path) {
  return path == "~" || path.startsWith("~/") ? QDir::homePath() + path.mid(1) : path;
}

}  // namespace

QString SshTarget::shown() const {
  QString text = (user.isEmpty() ? QString() : user + '@') + host;
  if (port != 22) text += ':' + QString::number(port);
  return text;
}

SshConfig::SshConfig(const QString& file) {
  read(file, 0);
}

SshConfig SshConfig::standard() {
  SshConfig config(QDir::homePath() + "/.ssh/config");
  // What follows belongs to every host, whatever block the first file ended with.
  config.m_lines.append({"host", {"*"}, {}});
  config.read("/etc/ssh/ssh_config", 0);
  return config;
}

void SshConfig::read(const QString& path, int depth) {
  QFile file(path);
  if (depth > kDeepest || file.size() > (1 << 20) || !file.open(QIODevice::ReadOnly)) return;
  int number = 0;
  for (const QByteArray& raw : file.readAll().split('\n')) {
    ++number;
    QStringList words = wordsOf(QString::fromUtf8(raw));
    if (words.isEmpty()) continue;
    const QString key = words.takeFirst().toLower();
    if (key == "include") {
      for (const QString& each : words) {
        QString pattern = withHome(each);
        if (QDir::isRelativePath(pattern)) pattern = QFileInfo(path).absolutePath() + '/' + pattern;
        const QFileInfo place(pattern);
        for (const QFileInfo& found : place.dir().entryInfoList({place.fileName()}, QDir::Files, QDir::Name))
          m_lines.append({kBegin, {}, {}}), read(found.filePath(), depth + 1), m_lines.append({kEnd, {}, {}});
      }
      continue;
    }
    m_lines.append({key, words, QStringLiteral("%1 line %2").arg(QFileInfo(path).fileName()).arg(number)});
  }
}

QVector<SshConfig::Line> SshConfig::matching(const QString& name, QString& warning) const {
  QVector<Line> found;
  bool inside = true, around = true;  // around: of the block that includes the file
  QVector<std::pair<bool, bool>> before;
  for (const Line& line : m_lines) {
    if (line.key == kBegin) {
      before.append({inside, around});
      around = inside;
    } else if (line.key == kEnd) {
      std::tie(inside, around) = before.takeLast();
    } else if (line.key == "host") {
      inside = around && fitsAny(line.words, name);
    } else if (line.key == "match" && around) {
      // "all" and "host PATTERNS" are facts; anything else would have to run a command or to know more than we do.
      if (line.words.value(0).compare("all", Qt::CaseInsensitive) == 0)
        inside = true;
      else if (line.words.size() == 2 && line.words[0].compare("host", Qt::CaseInsensitive) == 0)
        inside = fitsAny(line.words[1].split(','), name);
      else {
        inside = false;
        if (warning.isEmpty())
          warning = QStringLiteral("%1: 'Match %2' is not followed").arg(line.source, line.words.join(' '));
      }
    } else if (inside) {
      found.append(line);
    }
  }
  return found;
}

SshTarget SshConfig::resolve(const QString& name, const QString& user, int port) const {
  return resolve(name, user, port, 0);
}

SshTarget SshConfig::resolve(const QString& name, const QString& user, int port, int depth) const {
  if (depth > kDeepest)
    throwError(ErrorCode::badProject, "the jump hosts of {} lead in a circle: look at ProxyJump in ~/.ssh/config",
               name.toStdString());
  SshTarget target;
  target.name = name;
  QString jump, proxyCommand, strict;
  bool jumpIsSet = false;
  // As OpenSSH: the first value that is found holds; identities and known hosts add up.
  for (const Line& line : matching(name, target.warning)) {
    const QString value = line.words.value(0);
    const auto first = [&value](QString& into) {
      if (into.isEmpty()) into = value;
    };
    if (line.key == "hostname")
      first(target.host);
    else if (line.key == "user")
      first(target.user);
    else if (line.key == "port" && port == 0) {
      port = value.toInt();
      if (port < 1 || port > 65535)
        throwError(ErrorCode::badProject, "{}: the port is '{}', but must lie between 1 and 65535",
                   line.source.toStdString(), value.toStdString());
    } else if (line.key == "identityfile")
      target.identities << value;
    else if (line.key == "identitiesonly")
      target.identitiesOnly |= value == "yes";
    else if (line.key == "identityagent")
      first(target.agent);
    else if (line.key == "hostkeyalias")
      first(target.hostKeyAlias);
    else if (line.key == "userknownhostsfile") {
      if (target.knownHosts.isEmpty()) target.knownHosts = line.words;
    } else if (line.key == "globalknownhostsfile") {
      if (target.globalKnownHosts.isEmpty()) target.globalKnownHosts = line.words;
    } else if (line.key == "stricthostkeychecking")
      first(strict);
    else if (line.key == "ciphers")
      first(target.ciphers);
    else if (line.key == "macs")
      first(target.macs);
    else if (line.key == "kexalgorithms")
      first(target.keyExchange);
    else if (line.key == "hostkeyalgorithms")
      first(target.hostKeyAlgorithms);
    else if (line.key == "pubkeyacceptedalgorithms" || line.key == "pubkeyacceptedkeytypes")
      first(target.publicKeyTypes);
    else if (line.key == "connecttimeout" && target.connectTimeout == 0)
      target.connectTimeout = value.toInt();
    else if (line.key == "proxyjump" && !jumpIsSet)
      jump = value, jumpIsSet = true;
    else if (line.key == "proxycommand" && !jumpIsSet)
      proxyCommand = line.words.join(' '), jumpIsSet = true;
  }
  // "+aes" and the like change OpenSSH's list, which is not ours.
  for (QString* each :
       {&target.ciphers, &target.macs, &target.keyExchange, &target.hostKeyAlgorithms, &target.publicKeyTypes})
    if (each->startsWith('+') || each->startsWith('-') || each->startsWith('^')) each->clear();
  if (!user.isEmpty()) target.user = user;
  if (target.user.isEmpty()) target.user = ownUser();
  target.port = port == 0 ? 22 : port;
  target.host = target.host.isEmpty() ? name : target.host.replace("%h", name).replace("%%", "%");
  const auto expand = [&target, &name](const QString& text) {
    return withHome(QString(text)
                        .replace("%h", target.host)
                        .replace("%r", target.user)
                        .replace("%n", name)
                        .replace("%u", ownUser())
                        .replace("%d", QDir::homePath())
                        .replace("%p", QString::number(target.port))
                        .replace("%%", "%"));
  };
  for (QString& each : target.identities) each = expand(each);
  if (target.knownHosts.isEmpty()) target.knownHosts = {"~/.ssh/known_hosts", "~/.ssh/known_hosts2"};
  if (target.globalKnownHosts.isEmpty())
    target.globalKnownHosts = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  for (QStringList* list : {&target.knownHosts, &target.globalKnownHosts}) {
    list->removeAll("none");
    for (QString& each : *list) each = expand(each);
  }
  if (strict == "yes")
    target.newHostKey = SshTarget::NewHostKey::refuse;
  else if (strict == "accept-new" || strict == "no" || strict == "off")
    target.newHostKey = SshTarget::NewHostKey::accept;
  target.agent = expand(target.agent);
  if (!proxyCommand.isEmpty() && proxyCommand != "none")
    target.warning =
        QStringLiteral("ProxyCommand '%1' is not run: name the machine between with ProxyJump").arg(proxyCommand);
  if (!jump.isEmpty() && jump.compare("none", Qt::CaseInsensitive) != 0) {
    for (const QString& each : jump.split(',')) {
      static const QRegularExpression form("^(?:ssh://)?(?:([^@]+)@)?(\\[[^\\]]+\\]|[^:@]+)(?::(\\d+))?/?$");
      const auto match = form.match(each.trimmed());
      if (!match.hasMatch())
        throwError(ErrorCode::badProject, "ProxyJump '{}' of {} is no [user@]host[:port]", each.toStdString(),
                   name.toStdString());
      QString host = match.captured(2);
      if (host.startsWith('[')) host = host.mid(1, host.size() - 2);
      SshTarget via = resolve(host, match.captured(1), match.captured(3).toInt(), depth + 1);
      // Only the first of a list may need machines of its own: the others are reached through the one before.
      if (target.jumps.isEmpty()) target.jumps += via.jumps;
      via.jumps.clear();
      target.jumps.append(via);
    }
  }
  return target;
}

QStringList SshConfig::names() const {
  QStringList names;
  for (const Line& line : m_lines)
    if (line.key == "host")
      for (const QString& each : line.words)
        if (!each.contains('*') && !each.contains('?') && !each.startsWith('!') && !names.contains(each)) names << each;
  return names;
}

}  // namespace loom
