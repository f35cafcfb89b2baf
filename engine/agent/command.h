#pragma once
// A program run with its words as they are, never through a shell.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

struct CommandResult {
  bool started = false;  // false: there is no such program
  bool timedOut = false;
  int code = -1;       // exit code, or 128 + signal
  std::string output;  // standard output
  std::string errors;  // standard error
  bool ok() const { return started && !timedOut && code == 0; }
  // One line: why it was not ok.
  std::string why(std::string_view program) const;
};

struct CommandOptions {
  std::string input;
  std::string folder;  // empty = as we are
  std::chrono::milliseconds limit{10000};
  std::size_t mostOutput = std::size_t{1} << 20;
};

// Words are found in PATH as execvp does. Ends the program's whole group when the time is over. Never throws.
CommandResult runCommand(const std::vector<std::string>& words, const CommandOptions& options = {});

// Where PATH has the program; empty where it has none.
std::string findProgram(const std::string& name);

}  // namespace loom
