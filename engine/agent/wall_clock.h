#pragma once
#include <chrono>

namespace loom {

// Seconds since 1970, as files and messages hold them.
inline double wallClock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace loom
