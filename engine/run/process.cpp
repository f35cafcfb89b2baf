#include "engine/run/process.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/base/host.h"

namespace loom {

std::optional<ProcessStat> processStat(std::int64_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  // The name stands in brackets and may hold anything, brackets and spaces too: what follows its last bracket is
  // field 3.
  const auto bracket = line.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream fields(line.substr(bracket + 1));
  ProcessStat stat;
  fields >> stat.state >> stat.parent >> stat.group;
  std::string skipped;
  for (int field = 6; field < 22; ++field) fields >> skipped;
  fields >> stat.start;
  if (!fields) return {};
  return stat;
}

namespace {

std::map<std::int64_t, ProcessStat> allProcesses() {
  std::map<std::int64_t, ProcessStat> all;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", fault)) {
    const std::string name = entry.path().filename().string();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::int64_t id = std::stoll(name);
    if (const auto stat = processStat(id)) all.emplace(id, *stat);
  }
  return all;
}

}  // namespace

std::vector<std::int64_t> descendantsOf(std::int64_t process) {
  std::multimap<std::int64_t, std::int64_t> children;
  for (const auto& [id, stat] : allProcesses()) children.emplace(stat.parent, stat.state == 'Z' ? 0 : id);
  std::vector<std::int64_t> all{process};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [first, last] = children.equal_range(all[i]);
    for (auto child = first; child != last; ++child)
      if (child->second != 0) all.push_back(child->second);
  }
  all.erase(all.begin());
  return all;
}

bool groupLives(std::int64_t group, std::int64_t start) {
  for (const auto& [id, stat] : allProcesses())
    if (stat.group == group && stat.start >= start && stat.state != 'Z') return true;
  return false;
}

std::string bootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string machineName() {
  return hostName();
}

ProcessName nameOf(std::int64_t process) {
  const auto stat = processStat(process);
  return {process, stat ? stat->start : 0, bootId(), machineName()};
}

bool isAlive(const ProcessName& process) {
  if (process.id <= 0 || process.boot != bootId()) return false;
  const auto stat = processStat(process.id);
  return stat && stat->start == process.start && stat->state != 'Z';
}

std::string ownProgram() {
  const char* named = std::getenv("GRADLOOM_PROGRAM");
  if (named && ::access(named, X_OK) == 0) return named;
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string("loom");
}

}  // namespace loom
