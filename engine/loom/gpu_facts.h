#pragma once
// What stands in a GPU's way, in two steps: what there is, and what does not fit together.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/loom/findings.h"

namespace loom {

struct GpuFacts {
  int onBus = 0;        // NVIDIA's display controllers and accelerators on the PCI bus
  bool driver = false;  // its library is there
  bool driverStarts = false;
  int driverVersion = 0;      // of CUDA, 13000 for 13.0
  std::string driverRelease;  // "580.65.06"; empty where it is not told
  std::string visible;        // CUDA_VISIBLE_DEVICES, where it is set
  struct Gpu {
    std::string name;
    double bytes = 0;
    int capability = 0;  // 90 for 9.0
    std::string pci;     // "0000:3b:00.0"
    std::string cores;   // near it, "0-31"; empty where they are all
    std::string fault;   // what is wrong with what it computes; empty: nothing
  };
  std::vector<Gpu> gpus;
  std::string modulePath;
  bool moduleThere = false;
  std::string moduleFault;      // why it cannot be opened; empty: it can
  std::string moduleLibraries;  // "CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0"
  int cudnnMajor = 0;           // of the newest that the loader finds; 0: none
  std::string cudnnVersion;     // "9.19.0"
};

// Of this machine; each GPU computes a known sum.
GpuFacts gpuFacts();
// GPUs that stand on the bus of a machine: `sysfs` is "/sys", or a folder that stands for it.
int gpusOnBus(const std::filesystem::path& sysfs = "/sys");

// A line each for driver, GPUs, module and cuDNN. On a machine without a GPU nothing is found fault with.
std::vector<Finding> judgeGpus(const GpuFacts& facts);

}  // namespace loom
