#include "widgets/chart/ticks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr int kFewest = 4;
constexpr double kZeroShare = 0.2;  // a span below this share of the value leaves zero out
constexpr double kTolerance = 1e-9;

double stepAtLeast(double raw) {
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw * (1 - kTolerance)) return factor * power;
  }
  return 10 * power;
}

int decimalsOf(double step) {
  return std::max(0, -static_cast<int>(std::floor(std::log10(step) + kTolerance)));
}

// The largest 1-2-5 number at or below, the smallest at or above.
double markBelow(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + kTolerance));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + kTolerance)) return factor * power;
  }
  return power;
}

double markAbove(double value) {
  return stepAtLeast(value);
}

// Whether three digits tell ticks apart: "5.00 M" says nothing of steps a thousand apart.
bool areFarApart(const Ticks& ticks) {
  if (ticks.values.size() < 2) return true;
  const double largest = std::max(std::abs(ticks.values.front()), std::abs(ticks.values.back()));
  return (ticks.values[1] - ticks.values[0]) * (1 + kTolerance) >=
         std::pow(10, std::floor(std::log10(largest) + kTolerance) - 2);
}

}  // namespace

Ticks linearTicks(Interval range, int most) {
  Ticks ticks;
  if (!(range.span() > 0) || !std::isfinite(range.span())) return ticks;
  double step = stepAtLeast(range.span() / std::max(most, 1));
  const auto countAt = [&](double candidate) {
    return std::floor(range.high / candidate + kTolerance) - std::ceil(range.low / candidate - kTolerance) + 1;
  };
  while (countAt(step) > std::max(most, 2)) step = stepAtLeast(step * 1.5);
  if (most >= kFewest) {
    for (double finer = stepAtLeast(step / 3); countAt(step) < kFewest && finer < step && countAt(finer) <= most;
         finer = stepAtLeast(step / 3))
      step = finer;
  }
  const auto first = static_cast<std::int64_t>(std::ceil(range.low / step - kTolerance));
  const auto last = static_cast<std::int64_t>(std::floor(range.high / step + kTolerance));
  for (std::int64_t i = first; i <= last; ++i) ticks.values.push_back(static_cast<double>(i) * step);
  ticks.decimals = decimalsOf(step);
  return ticks;
}

Ticks logTicks(Interval range, int most) {
  Ticks ticks;
  if (!(range.low > 0) || !(range.high > range.low)) return ticks;
  const double decades = std::log10(range.high / range.low);
  if (decades < 0.7) return linearTicks(range, most);
  // Decades alone where there are more than four, or where the ones between would not fit and two decades still stand.
  const bool decadesOnly = decades > 4 || (decades >= 2 && decades * 3 > most);
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / most)));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (decadesOnly && (factor > 1 || exponent % stride != 0)) continue;
      const double value = factor * std::pow(10, exponent);
      if (value >= range.low * (1 - kTolerance) && value <= range.high * (1 + kTolerance))
        ticks.values.push_back(value);
    }
  }
  ticks.decimals = -1;  // each label as short as exact
  return ticks;
}

QString tickLabel(double value, const Ticks& ticks) {
  const double largest =
      ticks.values.empty() ? 0 : std::max(std::abs(ticks.values.front()), std::abs(ticks.values.back()));
  if (largest >= 1e6 && ticks.values.size() >= 2 && ticks.decimals == 0 && areFarApart(ticks)) {
    // One unit for the whole axis: 0, 0.5 M, 1.0 M.
    static constexpr std::pair<double, const char*> kUnits[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}};
    const auto& [size, name] =
        *std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& each) { return largest >= each.first; });
    if (value == 0) return QStringLiteral("0");
    return formatFixed(value / size, decimalsOf((ticks.values[1] - ticks.values[0]) / size)) + kNarrowSpace +
           QString::fromLatin1(name);
  }
  if (std::abs(value) >= 1e6 && ticks.decimals == 0 && ticks.values.size() < 2) return formatCount(value);
  if (ticks.decimals < 0) return formatRate(value);
  if (ticks.decimals > 4) {
    // Three digits tell small numbers apart; of a narrow range around a larger one each tick keeps the digits that do.
    const bool small = std::abs(value) < 1000 * std::pow(10, -ticks.decimals);
    return small ? formatRate(value) : formatFixed(value, std::min(ticks.decimals, 12));
  }
  return formatFixed(value, ticks.decimals);
}

Interval niceRange(Interval values, int most) {
  if (!std::isfinite(values.low) || !std::isfinite(values.high) || values.high < values.low) return {0, 1};
  const double size = std::max(std::abs(values.low), std::abs(values.high));
  if (values.span() <= size * 1e-12) {
    if (size == 0) return {0, 1};
    // A constant: zero would say nothing of it, so it stands in the middle of a tenth around it.
    return niceRange({values.low - size * 0.05, values.high + size * 0.05}, most);
  }
  if (values.span() >= size * kZeroShare) {
    values.low = std::min(values.low, 0.0);
    values.high = std::max(values.high, 0.0);
  }
  const double step = stepAtLeast(values.span() / std::max(most - 1, 1));
  Interval result{std::floor(values.low / step + kTolerance) * step, std::ceil(values.high / step - kTolerance) * step};
  if (!(result.span() > 0)) result.high = result.low + step;
  return result;
}

Interval niceLogRange(Interval values) {
  if (!(values.low > 0) || !std::isfinite(values.low) || !std::isfinite(values.high)) return {0.1, 1};
  Interval result{markBelow(values.low), markAbove(values.high)};
  if (!(result.high > result.low)) result = {markBelow(values.low * 0.9), markAbove(values.high * 1.1)};
  return result;
}

Interval robustRange(std::vector<double> values) {
  const std::size_t head = values.size() >= 200 ? values.size() / 100 : 0;
  std::vector<double> finite;
  finite.reserve(values.size());
  for (std::size_t i = head; i < values.size(); ++i) {
    if (std::isfinite(values[i])) finite.push_back(values[i]);
  }
  if (finite.empty()) {
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](double value) { return std::isfinite(value); });
  }
  if (finite.empty()) return {std::nan(""), std::nan("")};
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  const Interval whole{*low, *high};
  if (finite.size() < 200) return whole;
  std::sort(finite.begin(), finite.end());
  const auto at = [&](double share) {
    return finite[static_cast<std::size_t>(share * static_cast<double>(finite.size() - 1))];
  };
  Interval inner{at(0.005), at(0.995)};
  if (!(inner.span() > 0)) return whole;
  // Only outliers that would squeeze the rest are left to the markers at the edge.
  if (whole.high - inner.high <= inner.span() * 0.5) inner.high = whole.high;
  if (inner.low - whole.low <= inner.span() * 0.5) inner.low = whole.low;
  return inner;
}

}  // namespace loom
