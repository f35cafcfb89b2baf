#pragma once
// Signing in: agent, keys, what the far side asks (a password, a second factor), in whatever order and number it
// demands.
#include "launcher/ssh/ssh_connection.h"

namespace loom {

// Answers how it went: "with a key of the agent", "with key id_ed25519 and a code". Throws SshError(signIn) naming what
// was tried.
QString authenticate(ssh_session_struct* session, const SshTarget& target, const SshAsk& ask);

}  // namespace loom
