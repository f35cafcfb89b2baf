#include "engine/metrics/gathered.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {

void gatheredMark(std::span<const double>, std::span<double>) {}

namespace score_lists {
namespace {

constexpr double kLowest = -40, kHighest = 17, kNone = std::numeric_limits<double>::quiet_NaN();

std::size_t widthOf(std::span<const double> list) {
  return static_cast<std::size_t>(std::abs(list[0]));
}

double logitOf(double share) {
  if (share <= 0) return -std::numeric_limits<double>::infinity();
  if (share >= 1) return std::numeric_limits<double>::infinity();
  return std::log(share) - std::log1p(-share);
}

std::size_t binOf(double logit) {
  const double place = (logit - kLowest) / (kHighest - kLowest) * static_cast<double>(kScoreBins);
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(kScoreBins - 1)));
}

double& countOf(std::vector<double>& binned, std::size_t of, bool is, std::size_t bin) {
  return binned[kHead + (2 * of + (is ? 0 : 1)) * kScoreBins + bin];
}

bool isOf(double truth, std::size_t width, std::size_t of) {
  return width == 1 ? truth > 0.5 : truth == static_cast<double>(of);
}

void count(std::vector<double>& binned, const std::vector<double>& rows) {
  const std::size_t width = widthOf(rows);
  const bool shares = static_cast<Form>(static_cast<int>(rows[1])) == Form::shares;
  for (std::size_t at = kHead; at < rows.size(); at += width + 1)
    for (std::size_t of = 0; of < width; ++of) {
      const double score = rows[at + of];
      const bool is = isOf(rows[at + width], width, of);
      if (std::isnan(score))
        countOf(binned, of, is, 0) = kNone;
      else
        countOf(binned, of, is, binOf(shares ? logitOf(score) : score)) += 1;
    }
}

std::vector<double> binned(const std::vector<double>& rows) {
  const std::size_t width = widthOf(rows);
  std::vector<double> bins(kHead + 2 * width * kScoreBins, 0.0);
  bins[0] = -rows[0];
  bins[1] = rows[1];
  count(bins, rows);
  return bins;
}

// The area and how often it is the truth, of scores that come from the highest down.
class Area {
 public:
  void add(double positives, double negatives) {
    m_twice += negatives * (2 * m_positives + positives);
    m_positives += positives;
    m_negatives += negatives;
  }
  double positives() const { return m_positives; }
  double value() const { return m_positives > 0 && m_negatives > 0 ? m_twice / 2 / m_positives / m_negatives : kNone; }

 private:
  double m_twice = 0, m_positives = 0, m_negatives = 0;
};

Area areaOf(std::span<const double> list, std::size_t of) {
  const std::size_t width = widthOf(list);
  Area area;
  if (isBinned(list)) {
    const double* const positives = list.data() + kHead + 2 * of * kScoreBins;
    for (std::size_t bin = kScoreBins; bin-- > 0;) area.add(positives[bin], positives[kScoreBins + bin]);
    return area;
  }
  std::vector<double> there, elsewhere;
  for (std::size_t at = kHead; at < list.size(); at += width + 1)
    (isOf(list[at + width], width, of) ? there : elsewhere).push_back(list[at + of]);
  std::sort(there.begin(), there.end());
  std::sort(elsewhere.begin(), elsewhere.end());
  for (std::size_t hit = there.size(), miss = elsewhere.size(); hit + miss > 0;) {
    const double highest = std::max(hit > 0 ? there[hit - 1] : -std::numeric_limits<double>::infinity(),
                                    miss > 0 ? elsewhere[miss - 1] : -std::numeric_limits<double>::infinity());
    const std::size_t hits = hit, misses = miss;
    while (hit > 0 && there[hit - 1] == highest) --hit;
    while (miss > 0 && elsewhere[miss - 1] == highest) --miss;
    area.add(static_cast<double>(hits - hit), static_cast<double>(misses - miss));
  }
  return area;
}

// log(p / (1 - p)) of p = softmax(x), without ever taking 1 - p.
void softmaxLogits(std::span<double> x) {
  std::vector<double> own(x.begin(), x.end());
  for (std::size_t of = 0; of < x.size(); ++of) {
    double highest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k != of) highest = std::max(highest, own[k]);
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k != of) sum += std::exp(own[k] - highest);
    x[of] = own[of] - highest - std::log(sum);
  }
}

}  // namespace

bool isBinned(std::span<const double> list) {
  return !list.empty() && list[0] < 0;
}

std::vector<double> ofRun(std::span<const double> run, Form form) {
  const std::size_t width = widthOf(run);
  const bool alone = run[1] >= 0;
  std::vector<double> list{alone ? 1.0 : run[0], static_cast<double>(form)}, scores(width);
  const std::size_t rows = (run.size() - kHead) / (2 * width);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t at = kHead + row * width;
    std::copy_n(run.begin() + static_cast<std::ptrdiff_t>(at), width, scores.begin());
    if (form == Form::classLogits) softmaxLogits(scores);
    const auto truth = run.subspan(at + rows * width, width);
    const auto is = static_cast<double>(std::max_element(truth.begin(), truth.end()) - truth.begin());
    if (alone) {
      list.push_back(scores[static_cast<std::size_t>(run[1])]);
      list.push_back(is == run[1] ? 1 : 0);
    } else {
      list.insert(list.end(), scores.begin(), scores.end());
      list.push_back(width == 1 ? truth[0] : is);
    }
  }
  return list;
}

void join(std::vector<double>& list, const std::vector<double>& other, std::int64_t mostScores) {
  if (other.empty()) return;
  if (list.empty()) {
    list = other;
  } else if (isBinned(list) != isBinned(other)) {
    if (!isBinned(list)) list = binned(list);
    if (isBinned(other))
      for (std::size_t i = kHead; i < list.size(); ++i) list[i] += other[i];
    else
      count(list, other);
  } else if (isBinned(list)) {
    for (std::size_t i = kHead; i < list.size(); ++i) list[i] += other[i];
  } else {
    list.insert(list.end(), other.begin() + kHead, other.end());
  }
  if (isBinned(list)) return;
  const std::size_t width = widthOf(list);
  const std::int64_t scores = static_cast<std::int64_t>((list.size() - kHead) / (width + 1) * width);
  if (scores > mostScores) list = binned(list);
}

double area(std::span<const double> list, bool weighted) {
  if (list.size() < kHead) return kNone;
  const std::size_t width = widthOf(list);
  if (!isBinned(list))
    for (std::size_t at = kHead; at < list.size(); at += width + 1)
      for (std::size_t of = 0; of < width; ++of)
        if (std::isnan(list[at + of])) return kNone;
  double sum = 0, all = 0;
  for (std::size_t of = 0; of < width; ++of) {
    const Area one = areaOf(list, of);
    if (std::isnan(one.value())) continue;
    const double weight = weighted ? one.positives() : 1;
    sum += weight * one.value();
    all += weight;
  }
  return all > 0 ? sum / all : kNone;
}

}  // namespace score_lists
}  // namespace loom
