#pragma once
// What went wrong, said so that a person can mend it. Thrown inside a room's work; caught where a module, a
// process or a thread ends.
#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom {

// The exit codes of `loom` follow from these one to one (exitCode()), so the launcher can tell the kinds apart.
enum class ErrorCode {
  badArgument,    // the command line or a call
  badProject,     // the .loom file or what it draws
  newerVersion,   // made by a newer Gradloom
  badData,        // a CSV, an image, a cell
  missingFile,    // named, not there or not readable
  diskFull,       // no room, or a quota
  inputOutput,    // any other failure of a read or a write
  device,         // CPU features, GPU, memory
  communication,  // ranks that lost each other
  stopped,        // a person or a signal asked for it
  diverged,       // loss or weights no longer finite
  internal,       // a defect of ours
};

std::string_view toString(ErrorCode code);

// A message names the thing, what is wrong with it, and what would be right, with both numbers. The context is gained
// while the error travels up, innermost first: "train.csv line 812, column y", then "dataset 'training'".
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message) : m_code(code), m_message(std::move(message)) { compose(); }

  ErrorCode code() const { return m_code; }
  const std::string& message() const { return m_message; }
  const std::vector<std::string>& context() const { return m_context; }
  // "in dataset 'training': train.csv line 812, column y: the label is 12, but there are 10 classes"
  const char* what() const noexcept override { return m_what.c_str(); }

  Error& addContext(std::string where) {
    m_context.push_back(std::move(where));
    compose();
    return *this;
  }

 private:
  void compose();
  ErrorCode m_code;
  std::string m_message;
  std::vector<std::string> m_context;
  std::string m_what;
};

// throwError(ErrorCode::badData, "line {}: {} cells, but the header has {}", line, found, wanted)
template <class... Arguments>
[[noreturn]] void throwError(ErrorCode code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(code, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace loom
