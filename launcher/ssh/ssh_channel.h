#pragma once
// A program that runs on the far side of an SSH connection.
#include <memory>

#include "launcher/ssh/byte_channel.h"

struct ssh_session_struct;
struct ssh_channel_struct;

namespace loom {

class SshChannel : public ByteChannel {
 public:
  // Owns the channel; the session outlives it.
  SshChannel(ssh_session_struct* session, ssh_channel_struct* channel);
  ~SshChannel() override;

  int descriptor() const override;
  QByteArray read() override;
  qint64 write(const char* data, qint64 size) override;
  void closeInput() override;
  bool ended() const override;
  std::optional<int> exitCode() const override;
  QByteArray complaint() const override { return m_complaint; }

 private:
  struct Ending;  // by a signal, which the library only tells and does not keep
  [[noreturn]] void broken() const;
  ssh_session_struct* m_session;
  ssh_channel_struct* m_channel;
  std::unique_ptr<Ending> m_ending;
  QByteArray m_complaint;
};

}  // namespace loom
