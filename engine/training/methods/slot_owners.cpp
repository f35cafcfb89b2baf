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
    if (elements[i] < 0) {
      owners[i] = -1;
      continue;
    }
    const auto least = std::min_element(held.begin(), held.end());
    owners[i] = static_cast<int>(least - held.begin());
    *least += elements[i];
  }
  return owners;
}

bool needsOwnGradientsAlone(std::span<const MethodChoice> methods, bool ruleHasProducts) {
  return !ruleHasProducts && std::all_of(methods.begin(), methods.end(), [](const MethodChoice& choice) {
    return choice.row->place == MethodPlace::afterwards;
  });
}

}  // namespace loom
