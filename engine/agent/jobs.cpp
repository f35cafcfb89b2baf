#include "engine/agent/jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "engine/agent/sha256.h"
#include "engine/agent/slurm.h"
#include "engine/agent/supervisor.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/process.h"
#include "engine/run/run_lock.h"

namespace loom {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr int kCancelled = 128 + SIGTERM;

// One launcher at a time decides whether a job is to be started.
class StartLock {
 public:
  explicit StartLock(const std::filesystem::path& folder)
      : m_file(::open((folder / "start.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (m_file < 0) throwErrno(errno, "lock", folder / "start.lock");
    while (::flock(m_file, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~StartLock() { ::close(m_file); }

 private:
  int m_file;
};

int startOf(const Json& launch) {
  const auto found = launch.find("start");
  return found != launch.end() && found->is_number_integer() ? found->get<int>() : 0;
}

bool usesSlurm(const Json& launch) {
  return launch.contains("slurm") && launch["slurm"].is_object();
}

// The supervisor's first word; without it the job's state would be unknown for an instant after it was started.
void awaitProcess(const JobFolder& job, int start) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end && startOf(job.process()) != start && !job.exitCode())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

JobFolder Jobs::folder(const std::string& id) const {
  if (!isJobId(id))
    throwError(ErrorCode::badArgument,
               "'{}' is no job's id: letters, digits, '.', '_' and '-' are, at most 120 of them", id.substr(0, 200));
  return JobFolder(m_folder / id);
}

JobFolder Jobs::wanted(const std::string& id) const {
  JobFolder job = folder(id);
  if (!std::filesystem::exists(job.launchFile()))
    throwError(ErrorCode::missingFile, "there is no job {} in {}", id, m_folder.string());
  return job;
}

Json Jobs::start(const std::string& id, const Json& launch, const std::string& script,
                 const std::string& project) const {
  const JobFolder job = folder(id);
  const int start = startOf(launch);
  if (start < 1) throwError(ErrorCode::badArgument, "the start of {} has no number", id);
  std::error_code fault;
  std::filesystem::create_directories(job.path(), fault);
  if (fault) throwErrno(fault.value(), "make the run folder", job.path());
  const StartLock lock(job.path());
  const Json known = job.launch();
  if (startOf(known) >= start) {
    Json state = toJson(job.state());
    state["started"] = false;
    return state;
  }
  if (known.contains("loom_launch")) {
    const JobState before = job.state();
    if (before.phase == JobPhase::running || before.phase == JobPhase::queued || RunLock::held(job.run()))
      throwError(ErrorCode::badArgument, "{} still runs: it can be started again when it has ended", id);
  }
  if (!project.empty()) writeFileAtomically(job.projectFile(), project);
  if (!std::filesystem::exists(job.projectFile()) && !launch.value("probe", false))
    throwError(ErrorCode::missingFile, "{} has no project to train", id);
  Json whole = {{"loom_launch", 1}, {"id", id}};
  whole.update(launch);
  // A run's folder that a process of its own killed has an old end; it must not be taken for this start's.
  job.writeLaunch(whole);
  job.forgetExit();
  // Wishes to a start that ended before its first word; a run that goes on reads only what comes after them.
  if (!std::filesystem::exists(job.run().runFile())) std::filesystem::remove(job.run().controlFile(), fault);
  try {
    if (usesSlurm(whole)) {
      writeFileAtomically(job.scriptFile(), script);
      job.noteSlurm(start, slurmSubmit(job.scriptFile(), job.path()));
    } else {
      startSupervisor(job);
      awaitProcess(job, start);
    }
  } catch (...) {
    // It was not started: the same start may be asked for again.
    if (known.contains("loom_launch"))
      job.writeLaunch(known);
    else
      std::filesystem::remove(job.launchFile(), fault);
    throw;
  }
  Json state = toJson(job.state());
  state["started"] = true;
  return state;
}

Json Jobs::list() const {
  Json all = Json::array();
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, fault)) {
    const std::string id = entry.path().filename().string();
    if (!isJobId(id)) continue;
    const JobState state = JobFolder(entry.path()).state();
    if (state.phase == JobPhase::none) continue;
    Json each = toJson(state);
    each["job"] = id;
    all.push_back(std::move(each));
  }
  return all;
}

void Jobs::control(const std::string& id, const Json& command) const {
  if (!command.is_object() || !command.contains("command"))
    throwError(ErrorCode::badArgument, "a command to {} has no name", id);
  appendControl(wanted(id).run(), command);
}

void Jobs::cancel(const std::string& id, const std::string& how) const {
  const JobFolder job = wanted(id);
  if (how != "stop" && how != "kill")
    throwError(ErrorCode::badArgument, "{} is to be ended by '{}', but 'stop' and 'kill' are known", id, how);
  const bool stop = how == "stop";
  const JobState state = job.state();
  if (state.phase == JobPhase::ended) return;
  if (!state.slurm.empty()) {
    slurmCancel(state.slurm, stop && state.phase == JobPhase::running ? SlurmEnd::stop : SlurmEnd::kill);
    // A job that waited has no supervisor which could note its end.
    if (state.phase == JobPhase::queued) job.noteExit(kCancelled);
    return;
  }
  if (state.phase != JobPhase::running)
    throwError(ErrorCode::communication, "{} cannot be ended from here: {}", id, state.detail);
  const auto process = static_cast<pid_t>(job.process().value("process", std::int64_t{0}));
  if (process > 0 && ::kill(process, stop ? SIGINT : SIGTERM) != 0 && errno != ESRCH)
    throwErrno(errno, "end the job in", job.path());
}

Json Jobs::files(const std::string& id) const {
  const JobFolder job = wanted(id);
  Json all = Json::array();
  std::error_code fault;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(job.path(), fault))
    if (entry.is_regular_file(fault))
      all.push_back({{"path", entry.path().lexically_relative(job.path()).string()}, {"size", entry.file_size(fault)}});
  return all;
}

std::filesystem::path Jobs::fileOf(const std::string& id, const std::string& file) const {
  const JobFolder job = wanted(id);
  std::error_code fault;
  const auto home = std::filesystem::canonical(job.path(), fault);
  const auto path = std::filesystem::canonical(job.path() / file, fault);
  if (fault) throwErrno(fault.value(), "read", job.path() / file);
  const auto inside = path.lexically_relative(home);
  if (inside.empty() || *inside.begin() == ".." || !std::filesystem::is_regular_file(path))
    throwError(ErrorCode::badArgument, "'{}' is no file of the run {}", file, id);
  return path;
}

Json Jobs::hash(const std::string& id, const std::string& file, const std::function<void()>& busy) const {
  const std::filesystem::path path = fileOf(id, file);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throwErrno(errno, "read", path);
  Sha256 hash;
  std::int64_t size = 0;
  std::string piece(kPiece, '\0');
  auto told = std::chrono::steady_clock::now();
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0) {
    hash.add(std::string_view(piece.data(), static_cast<std::size_t>(stream.gcount())));
    size += stream.gcount();
    if (std::chrono::steady_clock::now() - told < std::chrono::seconds(1)) continue;
    busy();
    told = std::chrono::steady_clock::now();
  }
  if (stream.bad()) throwErrno(EIO, "read", path);
  return {{"size", size}, {"sha256", hash.finish()}};
}

Json Jobs::get(const std::string& id, const std::string& file, std::int64_t offset, std::string& bytes) const {
  const std::filesystem::path path = fileOf(id, file);
  const int handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (handle < 0) throwErrno(errno, "read", path);
  struct stat status {};
  ::fstat(handle, &status);
  bytes.resize(kPiece);
  const ssize_t got = ::pread(handle, bytes.data(), bytes.size(), offset);
  const int number = errno;
  ::close(handle);
  if (got < 0) throwErrno(number, "read", path);
  bytes.resize(static_cast<std::size_t>(got));
  return {{"size", status.st_size}, {"end", offset + got >= status.st_size}};
}

}  // namespace loom
