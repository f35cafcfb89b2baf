#pragma once
// One SSH connection by libssh, signed in: host key checked against known_hosts and never skipped, jump hosts as
// channels of the library. Used on one thread, not the window's; abort() may come from any. Every wait has an end.
#include <QByteArray>
#include <QString>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

#include "launcher/hosts/ssh_config.h"
#include "launcher/ssh/host_transport.h"

struct ssh_session_struct;

namespace loom {

struct SshQuestion {
  // notice: nothing is to be answered ("a request was sent to your telephone").
  enum class Kind { newHostKey, passphrase, password, code, notice };
  Kind kind = Kind::password;
  QString host;          // "mara@head.atlas.example"
  QString text;          // what is asked, as the key file or the far side names it
  QString note;          // what the far side says to it: the name of what asks, and its instruction
  QString fingerprint;   // newHostKey: "ED25519 SHA256:..."
  QString refused;       // what became of the answer before this question; empty = it is the first one
  bool visible = false;  // what is typed may be seen
};
// The answer ("yes" for a host key), or nothing when it was declined or nobody may be asked now. May block.
using SshAsk = std::function<std::optional<QString>(const SshQuestion&)>;

class SshTunnel;

class SshConnection : public HostTransport {
 public:
  SshConnection(SshTarget target, SshAsk ask);
  ~SshConnection() override;
  SshConnection(const SshConnection&) = delete;
  SshConnection& operator=(const SshConnection&) = delete;

  // Throws SshError.
  void open() override;
  // Ends every wait; open() then throws.
  void abort() override;
  // The command is given to the remote login shell as it is. Throws SshError.
  std::unique_ptr<ByteChannel> execute(const QByteArray& command) override;

  const SshTarget& target() const { return m_target; }
  QString fingerprint() const override { return m_fingerprint; }  // of the host key: "ED25519 SHA256:..."
  QString method() const override { return m_method; }            // "with the agent's key", "with key id_ed25519"
  QString jumps() const override;                                 // "gate.lab.example"; empty = none
  ssh_session_struct* handle() const { return m_session; }

 private:
  friend class SshTunnel;
  int connectSocket(const QString& host, int port);
  void applyOptions(int socket);
  void checkHostKey();
  void authenticate();
  std::string fault() const;

  SshTarget m_target;
  SshAsk m_ask;
  ssh_session_struct* m_session = nullptr;
  std::unique_ptr<SshTunnel> m_tunnel;
  std::atomic<bool> m_aborted{false};
  std::atomic<int> m_socket{-1};
  std::atomic<SshConnection*> m_via{nullptr};  // the jump host that is being opened
  QString m_fingerprint, m_method;
};

}  // namespace loom
