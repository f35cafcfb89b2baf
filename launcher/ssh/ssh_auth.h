#pragma once
// Signing in: agent, keys, what the far side asks (a password, a second factor), in whatever order and number it
// demands.
#include "launcher/ssh/ssh_connection.h"

namespace loom {

// Answers how it went: "with a key of the agent", "with key id_ed25519 and a code". Throws SshError(signIn) naming what
// was tried, with the command that mends it.
QString authenticate(ssh_session_struct* session, const SshTarget& target, const SshAsk& ask);

// What is said with a question that is asked again: whose answer it was that did not do.
QString refusedWords(SshQuestion::Kind kind, const QString& host);

}  // namespace loom
