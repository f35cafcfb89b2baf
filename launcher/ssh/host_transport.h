#pragma once
// How a program is started on a host: over SSH (ssh_connection.h), or by this machine's own shell (local_transport.h).
// One thread.
#include <QString>
#include <memory>

#include "launcher/ssh/byte_channel.h"
#include "launcher/ssh/ssh_error.h"

namespace loom {

class HostTransport {
 public:
  virtual ~HostTransport() = default;
  virtual void open() = 0;   // throws SshError; may ask
  virtual void abort() = 0;  // from any thread
  virtual std::unique_ptr<ByteChannel> execute(const QByteArray& command) = 0;
  virtual QString fingerprint() const = 0;
  virtual QString method() const = 0;
  virtual QString jumps() const = 0;
};

}  // namespace loom
