#include "engine/run/console.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "engine/base/foreign.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

// Columns that UTF-8 text takes: its characters (ours are all one column wide).
std::size_t columnsOf(const std::string& text) {
  std::size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

// A reader that went away or a full disk under the output must not end a training: what cannot be said is left unsaid.
void say(std::FILE* to, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

// Nothing that a file or another machine wrote commands the terminal, and none of it fills the screen for ever.
constexpr std::size_t kLongestText = 32000;

std::string clippedTo(const std::string& text, std::size_t columns) {
  if (columnsOf(text) <= columns) return text;
  std::size_t end = 0;
  for (std::size_t taken = 0; end < text.size() && taken + 1 < columns; ++taken) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  }
  return text.substr(0, end) + "…";
}

}  // namespace

int tellError(const char* program, const Error& error) {
  const bool terminal = ::isatty(STDERR_FILENO);
  const std::string kind(toString(error.code())), sentence = shownText(error.what(), kLongestText);
  std::fflush(stdout);
  if (error.code() == ErrorCode::stopped)
    fmt::print(stderr, "\n{}: {}\n", program, sentence);
  else
    fmt::print(stderr, "\n{}{}: {}:{} {}\n", terminal ? "\033[1;31m" : "", program, kind, terminal ? "\033[0m" : "",
               sentence);
  return exitCode(error.code());
}

Console::Console() {
  const char* kind = std::getenv("TERM");
  m_terminal = ::isatty(STDOUT_FILENO) && kind && std::string_view(kind) != "dumb";
}

Console::~Console() {
  clearLive();
  if (m_log) std::fclose(m_log);
}

void Console::logInto(const RunFolder& folder) {
  struct stat out {
  }, log{};
  const std::string path = folder.logFile().string();
  if (::stat(path.c_str(), &log) == 0 && ::fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == log.st_dev &&
      out.st_ino == log.st_ino)
    return;
  m_log = std::fopen(path.c_str(), "ae");  // a log that cannot be written is no reason not to train
}

int Console::width() const {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void Console::clearLive() {
  if (!m_drawn) return;
  say(stdout, "\r\033[K");
  m_drawn = false;
}

void Console::line(const std::string& given) {
  const std::string text = shownText(given, kLongestText);
  clearLive();
  say(stdout, text + "\n");
  if (!m_log) return;
  char time[32] = "";
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::strftime(time, sizeof time, "%F %T", ::localtime_r(&now, &parts));
  say(m_log, fmt::format("{}  {}\n", time, text));
}

void Console::live(const std::string& text) {
  if (!m_terminal) return;
  const std::string shown = shownText(text, kLongestText, ShownLines::one);
  say(stdout, "\r\033[K" + clippedTo(shown, static_cast<std::size_t>(width())));
  m_drawn = true;
}

}  // namespace loom
