#include "launcher/ssh/ssh_auth.h"

#include <libssh/libssh.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <memory>

#include "launcher/ssh/agent_filter.h"
#include "launcher/ssh/system_ssh.h"

namespace loom {
namespace {

constexpr int kTries = 3;    // of a password or a passphrase
constexpr int kFactors = 5;  // more than any far side asks for

// A key that stands there already is refused where others may write to what it stands in.
const auto kPutThere = QStringLiteral(
    "Put it there with: %1. Where it stands there already, others may write to its folder: chmod go-w ~ ~/.ssh "
    "~/.ssh/authorized_keys");

using Key = std::unique_ptr<ssh_key_struct, decltype(&ssh_key_free)>;

class SignIn {
 public:
  SignIn(ssh_session session, const SshTarget& target, const SshAsk& ask)
      : m_session(session), m_target(target), m_ask(ask) {}

  QString run() {
    int result = ssh_userauth_none(m_session, nullptr);
    if (result == SSH_AUTH_SUCCESS) return QStringLiteral("without a question");
    if (result == SSH_AUTH_ERROR) fail("the far side ended the connection");
    for (int factor = 0; factor < kFactors; ++factor) {
      const int methods = ssh_userauth_list(m_session, nullptr);
      result = SSH_AUTH_DENIED;
      if (methods & SSH_AUTH_METHOD_PUBLICKEY) result = publicKeys();
      if (denied(result) && methods & SSH_AUTH_METHOD_INTERACTIVE) result = interactive();
      if (denied(result) && methods & SSH_AUTH_METHOD_PASSWORD) result = password();
      if (result == SSH_AUTH_SUCCESS) return m_ways.join(QStringLiteral(" and "));
      if (result != SSH_AUTH_PARTIAL) break;
    }
    fail(result == SSH_AUTH_AGAIN ? "no answer in time" : "it was not let in");
  }

 private:
  static bool denied(int result) { return result == SSH_AUTH_DENIED; }

  // What stands between a person and the host, the one to mend first.
  enum class Cause { openToOthers, locked, unreadable, refusedKey, refusedAgent, password, missingKey, nothing, none };

  void blame(Cause cause, const QString& tried, const QString& remedy, const QString& advice = {}) {
    m_tried << tried;
    if (cause >= m_cause) return;
    m_cause = cause;
    m_remedy = remedy;
    m_advice = advice;
  }

  // "-p 2222 mara@head.atlas.example", as ssh and ssh-copy-id take it.
  QString place() const {
    QStringList jumps;
    for (const SshTarget& each : m_target.jumps) jumps << each.shown();
    return QStringLiteral("%1-p %2 %3@%4")
        .arg(jumps.isEmpty() ? QString() : QStringLiteral("-o ProxyJump=%1 ").arg(jumps.join(',')))
        .arg(m_target.port)
        .arg(m_target.user, m_target.host);
  }

  [[noreturn]] void fail(const std::string& why) {
    const bool gone = !ssh_is_connected(m_session) && m_tried.isEmpty();
    if (m_tried.isEmpty())
      blame(Cause::nothing, QStringLiteral("nothing, for there is no key in ~/.ssh and no agent"),
            QStringLiteral("ssh-keygen -t ed25519 && ssh-copy-id ") + place(),
            QStringLiteral("Make a key and put it there with: %1"));
    const QString advice = m_advice.isEmpty() ? QString() : QStringLiteral(". ") + m_advice.arg(m_remedy);
    throw SshError(gone ? SshFault::unreachable : SshFault::signIn,
                   fmt::format("signing in on {} failed: {}; tried: {}{}", m_target.shown().toStdString(), why,
                               m_tried.join(", ").toStdString(), advice.toStdString()),
                   m_remedy.toStdString());
  }

  std::optional<QString> ask(SshQuestion::Kind kind, const QString& text, bool again, bool visible = false,
                             const QString& note = {}) const {
    return m_ask({.kind = kind,
                  .host = m_target.shown(),
                  .text = text,
                  .note = note,
                  .refused = again ? refusedWords(kind, m_target.shown()) : QString(),
                  .visible = visible});
  }

  int succeeded(int result, const QString& way) {
    if (result == SSH_AUTH_SUCCESS || result == SSH_AUTH_PARTIAL) m_ways << way;
    return result;
  }

  int publicKeys() {
    const int result = agent();  // what it holds needs no passphrase
    return denied(result) ? files() : result;
  }

