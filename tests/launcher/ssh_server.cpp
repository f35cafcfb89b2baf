#include "tests/launcher/ssh_server.h"

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <poll.h>
#include <unistd.h>

#include <QProcess>
#include <QTcpServer>

// The library's callbacks would need a thread of events of their own; asking message by message is what this small
// server does.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace loom {

SshServer::SshServer(Demand demand) : m_demand(demand) {
  const QString key = m_folder.filePath("host");
  if (QProcess::execute("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", key}) != 0) qFatal("ssh-keygen");
  {
    QTcpServer free;
    free.listen(QHostAddress::LocalHost);
    m_port = free.serverPort();
  }
  m_bind = ssh_bind_new();
  const int port = m_port, off = 0;
  ssh_bind_options_set(m_bind, SSH_BIND_OPTIONS_PROCESS_CONFIG, &off);
  ssh_bind_options_set(m_bind, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
  ssh_bind_options_set(m_bind, SSH_BIND_OPTIONS_BINDPORT, &port);
  ssh_bind_options_set(m_bind, SSH_BIND_OPTIONS_HOSTKEY, key.toUtf8().constData());
  if (ssh_bind_listen(m_bind) != SSH_OK) qFatal("%s", ssh_get_error(m_bind));
  ssh_bind_set_blocking(m_bind, 0);
  m_thread = std::thread([this] { serve(); });
}

SshServer::~SshServer() {
  m_stop = true;
  m_thread.join();
  ssh_bind_free(m_bind);
}

void SshServer::serve() {
  while (!m_stop) {
    pollfd file{ssh_bind_get_fd(m_bind), POLLIN, 0};
    if (::poll(&file, 1, 50) <= 0) continue;
    const ssh_session session = ssh_new();
    if (ssh_bind_accept(m_bind, session) == SSH_OK) {
      ++m_connections;
      const long seconds = 10;
      ssh_set_blocking(session, 1);
      ssh_options_set(session, SSH_OPTIONS_TIMEOUT, &seconds);
      if (ssh_handle_key_exchange(session) == SSH_OK) talk(session);
    }
    ssh_disconnect(session);
    ssh_free(session);
  }
}

void SshServer::talk(ssh_session session) {
  bool hasPassword = false;
  while (!m_stop) {
    const ssh_message message = ssh_message_get(session);
    if (!message) return;
    const int type = ssh_message_type(message), kind = ssh_message_subtype(message);
    const bool wantsCode = m_demand == Demand::passwordThenCode ? hasPassword : m_demand != Demand::password;
    const bool isPush = m_demand == Demand::push;
    const int methods = wantsCode ? SSH_AUTH_METHOD_INTERACTIVE : SSH_AUTH_METHOD_PASSWORD;
    const auto deny = [&] {
      ssh_message_auth_set_methods(message, methods);
      ssh_message_reply_default(message);
    };
    if (type != SSH_REQUEST_AUTH) {
      ssh_message_reply_default(message);  // signed in is all that is tested; no program is started
    } else if (kind == SSH_AUTH_METHOD_PASSWORD && !wantsCode) {
      ++m_attempts;
      if (qstrcmp(ssh_message_auth_password(message), "geheim") != 0) {
        deny();
      } else if (m_demand == Demand::passwordThenCode) {
        hasPassword = true;
        ssh_message_auth_set_methods(message, SSH_AUTH_METHOD_INTERACTIVE);
        ssh_message_auth_reply_success(message, 1);
      } else {
        ssh_message_auth_reply_success(message, 0);
      }
    } else if (kind == SSH_AUTH_METHOD_INTERACTIVE && wantsCode) {
      if (!ssh_message_auth_kbdint_is_response(message)) {
        const bool both = m_demand == Demand::passwordWithCode;
        const char* prompts[] = {both ? "Password + OTP: " : "Verification code: "};
        char echo[] = {both ? char{0} : char{1}};
        ssh_message_auth_interactive_request(message, isPush ? "Duo" : "", isPush ? "Look at your telephone" : "",
                                             isPush ? 0 : 1, prompts, echo);
      } else {
        ++m_attempts;
        if (isPush) ::usleep(2500000);
        if (isPush)
          ssh_message_auth_reply_success(message, 0);
        else if (ssh_userauth_kbdint_getnanswers(session) == 1 &&
                 qstrcmp(ssh_userauth_kbdint_getanswer(session, 0), "123456") == 0)
          ssh_message_auth_reply_success(message, 0);
        else
          deny();
      }
    } else {
      deny();
    }
    ssh_message_free(message);
  }
}

}  // namespace loom
