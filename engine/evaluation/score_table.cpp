#include "engine/evaluation/score_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace loom {
namespace {

// Bins are alike in the logit, so that they are as fine near 0 and near 1 as single precision tells shares apart.
constexpr double kLowest = -40, kHighest = 17;

// Scores as whole numbers of the same order, so that they can be sorted digit by digit.
std::uint32_t orderOf(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // one zero of both
  return bits >> 31 ? ~bits : bits | 0x80000000U;
}
float scoreOf(std::uint32_t order) {
  return std::bit_cast<float>(order >> 31 ? order & 0x7fffffffU : ~order);
}

// Ascending, in three rounds of 11 bits; `other` is room of the same length.
void sortDigits(std::vector<std::uint32_t>& numbers, std::vector<std::uint32_t>& other) {
  constexpr int kDigit = 11;
  constexpr std::uint32_t kDigits = 1U << kDigit, kMask = kDigits - 1;
  other.resize(numbers.size());
  for (int shift = 0; shift < 32; shift += kDigit) {
    std::array<std::size_t, kDigits> places{};
    for (const std::uint32_t each : numbers) ++places[each >> shift & kMask];
    std::size_t before = 0;
    for (std::size_t& each : places) before += std::exchange(each, before);
    for (const std::uint32_t each : numbers) other[places[each >> shift & kMask]++] = each;
    numbers.swap(other);
  }
}

// Points of a curve from the highest score down.
class CurveMaker {
 public:
  // `binned`: scores that come together differ within their bin, so that none of them is before all others of it.
  CurveMaker(std::int64_t positives, std::int64_t negatives, std::size_t most, bool binned)
      : m_most(most), m_binned(binned) {
    m_curve.positives = positives;
    m_curve.negatives = negatives;
    m_hitStep = static_cast<double>(2 * positives) / static_cast<double>(most);
    m_missStep = static_cast<double>(2 * negatives) / static_cast<double>(most);
    m_curve.points.push_back({std::numeric_limits<double>::infinity(), 0, 0, 1});
  }
  void add(double threshold, std::int64_t positives, std::int64_t negatives) {
    const double before = m_hits, missesBefore = m_misses;
    m_hits += static_cast<double>(positives);
    m_misses += static_cast<double>(negatives);
    m_area += (m_misses - missesBefore) * (m_hits + before) / 2;
    if (positives > 0)
      m_precision += m_binned ? spread(before, missesBefore, positives, negatives)
                              : static_cast<double>(positives) * m_hits / (m_hits + m_misses);
    // A point for each two `most`-ths of either way, and the last one.
    const bool far = (m_curve.positives > 0 && m_hits - m_drawnHits >= m_hitStep) ||
                     (m_curve.negatives > 0 && m_misses - m_drawnMisses >= m_missStep);
    const bool ends = m_hits + m_misses == static_cast<double>(m_curve.positives + m_curve.negatives);
    if (m_most != 0 && !ends && !far) return;
    m_drawnHits = m_hits;
    m_drawnMisses = m_misses;
    m_curve.points.push_back({threshold, ratio(m_misses, m_curve.negatives), ratio(m_hits, m_curve.positives),
                              m_hits / (m_hits + m_misses)});
  }
  ScoreCurve take() {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const auto p = static_cast<double>(m_curve.positives), n = static_cast<double>(m_curve.negatives);
    m_curve.auc = p > 0 && n > 0 ? m_area / p / n : none;
    m_curve.averagePrecision = p > 0 ? m_precision / p : none;
    return std::move(m_curve);
  }

 private:
  // The sum of precisions at each positive, as if both kinds were spread evenly over the bin.
  static double spread(double hits, double misses, std::int64_t positives, std::int64_t negatives) {
    const double perPositive = ratio(static_cast<double>(negatives), positives);
    double sum = 0;
    for (std::int64_t k = 1; k <= positives; ++k) {
      const auto own = static_cast<double>(k);
      sum += (hits + own) / (hits + misses + own + perPositive * (own - 0.5));
    }
    return sum;
  }
  static double ratio(double part, std::int64_t whole) { return whole == 0 ? 0 : part / static_cast<double>(whole); }
  ScoreCurve m_curve;
  std::size_t m_most;
  bool m_binned;
  double m_hits = 0, m_misses = 0, m_area = 0, m_precision = 0;
  double m_hitStep = 0, m_missStep = 0, m_drawnHits = 0, m_drawnMisses = 0;
};

}  // namespace

ScoreTable::ScoreTable(std::int64_t classes, Question question, const EvaluationLimits& limits)
    : m_classes(classes), m_question(question), m_limits(limits) {}

bool ScoreTable::positive(std::int64_t row, std::int64_t of) const {
  return m_question == Question::oneOfMany ? m_truth[static_cast<std::size_t>(row)] == of
                                           : m_truth[static_cast<std::size_t>(row * m_classes + of)] == 1;
}

std::span<const float> ScoreTable::scores(std::int64_t row) const {
  return {m_scores.data() + row * m_classes, static_cast<std::size_t>(m_classes)};
}

std::span<const std::int32_t> ScoreTable::truth(std::int64_t row) const {
  return {m_truth.data() + row * truths(), static_cast<std::size_t>(truths())};
}

int ScoreTable::binOf(float score) const {
  if (!(score > 0)) return 0;
  if (score >= 1) return m_limits.bins - 1;
  const double logit = std::log(static_cast<double>(score)) - std::log1p(-static_cast<double>(score));
  const double place = (logit - kLowest) / (kHighest - kLowest) * (m_limits.bins - 2);
  return 1 + std::clamp(static_cast<int>(place), 0, m_limits.bins - 3);
}

