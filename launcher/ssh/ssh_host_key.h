#pragma once
// Who is at the other end: the host's key against known_hosts.
#include "launcher/ssh/ssh_connection.h"

namespace loom {

// Answers the fingerprint, "ED25519 SHA256:...". A key that is not known is asked about, and entered when the answer is
// "yes" (or as StrictHostKeyChecking says); one that is not the known one, or is revoked, throws SshError(hostKey) with
// the fingerprints and how to mend it. Nothing skips this.
QString checkHostKey(ssh_session_struct* session, const SshTarget& target, const SshAsk& ask);

// The kinds of keys to ask the host for: those first by which the files know it. Empty = none of them does.
QString preferredHostKeys(const SshTarget& target);

}  // namespace loom
