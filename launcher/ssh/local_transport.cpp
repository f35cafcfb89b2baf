#include "launcher/ssh/local_transport.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

extern char** environ;

namespace loom {
namespace {

constexpr qint64 kKept = 4096;

// A pipe has no MSG_NOSIGNAL: the signal of one that nobody reads any more is held back in this thread and taken away,
// so that neither this program ends by it nor a handler of its own hears of it.
std::pair<ssize_t, int> writeWithoutSignal(int file, const char* data, std::size_t size) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  ::pthread_sigmask(SIG_BLOCK, &broken, &before);
  const ssize_t put = ::write(file, data, size);
  const int fault = put < 0 ? errno : 0;
  const timespec atOnce{};
  if (fault == EPIPE && !sigismember(&pending, SIGPIPE))
    while (::sigtimedwait(&broken, nullptr, &atOnce) < 0 && errno == EINTR) {
    }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return {put, fault};
}

class ProcessChannel : public ByteChannel {
 public:
  ProcessChannel(const QByteArrayList& words, const QByteArrayList& environment, std::optional<int> noAnswer)
      : m_noAnswer(noAnswer) {
    int in[2], out[2], err[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
      throw SshError(SshFault::unreachable, "no pipe is left for a program on this machine");
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    std::vector<char*> arguments, variables;
    for (const QByteArray& each : words) arguments.push_back(const_cast<char*>(each.constData()));
    for (const QByteArray& each : environment) variables.push_back(const_cast<char*>(each.constData()));
    for (char** each = environ; *each; ++each) variables.push_back(*each);  // of two with one name the first holds
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    const int fault = ::posix_spawnp(&m_process, arguments[0], &files, nullptr, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&files);
    ::close(in[0]), ::close(out[1]), ::close(err[1]);
    m_in = in[1], m_out = out[0], m_err = err[0];
    for (const int each : {m_in, m_out, m_err}) ::fcntl(each, F_SETFL, O_NONBLOCK);
    if (fault != 0) {
      for (const int each : {m_in, m_out, m_err}) ::close(each);
      throw SshError(SshFault::refused, fmt::format("{} cannot be started on this machine: {}", words[0].toStdString(),
                                                    std::strerror(fault)));
    }
  }
  ~ProcessChannel() override {
    for (const int each : {m_in, m_out, m_err})
      if (each >= 0) ::close(each);
    // Its input is closed: a program of ours ends now. One that does not is no longer ours to wait for.
    for (int tries = 0; !m_code && tries < 200; ++tries) {
      collect();
      if (!m_code) ::usleep(10000);
    }
    if (!m_code) {
      ::kill(m_process, SIGKILL);
      ::waitpid(m_process, nullptr, 0);
    }
  }

  int descriptor() const override { return m_out; }
  QByteArray read() override {
    m_complaint = (m_complaint + take(m_err)).right(kKept);
    const QByteArray bytes = take(m_out, &m_over);
    if (m_over) collect();
    return bytes;
  }
  qint64 write(const char* data, qint64 size) override {
    const auto [put, fault] = writeWithoutSignal(m_in, data, static_cast<std::size_t>(size));
    if (put >= 0) return put;
    return fault == EPIPE ? size : 0;  // its end is told by ended()
  }
  void closeInput() override {
    if (m_in >= 0) ::close(std::exchange(m_in, -1));
  }
  bool ended() const override { return m_over && m_code; }
  std::optional<int> exitCode() const override { return m_code == m_noAnswer ? std::nullopt : m_code; }
  QByteArray complaint() const override { return m_complaint; }

 private:
  static QByteArray take(int file, bool* over = nullptr) {
    QByteArray all;
    char buffer[65536];
    for (;;) {
      const ssize_t got = ::read(file, buffer, sizeof buffer);
      if (got > 0)
        all.append(buffer, got);
      else {
        if (over && (got == 0 || (errno != EAGAIN && errno != EINTR))) *over = true;
        return all;
      }
    }
  }
  void collect() {
    int status = 0;
    if (!m_code && ::waitpid(m_process, &status, WNOHANG) == m_process)
      m_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  pid_t m_process = 0;
  int m_in = -1, m_out = -1, m_err = -1;
  bool m_over = false;
  std::optional<int> m_code, m_noAnswer;
  QByteArray m_complaint;
};

}  // namespace

std::unique_ptr<ByteChannel> startProgram(const QByteArrayList& words, const QByteArrayList& environment,
                                          std::optional<int> noAnswer) {
  return std::make_unique<ProcessChannel>(words, environment, noAnswer);
}

std::unique_ptr<ByteChannel> LocalTransport::execute(const QByteArray& command) {
  return startProgram({"/bin/sh", "-c", command});
}

}  // namespace loom
