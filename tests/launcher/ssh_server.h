#pragma once
// A small SSH server of libssh on a thread, for sign-ins that a real sshd would need accounts for: a password, a code,
// both.
#include <QStringList>
#include <QTemporaryDir>
#include <atomic>
#include <thread>

struct ssh_bind_struct;
struct ssh_session_struct;

namespace loom {

class SshServer {
 public:
  // push: nothing is asked, a telephone has to be looked at; it takes its time.
  enum class Demand { password, code, passwordThenCode, passwordWithCode, push };
  // Password "geheim", code "123456", also where the prompt says that both are wanted.
  explicit SshServer(Demand demand);
  ~SshServer();

  quint16 port() const { return m_port; }
  int attempts() const { return m_attempts; }  // answers that were given, right or wrong
  int connections() const { return m_connections; }

 private:
  void serve();
  void talk(ssh_session_struct* session);
  QTemporaryDir m_folder;
  Demand m_demand;
  quint16 m_port = 0;
  ssh_bind_struct* m_bind = nullptr;
  std::atomic<bool> m_stop{false};
  std::atomic<int> m_attempts{0}, m_connections{0};
  std::thread m_thread;
};

}  // namespace loom
