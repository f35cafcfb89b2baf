// `loom supervise RUN -- mpirun ... loom train ...`: a process beside mpirun that is no rank. It hears the ranks' signs
// of life, ends the job when one is lost, and writes the last word into the run, whichever rank died.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "engine/agent/rank_launcher.h"
#include "engine/base/error.h"
#include "engine/base/foreign.h"
#include "engine/comm/lifeline.h"
#include "engine/comm/rank_watch.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"
#include "engine/run/run_folder.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLook = std::chrono::milliseconds(200);
constexpr auto kOwnPause = std::chrono::seconds(3);  // this process was stopped or starved: nobody's fault
constexpr auto kPatience = std::chrono::seconds(3);  // between asking mpirun to end and ending it

struct SuperviseArguments {
  std::string run;
  bool batch = false;
  int stalledAfter = 40;
  std::vector<std::string> command;
};

class SupervisedJob {
 public:
  // `lifeline`: what the ranks are told of it. `endBy`: the signal that ends the command.
  SupervisedJob(std::vector<std::string> command, const std::string& lifeline, int endBy) : m_endBy(endBy) {
    // Hosts must be told: Open MPI exports what it is asked to.
    for (const char* each : {kSupervisedVariable, kLifelineVariable}) {
      const std::vector<std::string> exported = exportWords(command, each);
      command.insert(command.begin() + 1, exported.begin(), exported.end());
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throwError(ErrorCode::inputOutput, "cannot make a pipe: {}", std::strerror(errno));
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t parent = ::getpid();
    m_pid = ::fork();
    if (m_pid < 0) throwError(ErrorCode::inputOutput, "cannot start {}: {}", command[0], std::strerror(errno));
    if (m_pid == 0) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, endBy);
      if (::getppid() != parent) ::_exit(127);
      ::setenv(kSupervisedVariable, endBy == SIGTERM ? "1" : kBatchSupervised, 1);
      ::setenv(kLifelineVariable, lifeline.c_str(), 1);
      ::dup2(ends[1], STDERR_FILENO);
      ::signal(SIGPIPE, SIG_DFL);
      ::execvp(arguments[0], arguments.data());
      const std::string text = fmt::format("cannot start {}: {}\n", arguments[0], std::strerror(errno));
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      ::_exit(127);
    }
    ::setpgid(m_pid, m_pid);
    ::close(ends[1]);
    m_errors = ends[0];
  }
  ~SupervisedJob() { ::close(m_errors); }

  // Whole lines that came within `wait`; false when there will be no more.
  template <class Take>
  bool read(std::chrono::milliseconds wait, const Take& take) {
    pollfd waited{m_errors, POLLIN, 0};
    if (::poll(&waited, 1, static_cast<int>(wait.count())) <= 0) return true;
    char block[4096];
    const ssize_t got = ::read(m_errors, block, sizeof block);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    m_open.append(block, static_cast<std::size_t>(got));
    for (std::size_t end; (end = m_open.find('\n')) != std::string::npos; m_open.erase(0, end + 1))
      take(m_open.substr(0, end));
    return true;
  }
  bool ended(int& status) { return ::waitpid(m_pid, &status, WNOHANG) == m_pid; }
  void end() { ::kill(-m_pid, m_endBy); }
  void kill() { ::kill(-m_pid, SIGKILL); }

 private:
  int m_endBy;
  pid_t m_pid = -1;
  int m_errors = -1;
  std::string m_open;
};

// Whether the run tells of its own end.
bool hasFinished(const RunFolder& run, std::int64_t attemptsBefore) {
  const std::optional<Event> last = lastEvent(run);
  return last && last->attempt > attemptsBefore && last->kind == "finished";
}

// Rank 0 logs each step at once; what a rank says of itself is up to a second old.
std::int64_t loggedStep(const RunFolder& run, std::int64_t attemptsBefore) {
  const std::optional<Event> last = lastEvent(run);
  return last && last->attempt > attemptsBefore ? wholeIn(last->body, "step") : 0;
}

// What rank 0 could not write any more.
void writeLastWord(const RunFolder& run, std::int64_t attemptsBefore, const std::string& sentence, std::int64_t step) {
  if (!std::filesystem::is_directory(run.path) || hasFinished(run, attemptsBefore)) return;
  const std::optional<Event> last = lastEvent(run);
  EventWriter events(run, last && last->attempt > attemptsBefore ? last->attempt : attemptsBefore + 1);
  events.write("error",
               {{"message", sentence}, {"code", std::string(toString(ErrorCode::communication))}, {"step", step}});
  events.write("finished", {{"reason", "failed"}, {"step", step}, {"message", sentence}});
}

