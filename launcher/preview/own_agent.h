#pragma once
// The resident `loom agent` of this machine, as those who ask it have it in common: how it is started, what its answers
// say at least, and how it is let go.
#include <QString>
#include <memory>

#include "engine/base/json_fwd.h"
#include "launcher/ssh/byte_channel.h"

namespace loom {

class AgentClient;

// `program`: `loom`; empty = looked for. Throws Error(missingFile), and what starting a program throws.
std::unique_ptr<ByteChannel> startOwnAgent(const QString& program);

// Whether it did what it was asked for; what it says where it did not, `otherwise` where it says nothing.
bool isGood(const Json& answer);
QString refusalIn(const Json& answer, const QString& otherwise);

// Nothing of it is heard any more, and the window does not wait for its program, which may be in the middle of
// something. Null: nothing.
void letGo(std::unique_ptr<AgentClient>& client);

}  // namespace loom