  int agent() {
    if (m_agentTried || m_target.agent == "none" ||
        (m_target.agent.isEmpty() && qEnvironmentVariableIsEmpty("SSH_AUTH_SOCK")))
      return SSH_AUTH_DENIED;
    m_agentTried = true;
    if (m_target.identitiesOnly) {
      QList<QByteArray> wanted;
      for (const QString& path : keyFiles()) wanted << publicBlob(path);
      const QString socket = m_target.agent.isEmpty() ? qEnvironmentVariable("SSH_AUTH_SOCK") : m_target.agent;
      m_filter = std::make_unique<AgentFilter>(socket, wanted);
      if (ssh_set_agent_socket(m_session, m_filter->takeSocket()) != SSH_OK) return SSH_AUTH_DENIED;
    }
    // An agent that is not there is no reason to give up.
    int result = ssh_userauth_agent(m_session, nullptr);
    if (result == SSH_AUTH_ERROR && ssh_is_connected(m_session)) result = SSH_AUTH_DENIED;
    if (denied(result))
      blame(Cause::refusedAgent, QStringLiteral("the agent's keys"), QStringLiteral("ssh-copy-id ") + place(),
            kPutThere);
    else
      m_tried << QStringLiteral("the agent's keys");
    return succeeded(result, QStringLiteral("with a key of the agent"));
  }

  QStringList keyFiles() const {
    QStringList paths = m_target.identities;
    if (paths.isEmpty())
      for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) paths << QDir::homePath() + "/.ssh/" + name;
    return paths;
  }

  // "ssh-ed25519 AAAA... comment" beside the key, or the file named is such a one: its bytes; empty where there is
  // none.
  static QByteArray publicBlob(const QString& path) {
    for (const QString& each : {path + ".pub", path}) {
      QFile file(each);
      if (!file.open(QIODevice::ReadOnly)) continue;
      const QList<QByteArray> words = file.read(1 << 16).simplified().split(' ');
      if (words.size() >= 2 && words[1].startsWith("AAAA")) return QByteArray::fromBase64(words[1]);
    }
    return {};
  }

  int files() {
    for (const QString& path : keyFiles()) {
      if (m_keysTried.contains(path)) continue;
      if (!QFileInfo::exists(path)) {
        // One that somebody named; what an agent signs for may be there as its public half alone.
        if (m_target.identities.contains(path) && publicBlob(path).isEmpty())
          blame(Cause::missingKey, QStringLiteral("key %1 (there is no such file)").arg(path),
                QStringLiteral("ssh-keygen -t ed25519 -f ") + path,
                QStringLiteral("Name a key that is there, or make this one with: %1"));
        m_keysTried << path;
        continue;
      }
      m_keysTried << path;
      const int result = file(path);
      if (denied(result)) continue;
      m_tried << QStringLiteral("key ") + path;
      return succeeded(result, QStringLiteral("with key ") + QFileInfo(path).fileName());
    }
    return SSH_AUTH_DENIED;
  }

  int file(const QString& path) {
    // As ssh does: a key that others may read is no secret any more.
    struct stat status {};
    if (::stat(QFile::encodeName(path).constData(), &status) == 0 && status.st_uid == ::geteuid() &&
        (status.st_mode & 077) != 0) {
      const QString remedy = QStringLiteral("chmod 600 ") + path;
      blame(Cause::openToOthers, QStringLiteral("key %1 (not used, for others may read it: %2)").arg(path, remedy),
            remedy);
      return SSH_AUTH_DENIED;
    }
    ssh_key raw = nullptr;
    // The public half first: no passphrase is asked for a key that the far side does not take anyway.
    if (ssh_pki_import_pubkey_file((path + ".pub").toLocal8Bit().constData(), &raw) == SSH_OK) {
      const Key half(raw, &ssh_key_free);
      const int offered = ssh_userauth_try_publickey(m_session, nullptr, half.get());
      if (denied(offered)) refusedKey(path, half.get());
      if (offered != SSH_AUTH_SUCCESS) return offered;
    }
    const Key key = privateKey(path);
    if (!key) return SSH_AUTH_DENIED;
    const int result = ssh_userauth_publickey(m_session, nullptr, key.get());
    if (denied(result)) refusedKey(path, key.get());
    return result;
  }

  void refusedKey(const QString& path, ssh_key key) {
    blame(Cause::refusedKey, QStringLiteral("key %1 (%2)").arg(path, fingerprint(key)),
          QStringLiteral("ssh-copy-id -i %1 %2").arg(path, place()), kPutThere);
  }

  // "ED25519 SHA256:...", as the far side's log names it.
  static QString fingerprint(ssh_key key) {
    unsigned char* hash = nullptr;
    std::size_t length = 0;
    if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != 0) return {};
    char* const text = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
    const QString words = QString::fromLatin1(ssh_key_type_to_char(ssh_key_type(key))).remove("ssh-").toUpper() + ' ' +
                          QString::fromLatin1(text);
    ssh_string_free_char(text);
    ssh_clean_pubkey_hash(&hash);
    return words;
  }

