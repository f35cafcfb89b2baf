#pragma once
// The person at the terminal: questions that signing in asks, without an echo of what is secret, and Ctrl+C, which only
// ever ends the looking on. What a run says goes through Console (engine/run/console.h).
#include <optional>

#include "launcher/ssh/ssh_connection.h"

namespace loom {

// The answer, or nothing where it was declined. Throws Error(badArgument) where there is no terminal to ask on.
std::optional<QString> askOnTerminal(const SshQuestion& question);

// SIGINT, SIGTERM and SIGHUP are noted while this lives.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  static bool came();
};

}  // namespace loom
