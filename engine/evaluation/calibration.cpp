#include "engine/evaluation/calibration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/vectorised.h"

namespace loom {
namespace {

constexpr double kFarthest = 1000, kNear = 8;
constexpr int kMostSteps = 100;

double logOf(double share) {
  return std::log(std::max(share, static_cast<double>(std::numeric_limits<float>::min())));
}

constexpr std::size_t kAtOnce = 4096;  // numbers whose exponentials are taken together

// e^(factor d) of numbers d of at most 0, exact to the last bits; the C library's takes one number at a time, and what
// is fitted here takes it of all shares some twenty times.
LOOM_VECTORISED void exponentials(const double* __restrict d, double factor, double* __restrict to, std::size_t count) {
  // e^x = 2^n e^r, n = round(x / ln 2), |r| at most ln 2 / 2; e^r by its series up to r^13 / 13!, below 2e-18 off.
  constexpr double kLog2e = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                   kLn2Low = 1.90821492927058770002e-10, kRound = 6755399441055744.0;  // 1.5 2^52: n in its low bits
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = factor * d[i], x = wanted < -708 ? -708.0 : wanted;
    const double shifted = x * kLog2e + kRound, n = shifted - kRound;
    const double r = (x - n * kLn2High) - n * kLn2Low;
    double series = 1.0 / 6227020800;
    series = series * r + 1.0 / 479001600;
    series = series * r + 1.0 / 39916800;
    series = series * r + 1.0 / 3628800;
    series = series * r + 1.0 / 362880;
    series = series * r + 1.0 / 40320;
    series = series * r + 1.0 / 5040;
    series = series * r + 1.0 / 720;
    series = series * r + 1.0 / 120;
    series = series * r + 1.0 / 24;
    series = series * r + 1.0 / 6;
    series = series * r + 0.5;
    series = series * r + 1;
    series = series * r + 1;
    to[i] = std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) + (std::bit_cast<std::uint64_t>(shifted) << 52));
  }
}

// Logarithms of shares beside the row's highest, so at most 0: of each sample, or of each label of a sample, those of
// all classes, the true one told.
struct Logs {
  std::vector<double> values;
  std::vector<std::int32_t> truth;
  std::size_t width = 0;
  std::int64_t samples = 0;

  // visit(row, its values, their exponentials at inverse temperature `beta`)
  template <class Visit>
  void forEach(double beta, const Visit& visit) const {
    const std::size_t together = std::max<std::size_t>(1, kAtOnce / std::max<std::size_t>(width, 1));
    std::vector<double> weights(together * width);
    for (std::size_t from = 0; from < truth.size(); from += together) {
      const std::size_t rows = std::min(together, truth.size() - from);
      exponentials(values.data() + from * width, beta, weights.data(), rows * width);
      for (std::size_t i = 0; i < rows; ++i)
        visit(from + i, values.data() + (from + i) * width, weights.data() + i * width);
    }
  }
};

enum class Half { fitted, tried };

// By a hash of its number, so that no order of the samples puts one kind into one half.
Half halfOf(std::int64_t item) {
  auto mixed = (static_cast<std::uint64_t>(item) + 1) * 0x9e3779b97f4a7c15U;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
  return (mixed >> 63) != 0 ? Half::fitted : Half::tried;
}

Logs logsOf(const ScoreTable& scores, std::optional<Half> half = {}) {
  Logs logs;
  const bool many = scores.question() == Question::oneOfMany;
  logs.width = many ? static_cast<std::size_t>(scores.classes()) : 2;
  const auto all = static_cast<std::size_t>(scores.rows()) * (many ? 1 : static_cast<std::size_t>(scores.classes()));
  logs.values.reserve(all * logs.width);
  logs.truth.reserve(all);
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    if (half && halfOf(scores.item(row)) != *half) continue;
    ++logs.samples;
    const auto shares = scores.scores(row);
    const auto truth = scores.truth(row);
    if (many) {
      const double highest = logOf(*std::max_element(shares.begin(), shares.end()));
      for (const float share : shares) logs.values.push_back(logOf(share) - highest);
      logs.truth.push_back(truth[0]);
      continue;
    }
    for (std::size_t c = 0; c < shares.size(); ++c) {
      const double no = logOf(1.0 - shares[c]), yes = logOf(shares[c]), highest = std::max(no, yes);
      logs.values.push_back(no - highest);
      logs.values.push_back(yes - highest);
      logs.truth.push_back(truth[c]);
    }
  }
  return logs;
}

struct Slope {
  double loss = 0, first = 0, second = 0;
};

// Sum of the losses at inverse temperature `beta`, and its derivatives: E[l] - l_truth and Var[l] under p_T.
Slope slopeAt(const Logs& logs, double beta) {
  Slope slope;
  logs.forEach(beta, [&](std::size_t row, const double* d, const double* weights) {
    double sum = 0, mean = 0, square = 0;
    for (std::size_t c = 0; c < logs.width; ++c) {
      const double weighed = weights[c] * d[c];
      sum += weights[c];
      mean += weighed;
      square += weighed * d[c];
    }
    mean /= sum;
    square /= sum;
    const double truth = d[static_cast<std::size_t>(logs.truth[row])];
    slope.loss += std::log(sum) - beta * truth;
    slope.first += mean - truth;
    slope.second += square - mean * mean;
  });
  return slope;
}

