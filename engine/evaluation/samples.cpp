#include "engine/evaluation/samples.h"

#include <algorithm>
#include <tuple>

namespace loom {

double EvaluatedSample::margin() const {
  return predictedShare - std::max(truth == predicted ? 0.0F : truthShare, nextShare);
}

bool isWorse(const EvaluatedSample& one, const EvaluatedSample& other) {
  if (one.finite != other.finite) return !one.finite;
  if (one.finite && one.loss != other.loss) return one.loss > other.loss;
  return one.sample < other.sample;
}

std::vector<std::size_t> choose(std::span<const EvaluatedSample> samples, const SampleChoice& choice) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const EvaluatedSample& each = samples[i];
    if (choice.truth && (!each.finite || each.truth != *choice.truth)) continue;
    if (choice.predicted && (!each.finite || each.predicted != *choice.predicted)) continue;
    if (choice.wrongOnly && each.finite && each.right) continue;
    places.push_back(i);
  }
  std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    const EvaluatedSample &one = samples[a], &other = samples[b];
    if (choice.order == SampleChoice::leastSure && one.finite && other.finite && one.margin() != other.margin())
      return one.margin() < other.margin();
    if (choice.order == SampleChoice::iou && one.finite && other.finite && one.iou != other.iou)
      return one.iou < other.iou;
    return isWorse(one, other);
  });
  return places;
}

void WorstSamples::add(const EvaluatedSample& sample) {
  m_samples.push_back(sample);
  if (static_cast<std::int64_t>(m_samples.size()) >= 2 * m_most + 16) cut();
}

void WorstSamples::cut() {
  if (static_cast<std::int64_t>(m_samples.size()) <= m_most) return;
  std::nth_element(m_samples.begin(), m_samples.begin() + m_most, m_samples.end(), isWorse);
  m_samples.resize(static_cast<std::size_t>(m_most));
}

void WorstSamples::merge(const WorstSamples& other) {
  m_samples.insert(m_samples.end(), other.m_samples.begin(), other.m_samples.end());
  cut();
}

std::vector<EvaluatedSample> WorstSamples::finish() const {
  WorstSamples copy = *this;
  copy.cut();
  // Places are sorted in their stead: a sample is many times as large.
  struct Place {
    bool finite;
    double loss;
    std::int64_t sample;
    std::size_t at;
  };
  std::vector<Place> places;
  places.reserve(copy.m_samples.size());
  for (const EvaluatedSample& each : copy.m_samples)
    places.push_back({each.finite, each.finite ? -each.loss : 0, each.sample, places.size()});
  std::sort(places.begin(), places.end(), [](const Place& one, const Place& other) {
    return std::tie(one.finite, one.loss, one.sample) < std::tie(other.finite, other.loss, other.sample);
  });
  std::vector<EvaluatedSample> sorted;
  sorted.reserve(places.size());
  for (const Place& each : places) sorted.push_back(copy.m_samples[each.at]);
  return sorted;
}

}  // namespace loom
