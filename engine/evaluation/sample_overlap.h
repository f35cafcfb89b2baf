#pragma once
// How well the classes of one sample's map lie on the true ones: the mean over classes of intersection by union.
#include <cstdint>
#include <vector>

namespace loom {

class SampleOverlap {
 public:
  explicit SampleOverlap(std::int64_t classes) : m_classes(static_cast<std::size_t>(classes)) {}

  void add(std::int32_t truth, std::int32_t said) {
    ++placeOf(truth).all;
    if (truth == said) {
      ++placeOf(truth).both;
      return;
    }
    ++placeOf(said).all;
  }
  // Over the classes that were true or said since it was asked the last time; 1 where there was none.
  double take() {
    double sum = 0;
    for (const std::int32_t each : m_seen) {
      Counts& counts = m_classes[static_cast<std::size_t>(each)];
      sum += static_cast<double>(counts.both) / static_cast<double>(counts.all);
      counts = {};
    }
    const double mean = m_seen.empty() ? 1 : sum / static_cast<double>(m_seen.size());
    m_seen.clear();
    return mean;
  }

 private:
  struct Counts {
    std::int64_t both = 0, all = 0;  // places where it is true and said; true or said
  };
  Counts& placeOf(std::int32_t of) {
    Counts& counts = m_classes[static_cast<std::size_t>(of)];
    if (counts.all == 0) m_seen.push_back(of);
    return counts;
  }
  std::vector<Counts> m_classes;
  std::vector<std::int32_t> m_seen;
};

}  // namespace loom
