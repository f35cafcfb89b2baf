#include <fmt/format.h>

#include <charconv>

#include "engine/loom/gpu_facts.h"

namespace loom {
namespace {

constexpr int kCudnnMajor = 9;        // that the module is linked with
constexpr int kLeastCapability = 80;  // that its code is compiled for
constexpr const char* kDriverHelp = "nvidia-smi";

std::string version(int cuda) {
  return fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10);
}

// Of "CUDA 13.0, cuDNN ...": 13000; 0 where it says none.
int runtimeOf(const std::string& libraries) {
  constexpr std::string_view kBegin = "CUDA ";
  if (!libraries.starts_with(kBegin)) return 0;
  const char* const end = libraries.data() + libraries.size();
  int major = 0, minor = 0;
  const auto point = std::from_chars(libraries.data() + kBegin.size(), end, major);
  if (point.ptr == end || *point.ptr != '.') return 0;
  std::from_chars(point.ptr + 1, end, minor);
  return major * 1000 + minor * 10;
}

Finding driverOf(const GpuFacts& facts) {
  Finding driver{.key = "cuda driver", .value = "not found", .advice = {}};
  if (!facts.driver) {
    if (facts.onBus > 0) {
      driver.value = fmt::format("not found, but {} of NVIDIA's GPUs are on the bus", facts.onBus);
      driver.advice = "without NVIDIA's driver nothing computes on them";
      driver.remedy = "sudo apt-get install nvidia-driver    # or, in a container: start it with --gpus all";
    }
    return driver;
  }
  if (!facts.driverStarts) {
    driver.value = "found, but it does not start";
    driver.advice = "after an update of the driver the machine wants a restart; nvidia-smi says why";
    driver.remedy = kDriverHelp;
    return driver;
  }
  const std::size_t count = facts.gpus.size();
  driver.value = fmt::format("{}CUDA {}, {} GPU{}", facts.driverRelease.empty() ? "" : facts.driverRelease + ", ",
                             version(facts.driverVersion), count, count == 1 ? "" : "s");
  const int runtime = runtimeOf(facts.moduleLibraries);
  if (count == 0 && !facts.visible.empty()) {
    driver.advice = fmt::format("CUDA_VISIBLE_DEVICES is '{}', which shows none of {}", facts.visible, facts.onBus);
    driver.remedy = "unset CUDA_VISIBLE_DEVICES";
  } else if (count == 0 && facts.onBus > 0) {
    driver.advice = fmt::format("the driver shows none of the {} GPUs on the bus", facts.onBus);
    driver.remedy = kDriverHelp;
  } else if (runtime / 1000 > facts.driverVersion / 1000) {
    driver.advice = fmt::format("too old: it knows CUDA {}, but the CUDA module is made with {}",
                                version(facts.driverVersion), version(runtime));
    driver.remedy = fmt::format("nvidia-smi    # then install a driver for CUDA {}", runtime / 1000);
  }
  return driver;
}

Finding gpuOf(const GpuFacts::Gpu& gpu, std::size_t index) {
  Finding found{.key = fmt::format("gpu {}", index),
                .value = fmt::format("{}, {:.0f} GB, compute capability {}.{}", gpu.name, gpu.bytes / 1073741824.0,
                                     gpu.capability / 10, gpu.capability % 10),
                .advice = gpu.fault};
  if (!gpu.pci.empty()) found.value += ", at " + gpu.pci;
  if (!gpu.cores.empty()) found.value += ", beside cores " + gpu.cores;
  if (!gpu.fault.empty()) found.remedy = "nvidia-smi && sudo dmesg | grep -i xid";
  if (gpu.fault.empty() && gpu.capability < kLeastCapability)
    found.advice = fmt::format("too old: training needs compute capability {}.{} or newer", kLeastCapability / 10,
                               kLeastCapability % 10);
  return found;
}

Finding moduleOf(const GpuFacts& facts, bool wanted) {
  Finding module{.key = "cuda module", .value = facts.moduleLibraries, .advice = {}};
  if (!facts.moduleThere) {
    module.value = "not here";
    if (wanted) {
      module.advice = fmt::format("this engine was built or packed without {}; GPUs are not used", facts.modulePath);
      module.remedy = fmt::format("ls {}", facts.modulePath);
    }
  } else if (!facts.moduleFault.empty()) {
    module.value = "cannot be opened";
    if (wanted) {
      module.advice = facts.moduleFault + "; install it, or name the folder of NVIDIA's libraries";
      module.remedy = fmt::format("ldd {} | grep 'not found'", facts.modulePath);
    }
  }
  return module;
}

Finding cudnnOf(const GpuFacts& facts, bool wanted) {
  Finding cudnn{.key = "cudnn", .value = facts.cudnnMajor == 0 ? "not found" : facts.cudnnVersion, .advice = {}};
  if (!wanted || facts.cudnnMajor == kCudnnMajor) return cudnn;
  cudnn.advice = facts.cudnnMajor == 0
                     ? fmt::format("convolutions need cuDNN {}", kCudnnMajor)
                     : fmt::format("cuDNN {} is here, but {} is needed", facts.cudnnMajor, kCudnnMajor);
  cudnn.remedy =
      fmt::format("sudo apt-get install libcudnn{}-cuda-13    # or name the folder that has it", kCudnnMajor);
  return cudnn;
}

}  // namespace

std::vector<Finding> judgeGpus(const GpuFacts& facts) {
  const bool wanted = facts.onBus > 0 || !facts.gpus.empty();
  std::vector<Finding> findings{driverOf(facts)};
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) findings.push_back(gpuOf(facts.gpus[i], i));
  findings.push_back(moduleOf(facts, wanted));
  findings.push_back(cudnnOf(facts, wanted));
  return findings;
}

}  // namespace loom
