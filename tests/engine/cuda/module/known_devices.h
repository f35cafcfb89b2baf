#pragma once
// GPUs that need not be there, as cuDNN writes their properties (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION): from data
// sheets, not measured.
#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace loom::cuda {

struct KnownDevice {
  const char* key;
  const char* name;
  int computeCapability, multiprocessors;
  std::int64_t memoryBytes, sharedBytesOfBlock, l2Bytes, clockKilohertz, memoryClockKilohertz;

  std::string properties() const {
    return fmt::format(
        R"({{"deviceVer": {}, "multiProcessorCount": {}, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
             "maxSharedMemoryPerBlockOptin": {}, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
             "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "regsPerBlock": 65536,
             "totalGlobalMem": {}, "smClockRateKHz": {}, "l2CacheSize": {}, "maxBlockSize": [1024, 1024, 64],
             "memClockRateKHz": {}, "maxGridSize": [2147483647, 65535, 65535], "supportCoopLaunch": 1,
             "pciDeviceId": 0, "isTccDriver": 0, "cudaDeviceId": 0, "driverVer": 13000, "deviceName": "{}"}})",
        computeCapability * 10, multiprocessors, sharedBytesOfBlock, memoryBytes, clockKilohertz, l2Bytes,
        memoryClockKilohertz, name);
  }
};

inline constexpr KnownDevice kKnownDevices[] = {
    {"h100", "NVIDIA H100 80GB HBM3", 90, 132, 85028896768, 232448, 52428800, 1980000, 2619000},
    {"h200", "NVIDIA H200", 90, 132, 150121545728, 232448, 62914560, 1980000, 3201000},
    {"a100", "NVIDIA A100-SXM4-40GB", 80, 108, 42410180608, 166912, 41943040, 1410000, 1215000}};

}  // namespace loom::cuda
