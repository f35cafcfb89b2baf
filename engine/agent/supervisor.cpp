#include "engine/agent/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/agent/slurm.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/exit_code.h"
#include "engine/run/process.h"

namespace loom {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSayAgain{2};  // a wish to stop, until the run ends
constexpr std::chrono::seconds kPatience{4};  // from SIGTERM to SIGKILL: mpirun needs one or two to end its other hosts
constexpr std::chrono::seconds kGiveUp{20};   // what even then does not end is not ours to wait for
constexpr int kPollMs = 200;

std::vector<std::string> wordsOf(const Json& launch, const char* key) {
  std::vector<std::string> words;
  const auto found = launch.find(key);
  if (found != launch.end() && found->is_array())
    for (const Json& each : *found)
      if (each.is_string()) words.push_back(each.get<std::string>());
  return words;
}

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

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
void submitContinuation(const JobFolder& job, Json launch) {
  const int start = launch["start"].get<int>() + 1;
  launch["start"] = start;
  launch["resume"] = true;
  launch["slurm"]["continue"] = launch["slurm"]["continue"].get<int>() - 1;
  job.writeLaunch(launch);
  job.noteSlurm(start, slurmSubmit(job.scriptFile(), job.path()));
}

bool continues(const Json& launch) {
  const auto slurm = launch.find("slurm");
  return slurm != launch.end() && slurm->is_object() && slurm->contains("continue") &&
         (*slurm)["continue"].is_number_integer() && (*slurm)["continue"].get<int>() > 0;
}

// Waits for the child and obeys signals meanwhile; answers its exit code as a shell gives it. All that the child
// started comes to this process when its parent ends (it is its subreaper), so nothing of a job is left behind, in
// whatever group it runs.
class Watch {
 public:
  enum class Child { job, watcher };  // watcher: `loom supervise` around mpirun
  Watch(const JobFolder& job, pid_t child, Child kind, int signals)
      : m_job(job), m_child(child), m_kind(kind), m_signals(signals) {}
  bool timeIsOver() const { return m_timeIsOver; }

  int run() {
    while (!collect() || !allEnded()) {
      pollfd file{m_signals, POLLIN, 0};
      signalfd_siginfo signal;
      if (::poll(&file, 1, kPollMs) > 0 && ::read(m_signals, &signal, sizeof signal) == sizeof signal)
        take(static_cast<int>(signal.ssi_signo));
      const auto now = Clock::now();
      if (m_stopping && !m_ended && now >= m_sayAt) {
        appendControl(m_job.run(), {{"command", "stop"}, {"id", m_timeIsOver ? "time-limit" : "supervisor"}});
        m_sayAt = now + kSayAgain;
      }
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
    signalAll(SIGTERM);  // mpirun ends every rank on every host
  }
  void signalAll(int signal) {
    for (const std::int64_t each : descendantsOf(::getpid())) ::kill(static_cast<pid_t>(each), signal);
  }
  void take(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGTERM) {
      if (!m_ending) end();
      return;
    }
    if (signal == SIGUSR1) m_timeIsOver = true;
    if (!m_stopping) m_sayAt = Clock::now();
    m_stopping = true;
  }

  const JobFolder& m_job;
  pid_t m_child;
  Child m_kind;
  int m_signals;
  bool m_stopping = false, m_timeIsOver = false, m_ended = false, m_ending = false;
  int m_code = -1;
  Clock::time_point m_sayAt{}, m_endingSince{};
};

bool needsMpi(const Json& launch) {
  return launch.value("ranks", 1) > 1 || !hostLines(launch).empty();
}

// A check's ranks only say who they are; those of a run are watched over.
bool isWatched(const Json& launch) {
  return needsMpi(launch) && !launch.value("probe", false);
}

}  // namespace

std::string hostLines(const Json& launch) {
  std::string lines;
  const auto hosts = launch.find("hosts");
  if (hosts != launch.end() && hosts->is_array())
    for (const Json& each : *hosts)
      lines += fmt::format("{} slots={}\n", each.value("name", std::string()), each.value("ranks", 1));
  return lines;
}

