#pragma once
// Counts every allocation of the program it is linked into.
#include <cstdint>

namespace loom {
std::int64_t allocationsSoFar();
}
