#include "engine/agent/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "engine/agent/launch_words.h"
#include "engine/agent/scheduler.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/exit_code.h"
#include "engine/run/file_lock.h"
#include "engine/run/process.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSayAgain{2};  // a wish to stop, until the run ends
constexpr std::chrono::seconds kPatience{4};  // from SIGTERM to SIGKILL: mpirun needs one or two to end its other hosts
constexpr std::chrono::seconds kGiveUp{20};   // what even then does not end is not ours to wait for
// Before a preempted job is killed by the batch system (Slurm's KillWait is 30 s): its checkpoint.
constexpr std::chrono::seconds kLastWishes{18};
constexpr int kPollMs = 200;
constexpr int kTries = 30;  // for the lock, 10 ms apart

[[noreturn]] void become(const std::vector<std::string>& given, pid_t supervisor) {
  std::vector<std::string> copies = given;
  std::vector<char*> words;
  for (std::string& each : copies) words.push_back(each.data());
  words.push_back(nullptr);
  ::setpgid(0, 0);
  // A supervisor that is killed takes its job with it: nobody else could tell how it went.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(words[0], words.data());
  ::dprintf(2, "loom: %s cannot be started: %s\n", words[0], ::strerror(errno));
  ::_exit(127);
}

// The next job of a run whose time was over: the same script again, which finds "resume" in launch.json.
void submitContinuation(const JobFolder& job, Json launch, const Scheduler& scheduler, const std::string& number) {
  const StartLock lock(job);
  const int start = launch["start"].get<int>() + 1;
  launch["start"] = start;
  launch["resume"] = true;
  Json& wish = launch[scheduler.key()];
  wish["continue"] = wish["continue"].get<int>() - 1;
  job.writeLaunch(launch);
  job.noteSubmitted(start, scheduler,
                    scheduler.submit({.script = job.scriptFile(),
                                      .folder = job.path(),
                                      .name = job.path().filename().string(),
                                      .previous = number}));
}

bool continues(const Json& launch, const Scheduler& scheduler) {
  const Json& wish = launch[scheduler.key()];
  return wish.is_object() && wish.contains("continue") && wish["continue"].is_number_integer() &&
         wish["continue"].get<int>() > 0;
}

// Waits for the child and obeys signals meanwhile; answers its exit code as a shell gives it. All that the child
// started comes to this process when its parent ends (it is its subreaper), so nothing of a job is left behind, in
// whatever group it runs.
class Watch {
 public:
  enum class Child { job, watcher };  // watcher: `loom supervise` around mpirun
  enum class Term { endsNow, checkpointFirst };
  Watch(const JobFolder& job, pid_t child, Child kind, Term term, int signals)
      : m_job(job), m_child(child), m_kind(kind), m_term(term), m_signals(signals) {}
  bool timeIsOver() const { return m_timeIsOver; }
  bool terminated() const { return m_terminated; }

  int run() {
    while (!collect() || !allEnded()) {
      pollfd file{m_signals, POLLIN, 0};
      signalfd_siginfo signal;
      if (::poll(&file, 1, kPollMs) > 0 && ::read(m_signals, &signal, sizeof signal) == sizeof signal)
        take(static_cast<int>(signal.ssi_signo));
      const auto now = Clock::now();
      if (m_stopping && !m_ended && now >= m_sayAt) {
        const char* const why = m_terminated ? "terminated" : m_timeIsOver ? "time-limit" : "supervisor";
        appendControl(m_job.run(), {{"command", "stop"}, {"id", why}});
        m_sayAt = now + kSayAgain;
      }
      if (m_terminated && !m_ending && now - m_terminatedAt >= kLastWishes) end();
      if (m_ending && now - m_endingSince >= kPatience) signalAll(SIGKILL);
    }
    return m_code;
  }

 private:
  // Whether the child itself has ended.
  bool collect() {
    int status = 0;
    pid_t each;
    while ((each = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (each != m_child) continue;
      m_ended = true;
      m_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    return m_ended;
  }
  // What a child that is gone has left running must go too: nobody could end it later.
  bool allEnded() {
    if (descendantsOf(::getpid()).empty()) return true;
    if (!m_ending) end();
    return Clock::now() - m_endingSince > kGiveUp;
  }
  void end() {
    m_ending = true;
    m_endingSince = Clock::now();
    // The watcher over the ranks goes first: it would take their end for a failure and write it down.
    if (m_kind == Child::watcher && !m_ended) ::kill(m_child, SIGKILL);
    // mpirun ends every rank on every host; under a batch system it does not hear SIGTERM (`loom supervise --batch`).
    signalAll(m_kind == Child::watcher && m_term == Term::checkpointFirst ? SIGINT : SIGTERM);
  }
  void signalAll(int signal) {
    for (const std::int64_t each : descendantsOf(::getpid())) ::kill(static_cast<pid_t>(each), signal);
  }
  void take(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGTERM) {
      if (m_ending || m_terminated) return;
      if (m_term == Term::endsNow || m_job.killed(m_job.launchStart())) return end();
      m_terminated = true;
      m_terminatedAt = Clock::now();
    }
    if (signal == SIGUSR1) m_timeIsOver = true;
    if (!m_stopping) m_sayAt = Clock::now();
    m_stopping = true;
  }

  const JobFolder& m_job;
  pid_t m_child;
  Child m_kind;
  Term m_term;
  int m_signals;
  bool m_stopping = false, m_timeIsOver = false, m_terminated = false, m_ended = false, m_ending = false;
  int m_code = -1;
  Clock::time_point m_sayAt{}, m_endingSince{}, m_terminatedAt{};
};

}  // namespace

