#pragma once
// Brings the engine to a host that has none: one bundle, once a version, verified by its hash. Before the agent exists
// only a shell is there; it sees one fixed command, which reads a script of fixed length from its input, and behind it
// the bundle.
#include <QString>
#include <functional>

#include "launcher/ssh/host_transport.h"

namespace loom {

// A bundle on this machine (installer/bundle.sh makes it).
struct EngineBundle {
  QString file;  // .tar.gz; empty = there is none
  QString sha256;
  qint64 size = 0;
  QString machine;  // that it runs on, as `uname -m` says: this one's kind
  // BASE/engine/ID: one folder a version, side by side.
  QString id() const { return sha256.left(16); }
};
// The bundle that hosts are sent: named by GRADLOOM_BUNDLE, beside the program `loom`, or where packages put it. Empty
// = there is none.
QString findBundle(const QString& program);
// Reads and hashes it. Throws Error.
EngineBundle readBundle(const QString& file);

// The command that starts the agent of this bundle below `base` ("~/.cache/gradloom"): ends with 127 where it is not
// there, and runs nothing that belongs to somebody else.
QByteArray agentCommand(const QString& base, const EngineBundle& bundle);

// Called with bytes sent so far (those of an earlier try counted in); false calls it off.
using InstallProgress = std::function<bool(qint64 sent, qint64 total)>;

// Blocks its thread until the engine is there; nothing is sent when it is, file by file as its hashes say, or to a
// machine of another kind. One that lost a file, or holds a damaged one, is brought anew. Goes on where an earlier try
// broke off; what is of an earlier week and unfinished is removed. Throws SshError or Error with what the host's shell
// said.
void installEngine(HostTransport& transport, const QString& base, const EngineBundle& bundle,
                   const InstallProgress& progress);

// Has the host's sh read `script`, which answers by `say WORDS`; what it says first. Blocks; throws SshError.
QString askShell(HostTransport& transport, const QByteArray& script);

}  // namespace loom
