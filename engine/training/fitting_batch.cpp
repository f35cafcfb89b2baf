#include "engine/training/fitting_batch.h"

#include <algorithm>

namespace loom {

// Between what fits and what does not, by their bytes: a step's memory grows about evenly with its samples.
std::int64_t fittingBatch(std::int64_t tooMany, double free, const std::function<double(std::int64_t)>& bytesOf) {
  constexpr int kTries = 8;
  std::int64_t fits = 1;
  if (tooMany <= fits) return 0;
  double fitsBytes = bytesOf(fits), tooManyBytes = bytesOf(tooMany);
  if (fitsBytes > free) return 0;
  for (int tries = 0; tries < kTries && tooMany - fits > 1; ++tries) {
    const double share = (free - fitsBytes) / std::max(tooManyBytes - fitsBytes, 1.0);
    const auto between = static_cast<std::int64_t>(share * static_cast<double>(tooMany - fits));
    const std::int64_t next = std::clamp(fits + between, fits + 1, tooMany - 1);
    const double bytes = bytesOf(next);
    (bytes <= free ? fits : tooMany) = next;
    (bytes <= free ? fitsBytes : tooManyBytes) = bytes;
  }
  return fits;
}

}  // namespace loom