double ScoreTable::lowerEdge(int bin) const {
  if (bin <= 0) return 0;
  if (bin >= m_limits.bins - 1) return 1;
  return 1 / (1 + std::exp(-(kLowest + (kHighest - kLowest) * (bin - 1) / (m_limits.bins - 2))));
}

void ScoreTable::count(std::span<const float> scores, std::span<const std::int32_t> truth) {
  if (m_positives.empty()) return;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const bool is = m_question == Question::oneOfMany ? truth[0] == static_cast<std::int32_t>(c) : truth[c] == 1;
    const std::size_t place = c * static_cast<std::size_t>(m_limits.bins) + static_cast<std::size_t>(binOf(scores[c]));
    ++(is ? m_positives : m_negatives)[place];
  }
}

void ScoreTable::toBins() {
  if (!exact()) return;
  if (m_classes <= m_limits.binnedClasses) {
    m_positives.assign(static_cast<std::size_t>(m_classes * m_limits.bins), 0);
    m_negatives = m_positives;
    for (std::int64_t row = 0; row < rows(); ++row) count(scores(row), truth(row));
  }
  keepEvery(2);
}

void ScoreTable::keepEvery(std::int64_t stride) {
  m_stride = std::max(stride, m_stride);
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < rows(); ++row) {
    if (m_items[static_cast<std::size_t>(row)] % m_stride != 0) continue;
    m_items[static_cast<std::size_t>(kept)] = m_items[static_cast<std::size_t>(row)];
    std::copy_n(m_scores.begin() + row * m_classes, m_classes, m_scores.begin() + kept * m_classes);
    std::copy_n(m_truth.begin() + row * truths(), truths(), m_truth.begin() + kept * truths());
    ++kept;
  }
  m_items.resize(static_cast<std::size_t>(kept));
  m_scores.resize(static_cast<std::size_t>(kept * m_classes));
  m_truth.resize(static_cast<std::size_t>(kept * truths()));
}

void ScoreTable::shrink() {
  while (rows() * m_classes > m_limits.exactScores) {
    if (exact())
      toBins();
    else
      keepEvery(2 * m_stride);
  }
}

void ScoreTable::add(std::int64_t item, std::span<const float> scores, std::span<const std::int32_t> truth) {
  count(scores, truth);
  if (item % m_stride != 0) return;
  m_items.push_back(item);
  m_scores.insert(m_scores.end(), scores.begin(), scores.end());
  m_truth.insert(m_truth.end(), truth.begin(), truth.end());
  shrink();
}

void ScoreTable::merge(const ScoreTable& other) {
  if (!other.exact()) {
    toBins();
    for (std::size_t i = 0; i < m_positives.size(); ++i) {
      m_positives[i] += other.m_positives[i];
      m_negatives[i] += other.m_negatives[i];
    }
    keepEvery(other.m_stride);
  }
  for (std::int64_t row = 0; row < other.rows(); ++row) {
    // The bins of the other have its samples already.
    if (other.exact()) count(other.scores(row), other.truth(row));
    const std::int64_t item = other.m_items[static_cast<std::size_t>(row)];
    if (item % m_stride != 0) continue;
    m_items.push_back(item);
    m_scores.insert(m_scores.end(), other.scores(row).begin(), other.scores(row).end());
    m_truth.insert(m_truth.end(), other.truth(row).begin(), other.truth(row).end());
  }
  shrink();
}

ScoreCurve ScoreTable::curve(std::int64_t of, std::size_t points) const {
  if (!exact()) {
    const std::uint32_t* const positives = m_positives.data() + of * m_limits.bins;
    const std::uint32_t* const negatives = m_negatives.data() + of * m_limits.bins;
    std::int64_t allPositives = 0, allNegatives = 0;
    for (int bin = 0; bin < m_limits.bins; ++bin) allPositives += positives[bin], allNegatives += negatives[bin];
    CurveMaker maker(allPositives, allNegatives, points, true);
    for (int bin = m_limits.bins - 1; bin >= 0; --bin)
      if (positives[bin] + negatives[bin] > 0) maker.add(lowerEdge(bin), positives[bin], negatives[bin]);
    return maker.take();
  }
  std::vector<std::uint32_t> there, elsewhere, room;
  elsewhere.reserve(m_items.size());
  for (std::int64_t row = 0; row < rows(); ++row)
    (positive(row, of) ? there : elsewhere)
        .push_back(orderOf(m_scores[static_cast<std::size_t>(row * m_classes + of)]));
  sortDigits(there, room);
  sortDigits(elsewhere, room);
  CurveMaker maker(static_cast<std::int64_t>(there.size()), static_cast<std::int64_t>(elsewhere.size()), points, false);
  for (std::size_t hit = there.size(), miss = elsewhere.size(); hit + miss > 0;) {
    const std::uint32_t highest = std::max(hit > 0 ? there[hit - 1] : 0, miss > 0 ? elsewhere[miss - 1] : 0);
    const std::size_t hits = hit, misses = miss;
    while (hit > 0 && there[hit - 1] == highest) --hit;
    while (miss > 0 && elsewhere[miss - 1] == highest) --miss;
    maker.add(scoreOf(highest), static_cast<std::int64_t>(hits - hit), static_cast<std::int64_t>(misses - miss));
  }
  return maker.take();
}

}  // namespace loom
