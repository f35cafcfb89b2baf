#pragma once
// Counts every allocation of the program it is linked into; answers -1 where that cannot be done.
#include <cstdint>

namespace loom {
std::int64_t allocationsSoFar();
}
