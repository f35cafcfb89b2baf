#include "engine/agent/facts.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engine/agent/command.h"
#include "engine/agent/launch_words.h"
#include "engine/agent/wall_clock.h"
#include "engine/base/json.h"
#include "engine/run/process.h"

namespace loom {
namespace {

Json limitOf(rlim_t value) {
  return value == RLIM_INFINITY ? Json("unlimited") : Json(static_cast<std::uint64_t>(value));
}

Json limits(int resource) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  return {{"soft", limitOf(limit.rlim_cur)}, {"hard", limitOf(limit.rlim_max)}};
}

Json room(const std::filesystem::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return Json::object();
  return {{"free", disk.f_bavail * disk.f_frsize}, {"size", disk.f_blocks * disk.f_frsize}};
}

double memoryFree() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtod(line.c_str() + 13, nullptr) * 1024;
  return 0;
}

constexpr std::size_t kSome = std::size_t{1} << 20;

// Of what fallocate() answers: whether the file system knows how to.
bool canAllocate(int number) {
  return number != EOPNOTSUPP && number != ENOSYS && number != EINVAL;
}

std::string firstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

Json accelerators() {
  Json gpus = Json::array();
  if (findProgram("nvidia-smi").empty()) return gpus;
  const CommandResult result =
      runCommand({"nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"});
  std::istringstream lines(result.ok() ? result.output : std::string());
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(", "), second = line.rfind(", ");
    if (first == std::string::npos || second == first) continue;
    gpus.push_back({{"name", line.substr(0, first)},
                    {"memory", line.substr(first + 2, second - first - 2)},
                    {"driver", line.substr(second + 2)}});
  }
  if (gpus.empty()) gpus.push_back({{"fault", result.why("nvidia-smi")}});
  return gpus;
}

// Asked of a process of its own, which a driver that hangs or crashes takes with it alone.
Json librariesOf(const std::string& folder) {
  std::vector<std::string> words = librariesWords(folder);
  words.insert(words.end(), {ownProgram(), "doctor", "--libraries", "--json"});
  const CommandResult result = runCommand(words, {.limit = std::chrono::seconds(30)});
  const Json found = Json::parse(result.ok() ? result.output : std::string(), nullptr, false);
  const auto findings = found.is_object() ? found.find("findings") : found.end();
  return findings != found.end() && findings->is_array() ? *findings : Json::array();
}

}  // namespace

int allocate(int file, std::int64_t bytes) {
  return ::fallocate(file, 0, 0, bytes) == 0 ? 0 : errno;
}

// The room is really taken and given back
// where the file system can do that by itself; elsewhere (NFS before 4.2) it would be written byte by byte, on a disk
// that others share: there a little is written, and the rest is read off the free room.
std::string whyNoRoom(const std::filesystem::path& folder, std::int64_t need, const Allocate& take) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) return fmt::format("{} cannot be made: {}", folder.string(), fault.message());
  std::string path = (folder / ".check-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0) return fmt::format("{} may not be written: {}", folder.string(), std::strerror(errno));
  ::unlink(path.c_str());
  int number = need > 0 ? take(file, need) : 0;
  if (!canAllocate(number)) {
    const std::string some(kSome, 'x');
    const bool whole = ::write(file, some.data(), some.size()) == static_cast<ssize_t>(some.size());
    number = !whole ? ENOSPC : ::fsync(file) != 0 ? errno : 0;
    struct statvfs disk {};
    if (number == 0 && ::fstatvfs(file, &disk) == 0 &&
        static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) < static_cast<double>(need))
      number = ENOSPC;
  }
  ::close(file);
  return number == 0 ? std::string()
                     : fmt::format("{} MiB do not fit into {}: {}", need >> 20, folder.string(), std::strerror(number));
}

Json machineFacts(const std::filesystem::path& folder, std::int64_t need, const std::string& libraries) {
  utsname system{};
  ::uname(&system);
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                                  : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  const passwd* person = ::getpwuid(::geteuid());
  const std::string why = whyNoRoom(folder, need);
  Json disk = room(folder);
  disk["folder"] = folder.string();
  disk["why"] = why;
  Json facts = {{"machine", machineName()},
                {"user", person ? person->pw_name : "unknown"},
                {"time", wallClock()},
                {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
                {"libc", ::gnu_get_libc_version()},
                {"cores", cores},
                {"memory_free", memoryFree()},
                {"open_files", limits(RLIMIT_NOFILE)},
                {"stack", limits(RLIMIT_STACK)},
                {"locked_memory", limits(RLIMIT_MEMLOCK)},
                {"shared_memory", room("/dev/shm")},
                {"disk", disk},
                {"gpus", accelerators()},
                {"libraries", librariesOf(libraries)}};
  const std::string mpirun = findProgram("mpirun");
  if (!mpirun.empty())
    facts["mpi"] = {{"program", mpirun}, {"version", firstLine(runCommand({mpirun, "--version"}).output)}};
  if (!findProgram("sbatch").empty())
    facts["slurm"] = {{"version", firstLine(runCommand({"sbatch", "--version"}).output)}};
  if (!findProgram("quota").empty())
    facts["quota"] = runCommand({"quota", "-w"}, {.limit = std::chrono::seconds(5)}).output;
  return facts;
}

Json probeFacts(const std::string& version) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = std::getenv("SLURM_PROCID");
  utsname system{};
  ::uname(&system);
  return {{"probe", 1},
          {"machine", machineName()},
          {"architecture", system.machine},
          {"rank", rank ? std::atoi(rank) : 0},
          {"version", version},
          {"time", wallClock()},
          {"open_files", limits(RLIMIT_NOFILE)["soft"]},
          {"shared_memory", room("/dev/shm").value("free", std::uint64_t{0})}};
}

}  // namespace loom
