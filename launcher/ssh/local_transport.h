#pragma once
// This machine as a host like any other: its own shell starts the program. Tests of everything behind the transport
// need no SSH then.
#include <QByteArrayList>

#include "launcher/ssh/host_transport.h"

namespace loom {

// A program of this machine with pipes to it. `environment`: added to ours, "KEY=value". An exit with `noAnswer` counts
// as a line that broke rather than as the program's own. Throws SshError.
std::unique_ptr<ByteChannel> startProgram(const QByteArrayList& words, const QByteArrayList& environment = {},
                                          std::optional<int> noAnswer = {});

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
