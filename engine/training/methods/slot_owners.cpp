#include "engine/training/methods/slot_owners.h"

#include <algorithm>
#include <numeric>

namespace loom {

std::vector<int> ownersOf(const std::vector<std::int64_t>& elements, int ranks) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return elements[a] > elements[b]; });
  std::vector<std::int64_t> held(static_cast<std::size_t>(ranks));
  std::vector<int> owners(elements.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(held.begin(), held.end());
    owners[i] = static_cast<int>(least - held.begin());
    *least += elements[i];
  }
  return owners;
}

}  // namespace loom
