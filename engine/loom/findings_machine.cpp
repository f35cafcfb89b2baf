#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <optional>

#include "engine/base/host.h"
#include "engine/loom/findings.h"

namespace loom {
namespace {

constexpr double kGigabyte = 1073741824.0;

std::string features() {
  std::string text;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto add = [&text](bool has, const char* name) {
    if (has) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
#endif
  return text.empty() ? "none beyond the baseline" : text;
}

double availableMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::strtod(line.c_str() + 13, nullptr) * 1024;
  return 0;
}

std::optional<double> freeBytes(const char* folder) {
  struct statvfs disk {};
  if (::statvfs(folder, &disk) != 0) return {};
  return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
}

std::string limitText(rlim_t limit, double unit, const char* name) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{:.0f}{}", static_cast<double>(limit) / unit, name);
}

// Ranks on several hosts leave by these; "lo" carries nothing to another host.
std::map<std::string, std::string> interfaces() {
  std::map<std::string, std::string> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return found;
  for (const ifaddrs* one = list; one; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || !(one->ifa_flags & IFF_UP) ||
        (one->ifa_flags & IFF_LOOPBACK))
      continue;
    char address[NI_MAXHOST] = {};
    if (::getnameinfo(one->ifa_addr, sizeof(sockaddr_in), address, sizeof address, nullptr, 0, NI_NUMERICHOST) == 0)
      found.emplace(one->ifa_name, address);
  }
  ::freeifaddrs(list);
  return found;
}

Finding network() {
  Finding finding{"network", "", {}};
  std::string misleading;
  for (const auto& [name, address] : interfaces()) {
    std::ifstream file(fmt::format("/sys/class/net/{}/speed", name));
    int megabits = 0;
    const std::string speed = file >> megabits && megabits > 0 ? fmt::format(", {:g} Gbit/s", megabits / 1000.0) : "";
    finding.value += fmt::format("{}{} ({}{})", finding.value.empty() ? "" : ", ", name, address, speed);
    for (const char* prefix : {"docker", "virbr", "br-", "cni", "podman"})
      if (name.starts_with(prefix)) misleading += (misleading.empty() ? "" : ",") + name;
  }
  if (finding.value.empty()) {
    finding.value = "no interface to other machines";
    finding.advice = "ranks on several hosts cannot reach this one";
  } else if (!misleading.empty()) {
    finding.advice = fmt::format(
        "Open MPI may try {}, which lead to no other host; leave them out with --mca btl_tcp_if_exclude lo,{}",
        misleading, misleading);
  }
  return finding;
}

Finding clock() {
  timex state{};
  const int answer = ::adjtimex(&state);
  if (answer < 0) return {"clock", "unknown", {}};
  const bool unset = answer == TIME_ERROR || (state.status & STA_UNSYNC);
  return {"clock", unset ? "not synchronised" : "synchronised",
          unset ? "logs of several hosts cannot be told in order; start chrony or systemd-timesyncd" : ""};
}

}  // namespace

std::vector<Finding> examineMachine() {
  std::vector<Finding> findings;
  const auto add = [&findings](std::string key, std::string value, std::string advice = {}) {
    findings.push_back({std::move(key), std::move(value), std::move(advice)});
  };
  const std::string supported = features();
  add("processor", processorName());
  add("features", supported,
      supported.find("avx2") == std::string::npos ? "without AVX2 training is several times slower" : "");
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  add("threads", fmt::format("{} of {}", allowed, online),
      allowed < online ? "this process may not use all cores (taskset, a batch system or a container says so)" : "");
  const double memory = availableMemory();
  add("memory", fmt::format("{:.1f} GB available", memory / kGigabyte),
      memory < 1e9 ? "less than 1 GB: choose a small batch" : "");
  if (const auto room = freeBytes("."))
    add("disk", fmt::format("{:.1f} GB free here", *room / kGigabyte),
        *room < 2e9 ? "less than 2 GB: checkpoints and caches may not fit; free some space" : "");
  if (const auto room = freeBytes("/dev/shm"))
    add("shared memory", fmt::format("{:.1f} GB free", *room / kGigabyte),
        *room < 256e6
            ? "ranks of one host exchange through /dev/shm and die where it is full; give a container more with "
              "--shm-size=1g"
            : "");
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  add("open files", limitText(limit.rlim_cur, 1, ""),
      limit.rlim_cur < 1024 ? "too few for datasets, checkpoints and connections; raise it with `ulimit -n 4096`" : "");
  ::getrlimit(RLIMIT_STACK, &limit);
  add("stack", limitText(limit.rlim_cur, 1024, " KiB"),
      limit.rlim_cur < (4u << 20) ? "libraries of MPI and BLAS may overrun it; raise it with `ulimit -s 8192`" : "");
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  add("locked memory", limitText(limit.rlim_cur, 1024, " KiB"),
      limit.rlim_cur < (64u << 20) && ::access("/sys/class/infiniband", F_OK) == 0
          ? "InfiniBand needs it unlimited: set memlock in /etc/security/limits.conf"
          : "");
  findings.push_back(clock());
  findings.push_back(network());
  return findings;
}

}  // namespace loom
