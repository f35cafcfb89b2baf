#include "engine/agent/job_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "engine/agent/scheduler.h"
#include "engine/agent/wall_clock.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/file_lock.h"
#include "engine/run/process.h"

namespace loom {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 20;

Json readObject(const std::filesystem::path& path) {
  std::string text;
  try {
    text = readFile(path, kLongest);
  } catch (const Error&) {
    return Json::object();
  }
  Json value = Json::parse(text, nullptr, false);
  return value.is_object() ? value : Json::object();
}

template <class T>
T valueOf(const Json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return found->is_string() ? found->template get<T>() : otherwise;
  else
    return found->is_number_integer() ? found->template get<T>() : otherwise;
}

double timeOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

double changedAt(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0
             ? static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9
             : 0;
}

}  // namespace

const char* toKey(JobPhase phase) {
  constexpr const char* keys[] = {"none", "queued", "running", "ended", "unknown"};
  return keys[static_cast<int>(phase)];
}

Json toJson(const JobState& state) {
  Json json = {{"phase", toKey(state.phase)}, {"start", state.start}};
  if (state.phase == JobPhase::ended) json["code"] = state.code;
  if (state.scheduler) json[state.scheduler->key()] = state.number;
  if (!state.detail.empty()) json["detail"] = state.detail;
  if (state.lost) json["lost"] = true;
  return json;
}

Json JobFolder::launch() const {
  return readObject(launchFile());
}
Json JobFolder::process() const {
  return readObject(processFile());
}

int JobFolder::launchStart() const {
  const Json launch = this->launch();
  return launch.contains("loom_launch") ? valueOf(launch, "start", 1) : 0;
}
int JobFolder::notedStart() const {
  return valueOf(process(), "start", 0);
}

std::optional<JobFolder::Exit> JobFolder::exit() const {
  std::string text;
  try {
    text = readFile(exitFile(), 64);
  } catch (const Error&) {
    return {};
  }
  Exit exit;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), exit.code);
  if (fault != std::errc() || end == text.data()) return {};
  exit.terminated = text.find("terminated") != std::string::npos;
  return exit;
}

void JobFolder::writeLaunch(const Json& launch) const {
  writeFileAtomically(launchFile(), formatJson(launch) + "\n");
}

void JobFolder::noteProcess(int start) const {
  const ProcessName name = nameOf(::getpid());
  writeFileAtomically(processFile(), Json{{"start", start},
                                          {"process", name.id},
                                          {"started", name.start},
                                          {"boot", name.boot},
                                          {"machine", name.machine}}
                                         .dump());
}

void JobFolder::noteSubmitted(int start, const Scheduler& scheduler, const std::string& number) const {
  if (notedStart() == start) return;  // its supervisor was faster
  writeFileAtomically(
      processFile(),
      Json{{"start", start}, {scheduler.key(), number}, {"submitted_on", machineName()}, {"submitted", wallClock()}}
          .dump());
}

void JobFolder::noteBegun(int start, const Scheduler& scheduler, const std::string& number) const {
  Json note = process();
  // What stands there knows more of the same job: from where it was submitted, and to which of several clusters.
  if (valueOf(note, "start", 0) != start) note = {{"start", start}};
  if (!valueOf(note, scheduler.key(), std::string()).starts_with(number + ";")) note[scheduler.key()] = number;
  note["begun"] = wallClock();
  writeFileAtomically(processFile(), note.dump());
}

void JobFolder::noteExit(const Exit& exit) const {
  writeFileAtomically(exitFile(), fmt::format("{}{}\n", exit.code, exit.terminated ? " terminated" : ""));
}

void JobFolder::forgetExit() const {
  std::error_code none;
  std::filesystem::remove(exitFile(), none);
}

void JobFolder::noteKill(int start) const {
  writeFileAtomically(killFile(), std::to_string(start) + "\n");
}

bool JobFolder::killed(int start) const {
  try {
    return std::atoi(readFile(killFile(), 64).c_str()) == start;
  } catch (const Error&) {
    return false;
  }
}

JobFolder::Releases JobFolder::releases(int start) const {
  const Json note = readObject(releasedFile());
  if (valueOf(note, "start", 0) != start) return {};
  return {.times = valueOf(note, "times", 0), .at = timeOf(note, "at")};
}

void JobFolder::noteReleases(int start, const Releases& releases) const {
  writeFileAtomically(releasedFile(),
                      Json{{"start", start}, {"times", releases.times}, {"at", releases.at}}.dump() + "\n");
}

