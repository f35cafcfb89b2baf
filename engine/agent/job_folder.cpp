#include "engine/agent/job_folder.h"

#include <unistd.h>

#include <cctype>
#include <charconv>

#include "engine/agent/slurm.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
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

}  // namespace

const char* toKey(JobPhase phase) {
  constexpr const char* keys[] = {"none", "queued", "running", "ended", "unknown"};
  return keys[static_cast<int>(phase)];
}

Json toJson(const JobState& state) {
  Json json = {{"phase", toKey(state.phase)}, {"start", state.start}};
  if (state.phase == JobPhase::ended) json["code"] = state.code;
  if (!state.slurm.empty()) json["slurm"] = state.slurm;
  if (!state.detail.empty()) json["detail"] = state.detail;
  return json;
}

Json JobFolder::launch() const {
  return readObject(launchFile());
}
Json JobFolder::process() const {
  return readObject(processFile());
}

std::optional<int> JobFolder::exitCode() const {
  std::string text;
  try {
    text = readFile(exitFile(), 64);
  } catch (const Error&) {
    return {};
  }
  int code = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (fault != std::errc() || end == text.data()) return {};
  return code;
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

void JobFolder::noteSlurm(int start, const std::string& number) const {
  writeFileAtomically(processFile(), Json{{"start", start}, {"slurm", number}}.dump());
}

void JobFolder::noteExit(int code) const {
  writeFileAtomically(exitFile(), std::to_string(code) + "\n");
}

void JobFolder::forgetExit() const {
  std::error_code none;
  std::filesystem::remove(exitFile(), none);
}

JobState JobFolder::state() const {
  JobState state;
  const Json launch = this->launch();
  if (!launch.contains("loom_launch")) return state;
  state.start = valueOf(launch, "start", 1);
  const Json process = this->process();
  state.slurm = valueOf(process, "slurm", std::string());
  if (const auto code = exitCode()) {
    state.phase = JobPhase::ended;
    state.code = *code;
    return state;
  }
  if (valueOf(process, "start", 0) != state.start) {
    // Between launch.json and the first word of its supervisor: for an instant, or for good when that could not be
    // started.
    state.phase = JobPhase::unknown;
    state.detail = "it was to be started, but nothing tells that it was";
    return state;
  }
  if (!state.slurm.empty()) {
    const SlurmState there = slurmState(state.slurm);
    state.phase = there.phase;
    state.detail = there.detail;
    return state;
  }
  const ProcessName name{valueOf(process, "process", std::int64_t{0}), valueOf(process, "started", std::int64_t{0}),
                         valueOf(process, "boot", std::string()), valueOf(process, "machine", std::string())};
  if (name.machine != machineName()) {
    state.phase = JobPhase::unknown;
    state.detail = fmt::format("it was started on {}, and this is {}: only {} can tell whether it still runs",
                               name.machine, machineName(), name.machine);
  } else if (isAlive(name)) {
    state.phase = JobPhase::running;
  } else if (const auto code = exitCode()) {  // it ended between the two looks
    state.phase = JobPhase::ended;
    state.code = *code;
  } else {
    state.phase = JobPhase::ended;
    state.code = -1;
  }
  return state;
}

bool isJobId(const std::string& id) {
  if (id.empty() || id.size() > 120 || !std::isalnum(static_cast<unsigned char>(id[0]))) return false;
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
