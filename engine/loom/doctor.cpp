// doctor: what this machine offers and what stands in the way, each with its remedy.
#include <dlfcn.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "engine/base/json.h"
#include "engine/loom/verbs.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

struct Finding {
  std::string key, value, advice;  // no advice: all is well
};

constexpr double kGigabyte = 1073741824.0;

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

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

// The first of these libraries that the system's loader finds; empty when it finds none.
std::string foundLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
      ::dlclose(library);
      return name;
    }
  }
  return {};
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  const std::string supported = features();
  findings.push_back({"processor", processorName(), {}});
  findings.push_back(
      {"features", supported,
       supported.find("avx2") == std::string::npos ? "without AVX2 training is several times slower" : ""});
  cpu_set_t set;
  CPU_ZERO(&set);
  const int allowed = ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  findings.push_back(
      {"threads", fmt::format("{} of {}", allowed, online),
       allowed < online ? "this process may not use all cores (taskset, a batch system or a container says so)" : ""});
  const double memory = availableMemory();
  findings.push_back({"memory", fmt::format("{:.1f} GB available", memory / kGigabyte),
                      memory < 1e9 ? "less than 1 GB: choose a small batch" : ""});
  struct statvfs disk {};
  if (::statvfs(".", &disk) == 0) {
    const double room = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    findings.push_back({"disk", fmt::format("{:.1f} GB free here", room / kGigabyte),
                        room < 2e9 ? "less than 2 GB: checkpoints and caches may not fit; free some space" : ""});
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  findings.push_back(
      {"open files", fmt::format("{}", files.rlim_cur), files.rlim_cur < 1024 ? "raise it with `ulimit -n 4096`" : ""});
  const std::string cuda = foundLibrary({"libcuda.so.1"});
  const std::string mpi = foundLibrary({"libmpi.so.40", "libmpi.so.12", "libmpi.so"});
  const std::string nccl = foundLibrary({"libnccl.so.2"});
  findings.push_back({"cuda driver", cuda.empty() ? "not found" : cuda, {}});
  findings.push_back({"cudnn", foundLibrary({"libcudnn.so.9", "libcudnn.so.8"}).empty() ? "not found" : "found", {}});
  findings.push_back({"nccl", nccl.empty() ? "not found" : nccl, {}});
  findings.push_back({"mpi", mpi.empty() ? "not found" : mpi, {}});
  return findings;
}

}  // namespace

void addDoctor(CLI::App& app, Session& session) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("doctor", "What this machine offers for training, and what stands in the way");
  verb->add_flag("--json", *json, "One JSON object");
  verb->callback([&session, json] {
    session.chosen = [json] {
      const std::vector<Finding> findings = examine();
      Json all = {{"version", versionText()}};
      if (!*json) fmt::print("{:<12} {}\n", "version", versionText());
      for (const Finding& finding : findings) {
        all[finding.key] = finding.value;
        if (!finding.advice.empty()) all["advice"].push_back(finding.key + ": " + finding.advice);
        if (!*json)
          fmt::print("{:<12} {}{}\n", finding.key, finding.value,
                     finding.advice.empty() ? "" : "  <- " + finding.advice);
      }
      if (*json) fmt::print("{}\n", all.dump(2));
      return kExitDone;
    };
  });
}

}  // namespace loom
