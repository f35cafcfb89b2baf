#include "engine/evaluation/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {
namespace {

constexpr double kFarthest = 1000;
constexpr int kMostSteps = 100;

double logOf(double share) {
  return std::log(std::max(share, static_cast<double>(std::numeric_limits<float>::min())));
}

// Logarithms of shares: of each sample, or of each label of a sample, those of all classes, the true one told.
struct Logs {
  std::vector<double> values;
  std::vector<std::int32_t> truth;
  std::size_t width = 0;
  std::int64_t samples = 0;
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
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
    if (half && halfOf(scores.item(row)) != *half) continue;
    ++logs.samples;
    const auto shares = scores.scores(row);
    const auto truth = scores.truth(row);
    if (many) {
      for (const float share : shares) logs.values.push_back(logOf(share));
      logs.truth.push_back(truth[0]);
      continue;
    }
    for (std::size_t c = 0; c < shares.size(); ++c) {
      logs.values.push_back(logOf(1.0 - shares[c]));
      logs.values.push_back(logOf(shares[c]));
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
  for (std::size_t row = 0; row < logs.truth.size(); ++row) {
    const double* const l = logs.values.data() + row * logs.width;
    const double highest = *std::max_element(l, l + logs.width);
    double sum = 0, mean = 0, square = 0;
    for (std::size_t c = 0; c < logs.width; ++c) {
      const double d = l[c] - highest, weight = std::exp(beta * d);
      sum += weight;
      mean += weight * d;
      square += weight * d * d;
    }
    mean /= sum;
    square /= sum;
    const double truth = l[static_cast<std::size_t>(logs.truth[row])] - highest;
    slope.loss += std::log(sum) - beta * truth;
    slope.first += mean - truth;
    slope.second += square - mean * mean;
  }
  return slope;
}

// The inverse temperature of the least loss; nothing where it is none between the farthest.
std::optional<double> bestInverse(const Logs& logs) {
  if (logs.truth.empty()) return {};
  double low = 1 / kFarthest, high = kFarthest, beta = 1;  // the slope rises with beta
  if (slopeAt(logs, low).first >= 0 || slopeAt(logs, high).first <= 0) return {};
  Slope now = slopeAt(logs, 1);
  for (int step = 0; step < kMostSteps; ++step) {
    (now.first > 0 ? high : low) = beta;
    double next = beta - now.first / now.second;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const bool done = std::abs(next - beta) <= 1e-12 * beta;
    beta = next;
    now = slopeAt(logs, beta);
    if (done) break;
  }
  return beta;
}

double lossAt(const Logs& logs, double beta) {
  return slopeAt(logs, beta).loss / static_cast<double>(logs.truth.size());
}

// What is said stays the most likely at any temperature, only how sure it is changes.
CalibrationFigures calibrationAt(const Logs& logs, double beta) {
  Calibration calibration;
  for (std::size_t row = 0; row < logs.truth.size(); ++row) {
    const double* const l = logs.values.data() + row * logs.width;
    const double* const said = std::max_element(l, l + logs.width);
    double sum = 0;
    for (std::size_t c = 0; c < logs.width; ++c) sum += std::exp(beta * (l[c] - *said));
    calibration.add(1 / sum, said - l == logs.truth[row]);
  }
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
  const auto beta = bestInverse(logs);
  if (!beta) return {};
  return Temperature{
      .value = 1 / *beta, .lossBefore = lossAt(logs, 1), .lossAfter = lossAt(logs, *beta), .samples = scores.rows()};
}

std::optional<TemperatureTrial> tryTemperature(const ScoreTable& scores) {
  const Logs fitted = logsOf(scores, Half::fitted), tried = logsOf(scores, Half::tried);
  const auto beta = bestInverse(fitted);
  if (!beta || tried.samples == 0) return {};
  return TemperatureTrial{.value = 1 / *beta,
                          .fitted = fitted.samples,
                          .tried = tried.samples,
                          .lossBefore = lossAt(tried, 1),
                          .lossAfter = lossAt(tried, *beta),
                          .errorBefore = calibrationAt(tried, 1).expectedError,
                          .errorAfter = calibrationAt(tried, *beta).expectedError};
}

}  // namespace loom
