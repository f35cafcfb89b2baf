#include "engine/comm/reductions/messages.h"

namespace loom {

void addTo(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

void addBehind(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = values[i] + sum[i];
}

void addLowerFirst(bool sumIsLower, std::span<float> sum, std::span<const float> values) {
  sumIsLower ? addTo(sum, values) : addBehind(sum, values);
}

}  // namespace loom
