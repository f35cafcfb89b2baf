#include "engine/agent/command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace loom {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() { closeRead(), closeWrite(); }
  void closeRead() { close(read); }
  void closeWrite() { close(write); }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

[[noreturn]] void become(std::vector<char*>& words, const CommandOptions& options, int in, int out, int err,
                         int fault) {
  ::setpgid(0, 0);
  ::dup2(in, 0), ::dup2(out, 1), ::dup2(err, 2);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL), ::signal(SIGTERM, SIG_DFL), ::signal(SIGINT, SIG_DFL);
  if (options.folder.empty() || ::chdir(options.folder.c_str()) == 0) ::execvp(words[0], words.data());
  const int number = errno;
  [[maybe_unused]] const auto told = ::write(fault, &number, sizeof number);
  ::_exit(127);
}

}  // namespace

std::string CommandResult::why(std::string_view program) const {
  if (!started) return fmt::format("{} was not found", program);
  if (timedOut) return fmt::format("{} gave no answer in time", program);
  std::string text = errors.empty() ? output : errors;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > 600) text = "..." + text.substr(text.size() - 600);
  return text.empty() ? fmt::format("{} ended with code {}", program, code) : text;
}

CommandResult runCommand(const std::vector<std::string>& given, const CommandOptions& options) {
  std::vector<std::string> copies = given;
  std::vector<char*> words;
  for (std::string& each : copies) words.push_back(each.data());
  words.push_back(nullptr);
  Pipe in, out, err, fault;
  CommandResult result;
  const pid_t process = ::fork();
  if (process < 0) return result;
  if (process == 0) become(words, options, in.read, out.write, err.write, fault.write);
  in.closeRead(), out.closeWrite(), err.closeWrite(), fault.closeWrite();
  ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  int number = 0;
  result.started = ::read(fault.read, &number, sizeof number) != sizeof number;
  std::string_view input = options.input;
  if (input.empty()) in.closeWrite();
  const auto end = std::chrono::steady_clock::now() + options.limit;
  while (out.read >= 0 || err.read >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      result.timedOut = true;
      ::kill(-process, SIGKILL);
      break;
    }
    pollfd files[3] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {in.write, POLLOUT, 0}};
    ::poll(files, 3, static_cast<int>(left));
    const auto take = [&](int& file, short events, std::string& into) {
      if (file < 0 || events == 0) return;
      char buffer[16384];
      const ssize_t got = ::read(file, buffer, sizeof buffer);
      if (got > 0 && into.size() < options.mostOutput) into.append(buffer, static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) Pipe::close(file);
    };
    take(out.read, files[0].revents, result.output);
    take(err.read, files[1].revents, result.errors);
    if (in.write >= 0 && files[2].revents) {
      const ssize_t put = ::write(in.write, input.data(), input.size());
      if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
      if (input.empty() || (put < 0 && errno != EINTR && errno != EAGAIN)) in.closeWrite();
    }
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::string findProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    if (colon == std::string_view::npos) return {};
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace loom