int supervise(const SuperviseArguments& given, const std::atomic<bool>& stop) {
  const RunFolder run{std::filesystem::absolute(given.run)};
  const std::optional<Event> before = lastEvent(run);
  const std::int64_t attemptsBefore = before ? before->attempt : 0;
  // A batch system's SIGTERM is for whoever started this, which asks for a checkpoint by the control file. mpirun,
  // which would end the ranks, inherits that it does not hear it; SIGINT says the same to it.
  if (given.batch) {
    sigset_t deaf;
    sigemptyset(&deaf);
    sigaddset(&deaf, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &deaf, nullptr);
  }
  const Lifeline lifeline(run.path, std::chrono::seconds(given.stalledAfter));
  SupervisedJob job(given.command, lifeline.word(), given.batch ? SIGINT : SIGTERM);
  const std::chrono::seconds stalled{given.stalledAfter};
  RankWatch watch(
      {.silentHost = std::min(WatchLimits{}.silentHost, stalled), .silentRank = stalled, .stalled = stalled});
  std::optional<std::string> verdict;
  std::optional<Clock::time_point> asked;
  bool stopTold = false, open = true, killed = false;
  int status = 0;
  for (auto looked = Clock::now();;) {
    open = open && job.read(kLook, [&](const std::string& line) {
      if (!watch.hear(line, Clock::now())) fmt::print(stderr, "{}\n", line);
    });
    if (!open) std::this_thread::sleep_for(kLook);
    const auto now = Clock::now();
    if (now - looked > kOwnPause) watch.excuse(now - looked);
    looked = now;
    if (job.ended(status)) break;
    if (stop.load(std::memory_order_relaxed) && !stopTold) {
      stopTold = true;  // mpirun would kill the ranks; they are asked to end with a checkpoint
      if (std::filesystem::is_directory(run.path)) appendControl(run, {{"command", "stop"}, {"id", "signal"}});
    }
    if (!verdict && watch.verdict(now)) {
      watch.logged(loggedStep(run, attemptsBefore));
      verdict = watch.verdict(now);
      asked = now;
      job.end();
    }
    if (asked && !killed && now - *asked > kPatience) {
      killed = true;
      job.kill();  // the ranks die with their parent
    }
  }
  // The pipe may hold mpirun's last words, or stay open in a process that nobody can reach any more.
  for (const auto until = Clock::now() + std::chrono::seconds(1); open && Clock::now() < until;)
    open = job.read(std::chrono::milliseconds(50), [&](const std::string& line) {
      if (!watch.hear(line, Clock::now())) fmt::print(stderr, "{}\n", line);
    });
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
            code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + signal;
  // The mpirun of Open MPI 5 answers 0 after it has lost a host: only the run itself knows that it is done.
  const bool done = code == kExitDone && (hasFinished(run, attemptsBefore) || !std::filesystem::is_directory(run.path));
  if (done || code == exitCode(ErrorCode::stopped)) return code;
  watch.logged(loggedStep(run, attemptsBefore));
  const std::string sentence = verdict ? *verdict : watch.postMortem(code, signal);
  writeLastWord(run, attemptsBefore, sentence, watch.step());
  fmt::print(stderr, "\nloom: {}\n", sentence);
  const bool known = !verdict && signal == 0 && code < 128 && code != kExitDone;
  return known ? code : exitCode(ErrorCode::communication);
}

}  // namespace

void addSupervise(CLI::App& app, Session& session) {
  auto given = std::make_shared<SuperviseArguments>();
  CLI::App* verb = app.add_subcommand("supervise", "Run a job of several ranks and watch over them");
  verb->add_option("--run", given->run, "The run's folder, as `loom train` is told")->required();
  verb->add_option("--stalled-after", given->stalledAfter,
                   "Seconds after which a rank that does not move on ends the job")
      ->check(CLI::Range(3, 86400))
      ->capture_default_str();
  verb->add_flag(
      "--batch", given->batch,
      "SIGTERM ends nothing: it is a batch system's, to whoever started this, which has a checkpoint written");
  verb->add_option("COMMAND", given->command, "-- mpirun -n N loom train PROJECT --run RUN")->required();
  verb->callback([&session, given] { session.chosen = [&session, given] { return supervise(*given, session.stop); }; });
}

}  // namespace loom
