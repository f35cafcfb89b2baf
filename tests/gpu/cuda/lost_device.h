#pragma once
// A device that a case has broken fails all that come behind it in the same process: it is named, and the process ends.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "engine/cuda/device.h"

namespace loom::cuda {

inline constexpr int kDeviceLost = 86;  // exit code, which tests/gpu/run.sh goes on from

// Whether the device still copies; ends the process where it does not.
inline void expectDevice(Device& device, const std::string& inCase) {
  try {
    std::byte* const block = device.allocate(kMemoryAlignment, "a copy to see whether the device answers");
    std::byte* const pinned = device.allocatePinned(kMemoryAlignment);
    device.upload(Stream::compute, pinned, block, kMemoryAlignment);
    device.synchronise(Stream::compute);
    device.release(block);
    device.releasePinned(pinned);
  } catch (const std::exception& error) {
    std::printf("DEVICE LOST in %s: %s\n", inCase.c_str(), error.what());
    std::fflush(stdout);
    ::_exit(kDeviceLost);
  }
}

}  // namespace loom::cuda
