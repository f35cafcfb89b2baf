#pragma once
#include <cstdint>
#include <functional>

namespace loom {

// The most samples, below `tooMany`, whose step takes no more than `free` bytes; 0 where one is too many already. Asks
// `bytesOf` about ten times at most: what it answers was asked for, but more might fit where bytes do not grow evenly.
std::int64_t fittingBatch(std::int64_t tooMany, double free, const std::function<double(std::int64_t)>& bytesOf);

}  // namespace loom