bool JobFolder::supervised() const {
  const int file = ::open(supervisorLock().c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = takeLock(file, LockKind::shared) == LockOutcome::elsewhere;
  ::close(file);
  return held;
}

namespace {

JobState ended(JobState state, const JobFolder::Exit& exit) {
  state.phase = JobPhase::ended;
  state.code = exit.code;
  return state;
}

// What the batch system makes of a job that it has ended shows within seconds: an answer may be no older. Later, and of
// one that has only begun, an answer from after that is new enough.
double oldestAnswer(double ended) {
  constexpr double kSoon = 4, kWhile = 60;
  const double age = wallClock() - ended;
  return age > 0 && age < kWhile ? ended + std::floor(age / kSoon) * kSoon : ended;
}

JobState batchState(const JobFolder& job, JobState state, const Json& process,
                    const std::optional<JobFolder::Exit>& exit, const BatchLook& look) {
  const double begun = timeOf(process, "begun");
  // A batch system that lost its memory gives the same number again: what it said of the one before is not of this job.
  const double submitted = timeOf(process, "submitted");
  const BatchState there =
      look(*state.scheduler, state.number, exit ? oldestAnswer(changedAt(job.exitFile())) : std::max(begun, submitted));
  const bool waitsOrRuns = there.phase == JobPhase::queued || there.phase == JobPhase::running;
  if (exit) {  // the batch system ended it, and may start it anew
    if (!waitsOrRuns && there.asked > 0 && (there.phase == JobPhase::ended || there.forgotten)) {
      if (!there.forgotten) state.detail = there.detail;  // why it did
      return ended(state, *exit);
    }
    state.phase = there.phase == JobPhase::queued ? JobPhase::queued : JobPhase::running;
    if (state.phase == JobPhase::queued)
      state.detail = fmt::format("{} starts it again: {}", state.scheduler->name(), there.detail);
    else
      state.detail =
          there.detail.empty() ? "it was ended by a signal; whether it is started again is to be seen" : there.detail;
    return state;
  }
  if (begun > there.asked) {
    state.phase = JobPhase::running;
    return state;
  }
  if (there.asked == 0 || submitted > there.asked) {
    state.phase = JobPhase::queued;
    state.detail = fmt::format("{} is being asked", state.scheduler->name());
    return state;
  }
  state.phase = there.phase;
  state.code = there.code;
  state.detail = there.detail;
  if (waitsOrRuns) return state;
  if (const auto late = job.exit(); late && !late->terminated) return ended(state, *late);  // between the two looks
  if (!there.forgotten) return state;
  const std::string where = valueOf(process, "submitted_on", std::string());
  if (where.empty() || where == machineName()) {
    state.phase = JobPhase::ended;
  } else {  // perhaps a login node of another cluster
    state.lost = true;
    state.detail += fmt::format("; it was submitted on {}, and this is {}", where, machineName());
  }
  return state;
}

}  // namespace

JobState JobFolder::state() const {
  return state([](const Scheduler& scheduler, const std::string& number, double) {
    return scheduler.query({number}).at(number);
  });
}

JobState JobFolder::state(const BatchLook& look) const {
  JobState state;
  const Json launch = this->launch();
  if (!launch.contains("loom_launch")) return state;
  const Json process = this->process();
  state.start = valueOf(process, "start", 0);
  if (const int wanted = valueOf(launch, "start", 1); wanted > state.start && !schedulerOf(launch) && supervised()) {
    state.start = wanted;
    state.phase = JobPhase::unknown;
    state.detail = "its supervisor has not said a word yet";
    return state;
  }
  if (state.start == 0) return state;  // no start of it has begun
  state.scheduler = schedulerOf(process);
  if (state.scheduler) state.number = valueOf(process, state.scheduler->key(), std::string());
  const auto exit = this->exit();
  if (exit && !(exit->terminated && state.scheduler)) return ended(state, *exit);
  if (state.scheduler) return batchState(*this, state, process, exit, look);
  const ProcessName name{valueOf(process, "process", std::int64_t{0}), valueOf(process, "started", std::int64_t{0}),
                         valueOf(process, "boot", std::string()), valueOf(process, "machine", std::string())};
  if (name.machine != machineName()) {
    state.phase = JobPhase::unknown;
    state.lost = true;
    state.detail = fmt::format("it was started on {}, and this is {}: only {} can tell whether it still runs",
                               name.machine, machineName(), name.machine);
  } else if (isAlive(name)) {
    state.phase = JobPhase::running;
  } else {
    const auto late = this->exit();  // it may have ended between the two looks
    return ended(state, late ? *late : Exit{});
  }
  return state;
}

StartLock::StartLock(const JobFolder& job)
    : m_file(::open((job.path() / "start.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  if (m_file < 0) throwErrno(errno, "lock", job.path() / "start.lock");
  while (::flock(m_file, LOCK_EX) != 0 && errno == EINTR) {
  }
}

StartLock::~StartLock() {
  ::close(m_file);
}

bool isJobId(const std::string& id) {
  if (id.empty() || id.size() > 120 || id[0] == '.' || id[0] == '-') return false;
  for (const char c : id)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

bool isPlainPath(const std::string& path) {
  if (path.empty() || path.size() > 1000 || path[0] == '-') return false;
  for (const char c : path)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("._-/~+@%=,").find(c) == std::string_view::npos)
      return false;
  return true;
}

}  // namespace loom
