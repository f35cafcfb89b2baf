#include "engine/evaluation/top_k.h"

namespace loom {

std::int64_t TopK::placeOf(std::span<const float> shares, std::int64_t truth) {
  const float own = shares[static_cast<std::size_t>(truth)];
  std::int64_t place = 0;
  for (std::size_t i = 0; i < shares.size(); ++i)
    place += shares[i] > own || (shares[i] == own && static_cast<std::int64_t>(i) < truth);
  return place;
}

void TopK::add(std::int64_t place) {
  ++m_all;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) m_right[i] += place < kPlaces[i];
}

void TopK::merge(const TopK& other) {
  m_all += other.m_all;
  for (std::size_t i = 0; i < kPlaces.size(); ++i) m_right[i] += other.m_right[i];
}

std::vector<TopK::Share> TopK::finish(std::int64_t classes) const {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < kPlaces.size(); ++i)
    if (kPlaces[i] < classes) shares.push_back({kPlaces[i], m_right[i], wilson(m_right[i], m_all)});
  return shares;
}

}  // namespace loom
