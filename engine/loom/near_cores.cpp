#include "engine/loom/near_cores.h"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>

namespace loom {
namespace {

std::string lineOf(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The whole number that all of `text` is.
bool isNumber(std::string_view text, int& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size();
}

std::set<int> common(const std::set<int>& a, const std::set<int>& b) {
  std::set<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

}  // namespace

std::set<int> coresOfList(std::string_view list) {
  std::set<int> cores;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    const auto dash = range.find('-');
    int first = 0, last = 0;
    if (!isNumber(range.substr(0, dash), first)) return {};
    if (dash == range.npos)
      last = first;
    else if (!isNumber(range.substr(dash + 1), last))
      return {};
    if (first < 0 || last >= CPU_SETSIZE) return {};
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return cores;
}

std::string listOfCores(const std::set<int>& cores) {
  std::string list;
  for (auto first = cores.begin(); first != cores.end();) {
    auto last = first;
    while (std::next(last) != cores.end() && *std::next(last) == *last + 1) ++last;
    list += (list.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) list += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return list;
}

NearCores coresNear(std::string_view pci, const std::set<int>& allowed, const std::filesystem::path& sysfs) {
  std::string id(pci);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::filesystem::path device = sysfs / "bus/pci/devices" / id;
  NearCores near{.cores = allowed};
  if (id.empty() || !isNumber(lineOf(device / "numa_node"), near.node)) near.node = -1;
  std::set<int> found = coresOfList(lineOf(device / "local_cpulist"));
  if (found.empty() && near.node >= 0)
    found = coresOfList(lineOf(sysfs / "devices/system/node" / ("node" + std::to_string(near.node)) / "cpulist"));
  if (std::set<int> both = common(found, allowed); !both.empty()) near.cores = std::move(both);
  return near;
}

std::set<int> allowedCores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::set<int> cores;
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.insert(core);
  return cores;
}

void bindTo(const std::set<int>& cores) {
  if (cores.empty()) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  ::sched_setaffinity(0, sizeof mask, &mask);
}

}  // namespace loom