int superviseJob(const JobFolder& job) {
  ::umask(077);
  const int lock = ::open(job.supervisorLock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) throwErrno(errno, "lock", job.supervisorLock());
  // Whoever asks for the state looks at it through a shared lock, for an instant.
  for (int tries = 0; takeLock(lock, LockKind::exclusive) == LockOutcome::elsewhere; ++tries) {
    if (tries == kTries)
      throwError(ErrorCode::badArgument, "the job in {} is run by another process already", job.path().string());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  Json launch = job.launch();
  if (!launch.contains("loom_launch"))
    throwError(ErrorCode::missingFile, "{} is no job's folder: it has no launch.json", job.path().string());
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) sigaddset(&set, each);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGHUP, SIG_IGN);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  const Scheduler* const scheduler = schedulerOf(launch);
  const std::optional<OwnBatch> self = scheduler ? scheduler->self() : std::nullopt;
  const int start = job.launchStart();
  job.forgetExit();
  if (self) {
    if (self->restarts > 0) launch["resume"] = true;
    job.noteBegun(start, *scheduler, self->number);  // perhaps before whoever submitted it was told
  } else {
    job.noteProcess(start);
  }

  if (const std::string script = modulesScript(launch); !script.empty()) writeFileAtomically(job.modulesFile(), script);
  const RankLauncher launcher =
      needsMpi(launch) ? rankLauncherOf(mpirunOf(launch), modulesWords(job, launch)) : RankLauncher::openMpi;
  const std::vector<std::string> words = launchWords(job, launch, ownProgram(), launcher);
  if (const std::string lines = hostLines(launch); !lines.empty()) writeFileAtomically(job.hostsFile(), lines);
  const pid_t supervisor = ::getpid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = ::fork();
  if (child < 0) throwErrno(errno, "start the job in", job.path());
  if (child == 0) become(words, supervisor);
  Watch watch(job, child, isWatched(launch) ? Watch::Child::watcher : Watch::Child::job,
              self ? Watch::Term::checkpointFirst : Watch::Term::endsNow, signals);
  const int code = watch.run();
  ::close(signals);
  if (self && watch.timeIsOver() && code == exitCode(ErrorCode::stopped) && continues(launch, *scheduler)) {
    try {
      submitContinuation(job, launch, *scheduler, self->number);
      return code;
    } catch (const Error& error) {
      fmt::print(stderr, "loom: the continuation was not submitted: {}\n", error.what());
      // One that the batch system may have taken all the same finds its own start in launch.json.
      if (error.code() != ErrorCode::communication) job.writeLaunch(launch);
    }
  }
  if (isWatched(launch)) {  // of a watcher that was ended by force
    std::error_code none;
    std::filesystem::remove(job.lifelineFile(), none);
  }
  // A run that came to its own end needs no other start, whatever signal came meanwhile.
  job.noteExit({.code = code, .terminated = watch.terminated() && code != kExitDone});
  return code;
}

void startSupervisor(const JobFolder& job) {
  const std::string program = ownProgram(), log = job.run().logFile().string(), folder = job.path().string();
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) throwErrno(errno, "start a job in", job.path());
  const pid_t middle = ::fork();
  if (middle < 0) throwErrno(errno, "start a job in", job.path());
  if (middle == 0) {
    // Twice forked and in a session of its own: nobody's child, and no hang-up of a connection reaches it.
    ::setsid();
    const pid_t process = ::fork();
    if (process != 0) ::_exit(process < 0 ? 1 : 0);
    const int in = ::open("/dev/null", O_RDONLY), out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (in >= 0 && out >= 0 && ::dup2(in, 0) == 0 && ::dup2(out, 1) == 1 && ::dup2(out, 2) == 2) {
      ::close_range(3, static_cast<unsigned>(told[1] - 1), 0);
      ::close_range(static_cast<unsigned>(told[1] + 1), ~0U, 0);
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      const char* words[] = {program.c_str(), "agent", "--job", folder.c_str(), nullptr};
      ::execv(program.c_str(), const_cast<char* const*>(words));
    }
    const int number = errno;
    [[maybe_unused]] const auto written = ::write(told[1], &number, sizeof number);
    ::_exit(127);
  }
  ::close(told[1]);
  int status = 0, number = 0;
  while (::waitpid(middle, &status, 0) < 0 && errno == EINTR) {
  }
  const bool failed = ::read(told[0], &number, sizeof number) == sizeof number;
  ::close(told[0]);
  if (failed) throwErrno(number, "start a job with its log", log);
}

}  // namespace loom
