#pragma once
// Whether the true class is among the k most likely ones.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/evaluation/interval.h"

namespace loom {

class TopK {
 public:
  static constexpr std::array<int, 4> kPlaces{1, 2, 3, 5};
  struct Share {
    int k = 1;
    std::int64_t right = 0;
    ShareInterval interval;
  };

  // The place of a class among all, from 0; of equal shares the class with the lower number comes first.
  static std::int64_t placeOf(std::span<const float> shares, std::int64_t truth);
  void add(std::int64_t place);
  void merge(const TopK& other);
  // For each k of kPlaces that is less than the number of classes.
  std::vector<Share> finish(std::int64_t classes) const;

 private:
  std::array<std::int64_t, kPlaces.size()> m_right{};
  std::int64_t m_all = 0;
};

}  // namespace loom
