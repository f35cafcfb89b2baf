#pragma once
// This machine as a host like any other: its own shell starts the program. Tests of everything behind the transport
// need no SSH then.
#include "launcher/ssh/host_transport.h"

namespace loom {

class LocalTransport : public HostTransport {
 public:
  void open() override {}
  void abort() override {}
  std::unique_ptr<ByteChannel> execute(const QByteArray& command) override;
  QString fingerprint() const override { return {}; }
  QString method() const override { return QStringLiteral("on this machine"); }
  QString jumps() const override { return {}; }
};

}  // namespace loom
