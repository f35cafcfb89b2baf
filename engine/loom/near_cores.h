#pragma once
// The processor's cores that stand beside a PCI device, as Linux tells it (Documentation/ABI/testing/sysfs-bus-pci:
// numa_node, local_cpulist): memory that they touch is nearer to it.
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace loom {

// "0-3,8" as numbers. Empty for what is no such list.
std::set<int> coresOfList(std::string_view list);
// "0-3,8" of numbers.
std::string listOfCores(const std::set<int>& cores);

struct NearCores {
  std::set<int> cores;  // those of `allowed` that are near; all of it where none is, or nothing is known
  int node = -1;        // of the NUMA nodes; -1: the machine has one, or does not tell
};
// `pci`: "0000:3b:00.0", in either case. `sysfs`: "/sys", or a folder that stands for it.
NearCores coresNear(std::string_view pci, const std::set<int>& allowed, const std::filesystem::path& sysfs = "/sys");

// Of the calling thread; threads that it starts later inherit them.
std::set<int> allowedCores();
// Does nothing where the system refuses it, or `cores` is empty.
void bindTo(const std::set<int>& cores);

}  // namespace loom
