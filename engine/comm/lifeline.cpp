#include "engine/comm/lifeline.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace loom {
namespace {

constexpr auto kEvery = std::chrono::seconds(2);
constexpr int kLeaveTries = 50;  // a tenth of a second each, before the daemon is ended by force

// One text a start, of letters and digits.
std::string freshName() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:x}x{:x}", ::getpid(), std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// Opened each time: what a network file system remembers of an open file may be a minute old. Empty where it was taken
// away; a folder that is gone was purged, or is not mounted now, which tells nothing of the supervisor.
std::optional<std::string> firstLine(const std::filesystem::path& file) {
  const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) {
    const bool missing = errno == ENOENT;
    std::error_code fault;
    if (missing && std::filesystem::is_directory(file.parent_path(), fault)) return std::string();
    return {};
  }
  std::array<char, 128> text;
  const ssize_t got = ::read(handle, text.data(), text.size());
  ::close(handle);
  const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  const auto end = all.find('\n');
  if (end == std::string_view::npos) return {};
  return std::string(all.substr(0, end));
}

// A daemon that mpirun started on another host, or nothing: mpirun itself sees a rank end.
pid_t daemonAround() {
  const pid_t parent = ::getppid();
  std::ifstream file(fmt::format("/proc/{}/comm", parent));
  std::string name;
  std::getline(file, name);
  return name == "orted" || name == "prted" || name == "hydra_pmi_proxy" ? parent : 0;
}

// Only where somebody takes it: a pipe that is full must not hold up who leaves.
void say(const std::string& text) {
  pollfd error{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) != 1 || !(error.revents & POLLOUT)) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Asked to end, the daemon ends its ranks, and then perhaps waits for a word of the other side that never comes. Who
// looks after that must outlive this process.
void endWith(pid_t daemon) {
  if (daemon <= 0 || ::fork() != 0) return;
  ::setsid();
  ::kill(daemon, SIGTERM);
  const timespec pause{0, 100000000};
  for (int i = 0; i < kLeaveTries && ::kill(daemon, 0) == 0; ++i) ::nanosleep(&pause, nullptr);
  ::kill(daemon, SIGKILL);
  ::_exit(0);
}

}  // namespace

Lifeline::Lifeline(const std::filesystem::path& folder, std::chrono::seconds patience)
    : m_file(std::filesystem::absolute(folder) / "lifeline"), m_patience(patience), m_name(freshName()) {
  write();
  m_thread = std::thread([this] {
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, kEvery, [this] { return m_ending; })) write();
  });
}

Lifeline::~Lifeline() {
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_wake.notify_all();
  m_thread.join();
  std::error_code none;
  std::filesystem::remove(m_file, none);
}

std::string Lifeline::word() const {
  return fmt::format("{}:{}:{}", m_name, m_patience.count(), m_file.string());
}

void Lifeline::write() {
  const int file = ::open(m_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = fmt::format("{} {}\n", m_name, ++m_count);
  [[maybe_unused]] const ssize_t written = ::pwrite(file, line.data(), line.size(), 0);
  ::close(file);
}

std::optional<std::string> LifelineJudge::look(const std::optional<std::string>& text, std::uint64_t place, Time now) {
  // What this process slept through, or hung at a file server, counts for nothing.
  const auto passed = m_looked ? std::min<std::chrono::steady_clock::duration>(now - *m_looked, 2 * m_limits.pause)
                               : std::chrono::steady_clock::duration{};
  m_looked = now;
  m_still = std::exchange(m_place, place) == place ? m_still + passed : decltype(m_still){};
  if (!text) return {};
  const bool ours = text->starts_with(m_name + " ");
  m_other = ours || text->empty() ? decltype(m_other){} : m_other + passed;
  m_silent = std::exchange(m_last, *text) == *text || !ours ? m_silent + passed : decltype(m_silent){};
  const auto seconds = [](auto duration) { return std::chrono::duration_cast<std::chrono::seconds>(duration).count(); };
  if (m_other >= m_limits.other && m_still >= m_limits.other)
    return fmt::format("another start of this run has begun, and this rank has not moved on for {} s",
                       seconds(m_still));
  if (m_silent >= m_limits.silence && m_still >= m_limits.silence)
    return fmt::format("nothing was heard of its supervisor for {} s, and it has not moved on for {} s",
                       seconds(m_silent), seconds(m_still));
  return {};
}

LifelineWatch::LifelineWatch(const Communicator& communicator) {
  const char* const word = std::getenv(kLifelineVariable);
  const std::string_view given = word ? word : "";
  const auto first = given.find(':'), second = given.find(':', first + 1);
  int seconds = 0;
  if (second == std::string_view::npos ||
      std::from_chars(given.data() + first + 1, given.data() + second, seconds).ptr != given.data() + second)
    return;
  LifelineLimits limits{.silence = std::chrono::seconds(seconds)};
  limits.other = std::min(limits.other, limits.silence);
  m_thread = std::thread([this, &communicator, limits, name = std::string(given.substr(0, first)),
                          file = std::filesystem::path(given.substr(second + 1))] {
    LifelineJudge judge(name, limits);
    std::unique_lock lock(m_mutex);
    while (!m_wake.wait_for(lock, limits.pause, [this] { return m_ending; })) {
      const CollectiveActivity& activity = communicator.activity();
      const std::uint64_t place = activity.entered + activity.left + activity.progress +
                                  static_cast<std::uint64_t>(activity.step.load(std::memory_order_relaxed));
      const auto why = judge.look(firstLine(file), place, std::chrono::steady_clock::now());
      if (!why) continue;
      say(fmt::format("\nloom: rank {} leaves: {}\n", communicator.rank(), *why));
      endWith(daemonAround());
      ::kill(::getpid(), SIGKILL);
    }
  });
}

LifelineWatch::~LifelineWatch() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_ending = true;
  }
  m_wake.notify_all();
  m_thread.join();
}

}  // namespace loom
