#pragma once
// A command as a shell runs it: how it ended and what it said.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace loom {

struct Outcome {
  int code = -1;
  std::string output;
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return outcome;
  std::array<char, 4096> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe))
    outcome.output.append(block.data(), got);
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

}  // namespace loom