  Key privateKey(const QString& path) {
    const QByteArray name = path.toLocal8Bit();
    bool locked = false;
    const auto wanted = [](const char*, char*, size_t, int, int, void* flag) {
      return *static_cast<bool*>(flag) = true, -1;
    };
    ssh_key raw = nullptr;
    if (ssh_pki_import_privkey_file(name.constData(), nullptr, wanted, &locked, &raw) == SSH_OK)
      return Key(raw, &ssh_key_free);
    if (!locked) {
      blame(Cause::unreadable, QStringLiteral("key %1 (cannot be read)").arg(path),
            QStringLiteral("ssh-keygen -y -f ") + path, QStringLiteral("What is wrong with it says: %1"));
      return Key(nullptr, &ssh_key_free);
    }
    int tries = 0;
    for (; tries < kTries; ++tries) {
      auto answer = ask(SshQuestion::Kind::passphrase, QStringLiteral("The passphrase of key %1").arg(path), tries > 0);
      if (!answer) break;
      QByteArray secret = answer->toUtf8();
      const int result = ssh_pki_import_privkey_file(name.constData(), secret.constData(), nullptr, nullptr, &raw);
      secret.fill('\0');
      if (result == SSH_OK) return Key(raw, &ssh_key_free);
    }
    blame(Cause::locked,
          QStringLiteral("key %1 (locked, its passphrase was %2)")
              .arg(path, tries == 0 ? QStringLiteral("not given") : QStringLiteral("wrong")),
          QStringLiteral("ssh-add ") + path, QStringLiteral("Give its passphrase, or let an agent hold the key: %1"));
    return Key(nullptr, &ssh_key_free);
  }

  int notAnswered(const QString& what, int tries) {
    blame(Cause::password, QStringLiteral("%1 (%2)").arg(what, tries == 0 ? "not given" : "refused"),
          tries == 0 ? QStringLiteral("ssh-copy-id ") + place() : QStringLiteral("ssh ") + place(),
          tries == 0 ? QStringLiteral("Give it, or put your public key there with: %1")
                     : QStringLiteral("Try it with your user name by hand: %1"));
    return SSH_AUTH_DENIED;
  }

  int password() {
    int tries = 0;
    for (; tries < kTries; ++tries) {
      auto answer =
          ask(SshQuestion::Kind::password, QStringLiteral("The password of %1").arg(m_target.shown()), tries > 0);
      if (!answer) break;
      QByteArray secret = answer->toUtf8();
      const int result = ssh_userauth_password(m_session, nullptr, secret.constData());
      secret.fill('\0');
      if (denied(result)) continue;
      m_tried << QStringLiteral("a password");
      return succeeded(result, QStringLiteral("with a password"));
    }
    return notAnswered(QStringLiteral("a password"), tries);
  }

  // Whatever the far side wants to know: a password, a code, both in turn.
  int interactive() {
    const QString what = QStringLiteral("what it asked for");
    int tries = 0;
    for (; tries < kTries; ++tries) {
      int result = ssh_userauth_kbdint(m_session, nullptr, nullptr);
      bool asked = false;
      while (result == SSH_AUTH_INFO) {
        const int prompts = ssh_userauth_kbdint_getnprompts(m_session);
        const QString note = (QString::fromUtf8(ssh_userauth_kbdint_getname(m_session)).trimmed() + '\n' +
                              QString::fromUtf8(ssh_userauth_kbdint_getinstruction(m_session)).trimmed())
                                 .trimmed();
        if (prompts == 0 && !note.isEmpty() && !ask(SshQuestion::Kind::notice, note, false))
          return notAnswered(what, tries);
        for (int i = 0; i < prompts; ++i) {
          char visible = 0;
          const QString text =
              QString::fromUtf8(ssh_userauth_kbdint_getprompt(m_session, static_cast<unsigned>(i), &visible)).trimmed();
          const bool isPassword = !visible && isPlainPassword(text);
          const auto answer = ask(isPassword ? SshQuestion::Kind::password : SshQuestion::Kind::code, text,
                                  tries > 0 && !asked, visible != 0, note);
          if (!answer) return notAnswered(what, tries);
          asked = true;
          QByteArray secret = answer->toUtf8();
          ssh_userauth_kbdint_setanswer(m_session, static_cast<unsigned>(i), secret.constData());
          secret.fill('\0');
        }
        result = ssh_userauth_kbdint(m_session, nullptr, nullptr);
      }
      if (!asked && denied(result)) return result;  // it asks for nothing in this way
      if (denied(result)) continue;
      m_tried << what;
      return succeeded(result, QStringLiteral("with ") + what);
    }
    return notAnswered(what, tries);
  }

  ssh_session m_session;
  const SshTarget& m_target;
  const SshAsk& m_ask;
  bool m_agentTried = false;
  std::unique_ptr<AgentFilter> m_filter;  // needed only while signing in
  QStringList m_keysTried, m_tried, m_ways;
  Cause m_cause = Cause::none;
  QString m_remedy, m_advice;
};

}  // namespace

QString refusedWords(SshQuestion::Kind kind, const QString& host) {
  return kind == SshQuestion::Kind::passphrase ? QStringLiteral("That passphrase does not open the key.")
         : kind == SshQuestion::Kind::password ? QStringLiteral("%1 refused the password.").arg(host)
                                               : QStringLiteral("%1 refused the answer.").arg(host);
}

QString authenticate(ssh_session session, const SshTarget& target, const SshAsk& ask) {
  return SignIn(session, target, ask).run();
}

}  // namespace loom