struct Fit {
  double inverse = 1;
  double before = 0, after = 0;  // mean losses
};

// The inverse temperature of the least loss; nothing where it is none between the farthest.
std::optional<Fit> bestInverse(const Logs& logs) {
  if (logs.truth.empty()) return {};
  double low = 1 / kFarthest, high = kFarthest, beta = 1;  // the slope rises with beta
  bool bracketed = false;  // whether there is one at all is looked at where Newton's way leads far
  Slope now = slopeAt(logs, 1);
  const auto count = static_cast<double>(logs.truth.size());
  Fit fit{.before = now.loss / count};
  for (int step = 0; step < kMostSteps; ++step) {
    const double inside = beta - now.first / now.second;
    if (!bracketed && !(inside > 1 / kNear && inside < kNear)) {
      if (slopeAt(logs, 1 / kFarthest).first >= 0 || slopeAt(logs, kFarthest).first <= 0) return {};
      bracketed = true;
    }
    (now.first > 0 ? high : low) = beta;
    const double next = inside > low && inside < high ? inside : std::sqrt(low * high);
    const bool done = std::abs(next - beta) <= 1e-12 * beta;
    beta = next;
    now = slopeAt(logs, beta);
    if (done) break;
  }
  fit.inverse = beta;
  fit.after = now.loss / count;
  return fit;
}

double lossAt(const Logs& logs, double beta) {
  return slopeAt(logs, beta).loss / static_cast<double>(logs.truth.size());
}

// What is said stays the most likely at any temperature, only how sure it is changes.
CalibrationFigures calibrationAt(const Logs& logs, double beta) {
  Calibration calibration;
  logs.forEach(beta, [&](std::size_t row, const double* d, const double* weights) {
    double sum = 0;
    for (std::size_t c = 0; c < logs.width; ++c) sum += weights[c];
    calibration.add(1 / sum, std::max_element(d, d + logs.width) - d == logs.truth[row]);
  });
  return calibration.finish();
}

}  // namespace

void Calibration::add(double confidence, bool right) {
  const int bin = std::clamp(static_cast<int>(std::ceil(confidence * kBins)) - 1, 0, kBins - 1);
  Sums& sums = m_bins[static_cast<std::size_t>(bin)];
  ++sums.count;
  sums.right += right;
  sums.confidence += confidence;
}

void Calibration::merge(const Calibration& other) {
  for (std::size_t i = 0; i < m_bins.size(); ++i) {
    m_bins[i].count += other.m_bins[i].count;
    m_bins[i].right += other.m_bins[i].right;
    m_bins[i].confidence += other.m_bins[i].confidence;
  }
}

CalibrationFigures Calibration::finish() const {
  CalibrationFigures figures;
  std::int64_t all = 0;
  for (const Sums& each : m_bins) all += each.count;
  for (std::size_t i = 0; i < m_bins.size(); ++i) {
    const Sums& sums = m_bins[i];
    ReliabilityBin bin{.low = static_cast<double>(i) / kBins, .high = static_cast<double>(i + 1) / kBins};
    bin.count = sums.count;
    if (sums.count > 0) {
      const auto count = static_cast<double>(sums.count);
      bin.confidence = sums.confidence / count;
      bin.right = static_cast<double>(sums.right) / count;
      const double error = std::abs(bin.right - bin.confidence);
      figures.expectedError += count / static_cast<double>(all) * error;
      figures.largestError = std::max(figures.largestError, error);
    }
    figures.bins.push_back(bin);
  }
  return figures;
}

std::optional<Temperature> fitTemperature(const ScoreTable& scores) {
  const Logs logs = logsOf(scores);
  const auto fit = bestInverse(logs);
  if (!fit) return {};
  return Temperature{
      .value = 1 / fit->inverse, .lossBefore = fit->before, .lossAfter = fit->after, .samples = scores.rows()};
}

std::optional<TemperatureTrial> tryTemperature(const ScoreTable& scores) {
  const Logs fitted = logsOf(scores, Half::fitted), tried = logsOf(scores, Half::tried);
  const auto fit = bestInverse(fitted);
  if (!fit || tried.samples == 0) return {};
  const double beta = fit->inverse;
  return TemperatureTrial{.value = 1 / beta,
                          .fitted = fitted.samples,
                          .tried = tried.samples,
                          .lossBefore = lossAt(tried, 1),
                          .lossAfter = lossAt(tried, beta),
                          .errorBefore = calibrationAt(tried, 1).expectedError,
                          .errorAfter = calibrationAt(tried, beta).expectedError};
}

}  // namespace loom
