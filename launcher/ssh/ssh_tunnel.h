#pragma once
// A TCP stream through a jump host: a channel of its SSH connection, offered as a socket that the next connection uses
// as its own.
#include <QString>
#include <memory>
#include <thread>

struct ssh_channel_struct;

namespace loom {

class SshConnection;

class SshTunnel {
 public:
  // Throws SshError when the jump host cannot reach it.
  SshTunnel(std::unique_ptr<SshConnection> via, const QString& host, int port);
  ~SshTunnel();
  SshTunnel(const SshTunnel&) = delete;
  SshTunnel& operator=(const SshTunnel&) = delete;

  int takeSocket();  // the caller closes it
  const SshConnection& via() const { return *m_via; }

 private:
  void pump();
  std::unique_ptr<SshConnection> m_via;
  ssh_channel_struct* m_channel = nullptr;
  int m_near = -1, m_far = -1, m_stop = -1;
  std::thread m_thread;
};

}  // namespace loom
