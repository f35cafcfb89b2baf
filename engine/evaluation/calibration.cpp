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
};

Logs logsOf(const ScoreTable& scores) {
  Logs logs;
  const bool many = scores.question() == Question::oneOfMany;
  logs.width = many ? static_cast<std::size_t>(scores.classes()) : 2;
  for (std::int64_t row = 0; row < scores.rows(); ++row) {
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
  if (logs.truth.empty()) return {};
  double low = 1 / kFarthest, high = kFarthest, beta = 1;  // the slope rises with beta
  if (slopeAt(logs, low).first >= 0 || slopeAt(logs, high).first <= 0) return {};
  const Slope before = slopeAt(logs, 1);
  Slope now = before;
  for (int step = 0; step < kMostSteps; ++step) {
    (now.first > 0 ? high : low) = beta;
    double next = beta - now.first / now.second;
    if (!(next > low && next < high)) next = std::sqrt(low * high);
    const bool done = std::abs(next - beta) <= 1e-12 * beta;
    beta = next;
    now = slopeAt(logs, beta);
    if (done) break;
  }
  const auto count = static_cast<double>(logs.truth.size());
  return Temperature{
      .value = 1 / beta, .lossBefore = before.loss / count, .lossAfter = now.loss / count, .samples = scores.rows()};
}

}  // namespace loom
