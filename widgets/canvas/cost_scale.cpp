#include "widgets/canvas/cost_scale.h"

#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// The n-th of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ...; 1 is the 0th. A whole power is exact as far as seconds need it.
double oneTwoFive(int n) {
  constexpr double kDigits[] = {1, 2, 5};
  const int power = n >= 0 ? n / 3 : -((2 - n) / 3);
  return power >= 0 ? kDigits[n - 3 * power] * std::pow(10.0, power) : kDigits[n - 3 * power] / std::pow(10.0, -power);
}

}  // namespace

// The last bound is the largest 1, 2, 5 below the largest cost, so that the last step is never empty.
CostScale::CostScale(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return;
  int n = 3 * static_cast<int>(std::floor(std::log10(largest))) + 4;
  while (oneTwoFive(n) >= largest * (1 - 1e-9)) --n;
  for (int i = 0; i < kSteps - 1; ++i) m_bounds[static_cast<std::size_t>(i)] = oneTwoFive(n - (kSteps - 2) + i);
}

CostScale::CostScale(CostKind kind, double largest) : m_kind(kind) {
  if (kind == CostKind::measuredTime || kind == CostKind::activationRange) {
    *this = CostScale(largest);
    m_kind = kind;
  } else if (kind == CostKind::gradientNorm && largest > 0) {
    int power = 8;  // where something is not finite, the largest is not
    if (std::isfinite(largest)) power = static_cast<int>(std::ceil(std::log10(largest) - 1e-9)) - 1;
    for (int i = 0; i < kSteps - 1; ++i)
      m_bounds[static_cast<std::size_t>(i)] = oneTwoFive(3 * (power - (kSteps - 2) + i));
  } else if (kind == CostKind::updateRatio) {
    m_bounds = {1e-5, 1e-4, 1e-3, 1e-2};  // about a thousandth a step is what mostly trains well
  } else if (kind == CostKind::deadUnits) {
    m_bounds = {0.01, 0.1, 0.25, 0.5};
  }
}

int CostScale::stepOf(double seconds) const {
  if (isEmpty() || std::isnan(seconds)) return kNone;
  if (m_kind == CostKind::measuredTime && !(seconds > 0)) return kNone;
  // What is written as the bound is at the bound.
  return static_cast<int>(std::upper_bound(m_bounds.begin(), m_bounds.end(), seconds * (1 + 1e-9)) - m_bounds.begin());
}

QString CostScale::unit() const {
  if (m_kind != CostKind::measuredTime) return m_kind == CostKind::deadUnits ? QStringLiteral("%") : QString();
  const double last = m_bounds.back();
  return last >= 1 ? QStringLiteral("s") : last >= 1e-3 ? QStringLiteral("ms") : QStringLiteral("µs");
}

QString CostScale::numberText(double seconds) const {
  if (m_kind != CostKind::measuredTime)
    return formatValue(ValueKind::plain, seconds * (m_kind == CostKind::deadUnits ? 100 : 1));
  const double last = m_bounds.back(), factor = last >= 1 ? 1 : last >= 1e-3 ? 1e3 : 1e6;
  return formatValue(ValueKind::plain, seconds * factor);
}

QString CostScale::rangeText(int step) const {
  if (step <= 0) return QStringLiteral("< %1").arg(numberText(m_bounds.front()));
  if (step >= kSteps - 1) return QStringLiteral("≥ %1").arg(numberText(m_bounds.back()));
  const auto at = static_cast<std::size_t>(step);
  return QStringLiteral("%1–%2").arg(numberText(m_bounds[at - 1]), numberText(m_bounds[at]));
}

QString CostScale::rangeSentence(int step) const {
  const QString of = unit().isEmpty() ? QString() : QLatin1Char(' ') + unit();
  if (step <= 0) return QObject::tr("less than %1%2").arg(numberText(m_bounds.front()), of);
  if (step >= kSteps - 1) return QObject::tr("%1%2 and more").arg(numberText(m_bounds.back()), of);
  const auto at = static_cast<std::size_t>(step);
  return QObject::tr("from %1 to %2%3").arg(numberText(m_bounds[at - 1]), numberText(m_bounds[at]), of);
}

QColor stepColour(const Theme& theme, int step) {
  if (step < 0) return theme.colour(Colour::hover);
  return theme.palette().scale[static_cast<std::size_t>(std::min(step, CostScale::kSteps - 1))];
}

QColor inkOnStep(const Theme& theme, int step) {
  if (step < 0) return theme.colour(Colour::text3);
  const QColor ground = stepColour(theme, step), text = theme.colour(Colour::text),
               other = theme.colour(Colour::surface);
  return contrast(text, ground) >= contrast(other, ground) ? text : other;
}

}  // namespace loom
