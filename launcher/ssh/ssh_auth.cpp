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

  [[noreturn]] void fail(const std::string& why) const {
    const QString tried = m_tried.isEmpty()
                              ? QStringLiteral("nothing could be tried: there is no key in ~/.ssh and no agent")
                              : QStringLiteral("tried: ") + m_tried.join(", ");
    throw SshError(
        ssh_is_connected(m_session) ? SshFault::signIn
        : m_tried.isEmpty()         ? SshFault::unreachable
                                    : SshFault::signIn,
        fmt::format("signing in on {} failed: {}; {}. Put your public key there with: ssh-copy-id -p {} {}@{}",
                    m_target.shown().toStdString(), why, tried.toStdString(), m_target.port,
                    m_target.user.toStdString(), m_target.host.toStdString()));
  }

  std::optional<QString> ask(SshQuestion::Kind kind, const QString& text, bool visible = false,
                             const QString& note = {}) const {
    return m_ask({.kind = kind, .host = m_target.shown(), .text = text, .note = note, .visible = visible});
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
    const int result = ssh_userauth_agent(m_session, nullptr);
    m_tried << QStringLiteral("the agent's keys");
    // An agent that is not there is no reason to give up.
    return succeeded(result == SSH_AUTH_ERROR && ssh_is_connected(m_session) ? SSH_AUTH_DENIED : result,
                     QStringLiteral("with a key of the agent"));
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
      if (m_keysTried.contains(path) || !QFileInfo::exists(path)) continue;
      m_keysTried << path;
      const int result = file(path);
      if (!denied(result)) return succeeded(result, QStringLiteral("with key ") + QFileInfo(path).fileName());
    }
    return SSH_AUTH_DENIED;
  }

  int file(const QString& path) {
    m_tried << QStringLiteral("key ") + path;
    // As ssh does: a key that others may read is no secret any more.
    struct stat status {};
    if (::stat(QFile::encodeName(path).constData(), &status) == 0 && status.st_uid == ::geteuid() &&
        (status.st_mode & 077) != 0) {
      m_tried.back() += QStringLiteral(" (not used, for others may read it: chmod 600 %1)").arg(path);
      return SSH_AUTH_DENIED;
    }
    ssh_key raw = nullptr;
    // The public half first: no passphrase is asked for a key that the far side does not take anyway.
    if (ssh_pki_import_pubkey_file((path + ".pub").toLocal8Bit().constData(), &raw) == SSH_OK) {
      const Key half(raw, &ssh_key_free);
      const int offered = ssh_userauth_try_publickey(m_session, nullptr, half.get());
      if (offered != SSH_AUTH_SUCCESS) return offered;
    }
    const Key key = privateKey(path);
    return key ? ssh_userauth_publickey(m_session, nullptr, key.get()) : SSH_AUTH_DENIED;
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
      m_tried.back() += QStringLiteral(" (cannot be read)");
      return Key(nullptr, &ssh_key_free);
    }
    for (int tries = 0; tries < kTries; ++tries) {
      auto answer = ask(SshQuestion::Kind::passphrase, QStringLiteral("The passphrase of key %1").arg(path));
      if (!answer) break;
      QByteArray secret = answer->toUtf8();
      const int result = ssh_pki_import_privkey_file(name.constData(), secret.constData(), nullptr, nullptr, &raw);
      secret.fill('\0');
      if (result == SSH_OK) return Key(raw, &ssh_key_free);
    }
    m_tried.back() += QStringLiteral(" (locked)");
    return Key(nullptr, &ssh_key_free);
  }

  int password() {
    for (int tries = 0; tries < kTries; ++tries) {
      auto answer = ask(SshQuestion::Kind::password, QStringLiteral("The password of %1").arg(m_target.shown()));
      if (!answer) return SSH_AUTH_DENIED;
      if (tries == 0) m_tried << QStringLiteral("a password");
      QByteArray secret = answer->toUtf8();
      const int result = ssh_userauth_password(m_session, nullptr, secret.constData());
      secret.fill('\0');
      if (!denied(result)) return succeeded(result, QStringLiteral("with a password"));
    }
    return SSH_AUTH_DENIED;
  }

  // Whatever the far side wants to know: a password, a code, both in turn.
  int interactive() {
    for (int tries = 0; tries < kTries; ++tries) {
      int result = ssh_userauth_kbdint(m_session, nullptr, nullptr);
      bool asked = false;
      while (result == SSH_AUTH_INFO) {
        const int prompts = ssh_userauth_kbdint_getnprompts(m_session);
        const QString note = (QString::fromUtf8(ssh_userauth_kbdint_getname(m_session)).trimmed() + '\n' +
                              QString::fromUtf8(ssh_userauth_kbdint_getinstruction(m_session)).trimmed())
                                 .trimmed();
        if (prompts == 0 && !note.isEmpty() && !ask(SshQuestion::Kind::notice, note)) return SSH_AUTH_DENIED;
        for (int i = 0; i < prompts; ++i) {
          char visible = 0;
          const QString text =
              QString::fromUtf8(ssh_userauth_kbdint_getprompt(m_session, static_cast<unsigned>(i), &visible)).trimmed();
          const bool isPassword = !visible && isPlainPassword(text);
          const auto answer =
              ask(isPassword ? SshQuestion::Kind::password : SshQuestion::Kind::code, text, visible != 0, note);
          if (!answer) return SSH_AUTH_DENIED;
          asked = true;
          QByteArray secret = answer->toUtf8();
          ssh_userauth_kbdint_setanswer(m_session, static_cast<unsigned>(i), secret.constData());
          secret.fill('\0');
        }
        result = ssh_userauth_kbdint(m_session, nullptr, nullptr);
      }
      if (asked && tries == 0) m_tried << QStringLiteral("what it asked for");
      if (!denied(result) || !asked) return succeeded(result, QStringLiteral("with what it asked for"));
    }
    return SSH_AUTH_DENIED;
  }

  ssh_session m_session;
  const SshTarget& m_target;
  const SshAsk& m_ask;
  bool m_agentTried = false;
  std::unique_ptr<AgentFilter> m_filter;  // needed only while signing in
  QStringList m_keysTried, m_tried, m_ways;
};

}  // namespace

QString authenticate(ssh_session session, const SshTarget& target, const SshAsk& ask) {
  return SignIn(session, target, ask).run();
}

}  // namespace loom
