#include "engine/agent/jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <thread>

#include "engine/agent/held_jobs.h"
#include "engine/agent/scheduler.h"
#include "engine/agent/sha256.h"
#include "engine/agent/supervisor.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "engine/run/run_lock.h"

namespace loom {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr int kEndTries = 10;
constexpr std::chrono::milliseconds kEndPause{500};
constexpr int kCancelled = 128 + SIGTERM;

int startOf(const Json& launch) {
  const auto found = launch.find("start");
  return found != launch.end() && found->is_number_integer() ? found->get<int>() : 0;
}

// The supervisor's first word; without it the job's state would be unknown for an instant after it was started.
void awaitProcess(const JobFolder& job, int start) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end && job.notedStart() != start && !job.exit())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// "run.json", "checkpoints/step-00000128.safetensors": names that lead nowhere else.
bool isRunPart(const std::string& name) {
  if (name == "run.json" || name == "events.jsonl" || name == "log.txt") return true;
  constexpr std::string_view folder = "checkpoints/";
  return name.starts_with(folder) && isJobId(name.substr(folder.size()));
}

Json answerOf(JobState state, int start, bool started) {
  if (state.start != start) {
    state = {.phase = JobPhase::unknown, .start = start};
    state.detail = "it was started, but its supervisor has not said a word yet";
  }
  Json json = toJson(state);
  json["started"] = started;
  return json;
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

JobState Jobs::state(const std::string& id) const {
  const JobFolder job = folder(id);
  return job.state(lookAndRelease(job, m_desk));
}

// Before something is done that depends on it.
JobState Jobs::stateNow(const JobFolder& job) const {
  return job.state(
      [this](const Scheduler& scheduler, const std::string& number, double) { return m_desk.ask(scheduler, number); });
}

// A start that launch.json knows and process.json does not: whoever began it fell in between, or the batch system's
// answer was lost. Whether it is there all the same; then that is noted.
bool Jobs::adopt(const JobFolder& job, const Json& launch) const {
  const int start = startOf(launch);
  if (job.notedStart() == start) return true;
  const Scheduler* const scheduler = schedulerOf(launch);
  if (!scheduler) return job.supervised();
  const Json process = job.process();
  const auto previous = process.find(scheduler->key());
  const std::string number =
      scheduler->findByName(job.path().filename().string(),
                            previous != process.end() && previous->is_string() ? previous->get<std::string>() : "");
  if (!number.empty()) job.noteSubmitted(start, *scheduler, number);
  return !number.empty();
}

void Jobs::requireEnded(const JobFolder& job) const {
  if (job.notedStart() == 0) return;
  const std::string id = job.path().filename().string();
  const auto goes = [&job](const JobState& state) {
    return state.phase == JobPhase::running || state.phase == JobPhase::queued || RunLock::held(job.run());
  };
  JobState before = stateNow(job);
  // One that said its last word is about to go.
  for (int tries = 0; goes(before) && tries < kEndTries; ++tries) {
    const auto last = lastEvent(job.run());
    if (!last || last->kind != "finished") break;
    std::this_thread::sleep_for(kEndPause);
    before = stateNow(job);
  }
  if (goes(before))
    throwError(ErrorCode::communication, "{} still runs: it can be started again when it has ended", id);
  if (before.phase == JobPhase::unknown)
    throwError(before.lost ? ErrorCode::badArgument : ErrorCode::communication,
               "{} is not started again before it is known that its last start has ended: {}", id, before.detail);
}

void Jobs::place(const std::string& id, const Json& files, const DataStore& data) const {
  const JobFolder job = folder(id);
  std::map<std::string, int> uses;  // two files may be alike
  for (const auto& [name, hash] : files.items()) {
    if (!isRunPart(name) || !hash.is_string() || !isSha256(hash.get<std::string>()))
      throwError(ErrorCode::badArgument, "'{}' is no file that a run brings along, or it has no hash",
                 name.substr(0, 200));
    const std::string sha256 = hash.get<std::string>();
    ++uses[sha256];
    if (!std::filesystem::exists(data.whole(sha256)))
      throwError(ErrorCode::missingFile, "{} of {} has not arrived: resume it once more", name, id);
  }
  std::error_code fault;
  std::filesystem::create_directories(job.run().checkpoints(), fault);
  if (fault) throwErrno(fault.value(), "make the folder", job.run().checkpoints());
  const StartLock lock(job);
  requireEnded(job);
  for (const auto& [name, hash] : files.items()) {
    const std::string sha256 = hash.get<std::string>();
    const std::filesystem::path to = job.path() / name;
    const bool last = --uses[sha256] == 0;
    if (last) std::filesystem::rename(data.whole(sha256), to, fault);
    if (last && !fault) continue;
    // Another file is the same, or the runs lie on another disk.
    const std::filesystem::path part = to.string() + ".part";
    std::filesystem::copy_file(data.whole(sha256), part, std::filesystem::copy_options::overwrite_existing, fault);
    if (!fault) std::filesystem::rename(part, to, fault);
    if (fault) throwErrno(fault.value(), "write", to);
    if (last) std::filesystem::remove(data.whole(sha256), fault);
    fault.clear();
  }
}

Json Jobs::start(const std::string& id, const Json& launch, const std::string& script,
                 const std::string& project) const {
  const JobFolder job = folder(id);
  const int start = startOf(launch);
  if (start < 1) throwError(ErrorCode::badArgument, "the start of {} has no number", id);
  std::error_code fault;
  std::filesystem::create_directories(job.path(), fault);
  if (fault) throwErrno(fault.value(), "make the run folder", job.path());
  const StartLock lock(job);
  const Json known = job.launch();
  const bool there = known.contains("loom_launch") && adopt(job, known);
  if (startOf(known) > start || (startOf(known) == start && there)) return answerOf(state(id), startOf(known), false);
  requireEnded(job);
  if (job.notedStart() == 0 && there) throwError(ErrorCode::badArgument, "{} is being started by another launcher", id);
  if (!project.empty()) writeFileAtomically(job.projectFile(), project);
  if (!std::filesystem::exists(job.projectFile()) && !launch.value("probe", false))
    throwError(ErrorCode::missingFile, "{} has no project to train", id);
  Json whole = {{"loom_launch", 1}, {"id", id}};
  whole.update(launch);
  const auto endBefore = job.exit();
  try {
    // The end before it goes first: it must never be taken for this start's.
    job.forgetExit();
    job.writeLaunch(whole);
    // Wishes to a start that ended before its first word; a run that goes on reads only what comes after them.
    if (!std::filesystem::exists(job.run().runFile())) std::filesystem::remove(job.run().controlFile(), fault);
    begin(job, whole, script);
  } catch (const Error& error) {
    // Where it was surely not started, the same start may be asked for again as if it never had been.
    if (error.code() != ErrorCode::communication) {
      if (endBefore) job.noteExit(*endBefore);
      if (known.contains("loom_launch"))
        job.writeLaunch(known);
      else
        std::filesystem::remove(job.launchFile(), fault);
    }
    throw;
  }
  return answerOf(state(id), start, true);
}

// The start before this one has ended. A controller that was killed may have come back with an older state, in which
// that one's job still runs, and this start would wait behind it until the controller notices. Name and number: a
// number alone may be another job's by now.
void endGhost(const Scheduler& scheduler, const std::string& name, const std::string& number) {
  try {
    if (!number.empty() && scheduler.findByName(name, {}) == number) scheduler.cancel(number, BatchEnd::kill);
  } catch (const Error&) {
    // The submission says what is wrong there.
  }
}

void Jobs::begin(const JobFolder& job, const Json& launch, const std::string& script) const {
  const int start = startOf(launch);
  const Scheduler* const scheduler = schedulerOf(launch);
  if (!scheduler) {
    startSupervisor(job);
    return awaitProcess(job, start);
  }
  writeFileAtomically(job.scriptFile(), script);
  const Json process = job.process();
  const auto noted = process.find(scheduler->key());
  const std::string name = job.path().filename().string(),
                    previous = noted != process.end() && noted->is_string() ? noted->get<std::string>() : std::string();
  endGhost(*scheduler, name, previous);
  job.noteSubmitted(
      start, *scheduler,
      scheduler->submit({.script = job.scriptFile(), .folder = job.path(), .name = name, .previous = previous}));
}

Json Jobs::list() const {
  Json all = Json::array();
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(m_folder, fault)) {
    const std::string id = entry.path().filename().string();
    if (!isJobId(id)) continue;
    const JobState state = this->state(id);
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
  if (!adopt(job, job.launch()) && job.notedStart() == 0) {  // it was never begun
    std::error_code none;
    std::filesystem::remove(job.launchFile(), none);
    return;
  }
  const JobState state = stateNow(job);
  if (state.phase == JobPhase::ended) return;
  if (state.scheduler) {
    const bool hears = stop && state.phase == JobPhase::running;
    if (!hears) job.noteKill(state.start);  // the supervisor is not to take the end for a preemption
    state.scheduler->cancel(state.number, hears ? BatchEnd::stop : BatchEnd::kill);
    // A job that waited has no supervisor which could note its end, and one that is forgotten has it no more.
    if (!hears && state.phase != JobPhase::running) job.noteExit({.code = kCancelled});
    return m_desk.touch(*state.scheduler, state.number);
  }
  if (state.phase != JobPhase::running)
    throwError(ErrorCode::communication, "{} cannot be ended from here: {}", id, state.detail);
  const Json noted = job.process();
  const auto process = static_cast<pid_t>(noted.value("process", std::int64_t{0}));
  if (process > 0 && ::kill(process, stop ? SIGINT : SIGTERM) != 0 && errno != ESRCH)
    throwErrno(errno, "end the job in", job.path());
}

JobState Jobs::settle(const std::string& id, int start) const {
  const JobFolder job = wanted(id);
  const StartLock lock(job);
  const JobState state = stateNow(job);
  if (state.start != start)
    throwError(ErrorCode::badArgument, "start {} of {} is to be ended, but {} is its last one", start, id, state.start);
  if (state.phase == JobPhase::queued || state.phase == JobPhase::running)
    throwError(ErrorCode::badArgument, "{} has not ended{}{}; stop it, or end it at once", id,
               state.detail.empty() ? "" : ": ", state.detail);
  if (state.phase != JobPhase::ended) job.noteExit({.code = -1});
  return stateNow(job);
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