std::vector<std::string> launchWords(const JobFolder& job, const Json& launch, const std::string& program) {
  std::vector<std::string> words;
  const std::vector<std::string> modules = wordsOf(launch, "modules");
  if (!modules.empty()) {
    std::string lines;
    for (const std::string& each : modules) lines += each + "\n";
    // The lines are the host's own settings; everything of the job comes behind them as words that no shell looks into.
    add(words, {"bash", "-l", "-c", lines + "exec \"$@\"", "loom"});
  }
  const int ranks = launch.value("ranks", 1);
  const std::vector<std::string> mpirun = wordsOf(launch, "mpirun");
  if (isWatched(launch)) {
    add(words, {program, "supervise", "--run", job.path().string()});
    if (const int seconds = launch.value("stalled_after", 0); seconds > 0)
      add(words, {"--stalled-after", std::to_string(seconds)});
    words.push_back("--");
  }
  if (needsMpi(launch)) {
    words.insert(words.end(), mpirun.begin(), mpirun.end());
    if (mpirun.empty()) words.push_back("mpirun");
    if (::geteuid() == 0) words.push_back("--allow-run-as-root");
    // A host that is cut off is noticed within seconds instead of minutes.
    add(words, {"--mca", "oob_tcp_keepalive_time", "3", "--mca", "oob_tcp_keepalive_intvl", "1", "--mca",
                "oob_tcp_keepalive_probes", "3"});
    add(words, {"--bind-to", "none"});
    // By a file: with --host, Open MPI 5 does not know the machine that it runs on by its address.
    if (!hostLines(launch).empty()) add(words, {"--hostfile", job.hostsFile().string()});
    add(words, {"-n", std::to_string(ranks)});
  }
  const std::vector<std::string> prefix = wordsOf(launch, "prefix");
  words.insert(words.end(), prefix.begin(), prefix.end());
  if (launch.value("probe", false)) {
    add(words, {program, "agent", "--probe"});
    return words;
  }
  add(words, {program, "train", job.projectFile().string(), "--run", job.path().string()});
  for (const std::string& each : wordsOf(launch, "overrides")) add(words, {"--set", each});
  // Without a checkpoint, or before its first word, there is nothing to go on from: the run begins.
  if (launch.value("resume", false) && std::filesystem::exists(job.run().runFile()))
    add(words, {"--resume", job.path().string()});
  return words;
}

int superviseJob(const JobFolder& job) {
  const int lock = ::open((job.path() / "supervisor.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) throwErrno(errno, "lock", job.path() / "supervisor.lock");
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    throwError(ErrorCode::badArgument, "the job in {} is run by another process already", job.path().string());
  const Json launch = job.launch();
  if (!launch.contains("loom_launch"))
    throwError(ErrorCode::missingFile, "{} is no job's folder: it has no launch.json", job.path().string());
  sigset_t set;
  sigemptyset(&set);
  for (const int each : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) sigaddset(&set, each);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGHUP, SIG_IGN);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  const char* number = launch.contains("slurm") ? std::getenv("SLURM_JOB_ID") : nullptr;
  const int start = launch.value("start", 1);
  if (number)
    job.noteSlurm(start, number);  // perhaps before sbatch has told whoever submitted it
  else
    job.noteProcess(start);

  if (const std::string lines = hostLines(launch); !lines.empty()) writeFileAtomically(job.hostsFile(), lines);
  const std::vector<std::string> words = launchWords(job, launch, ownProgram());
  const pid_t supervisor = ::getpid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t child = ::fork();
  if (child < 0) throwErrno(errno, "start the job in", job.path());
  if (child == 0) become(words, supervisor);
  Watch watch(job, child, isWatched(launch) ? Watch::Child::watcher : Watch::Child::job, signals);
  const int code = watch.run();
  ::close(signals);
  if (watch.timeIsOver() && code == exitCode(ErrorCode::stopped) && number && continues(launch)) {
    try {
      submitContinuation(job, launch);
      return code;
    } catch (const Error& error) {
      fmt::print(stderr, "loom: the continuation was not submitted: {}\n", error.what());
      job.writeLaunch(launch);
      job.noteSlurm(start, number);
    }
  }
  job.noteExit(code);
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
    const int in = ::open("/dev/null", O_RDONLY), out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
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
