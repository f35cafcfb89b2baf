#include "widgets/chart/format.h"

#include <QLocale>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace loom {

const QString kNarrowSpace = QString(QChar(0x202F));

namespace {

const QChar kMinus(0x2212);

QString withMinus(QString text) {
  // The exponent of a scientific number keeps its hyphen: 4.1e-5.
  if (text.startsWith('-')) text[0] = kMinus;
  return text;
}

QString notFinite(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  return value > 0 ? QStringLiteral("inf") : withMinus(QStringLiteral("-inf"));
}

QString grouped(QString digits) {
  const qsizetype start = digits.startsWith('-') ? 1 : 0;
  const qsizetype point = digits.indexOf('.');
  for (qsizetype at = (point < 0 ? digits.size() : point) - 3; at > start; at -= 3) digits.insert(at, ',');
  return digits;
}

// "4.1e-5" from a value and a number of digits; trailing zeros go where `shortest`.
QString scientific(double value, int digits, bool shortest) {
  QString text = QString::number(value, 'e', digits - 1);
  const qsizetype e = text.indexOf('e');
  QString mantissa = text.left(e);
  if (shortest && mantissa.contains('.')) {
    while (mantissa.endsWith('0')) mantissa.chop(1);
    if (mantissa.endsWith('.')) mantissa.chop(1);
  }
  return withMinus(mantissa + 'e' + QString::number(text.mid(e + 1).toInt()));
}

int magnitude(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value))));
}

QString unit(const QString& number, const char* name) {
  return number + kNarrowSpace + QString::fromUtf8(name);
}

}  // namespace

QString formatFixed(double value, int decimals) {
  if (!std::isfinite(value)) return notFinite(value);
  QString text = QString::number(value, 'f', decimals);
  // "-0.00" is nought.
  if (text.startsWith('-') && text.count('0') + text.count('.') + 1 == text.size()) text.remove(0, 1);
  return withMinus(grouped(text));
}

QString formatSignificant(double value, int digits) {
  if (!std::isfinite(value)) return notFinite(value);
  if (value == 0) return formatFixed(0, digits - 1);
  // Rounding may add a digit: 9.996 with three becomes 10.0.
  const double rounded = QString::number(value, 'e', digits - 1).toDouble();
  const int decimals = std::max(0, digits - 1 - magnitude(rounded));
  // Above the digits that are meant, noughts: 23,812 with three is 23,800.
  return formatFixed(rounded, decimals);
}

QString formatShort(double value) {
  if (!std::isfinite(value)) return notFinite(value);
  if (value == std::floor(value) || std::abs(value) >= 999.5)
    return std::abs(value) < 1e18 ? formatCount(value) : scientific(value, 3, true);
  return std::abs(value) < 0.0009995 ? scientific(value, 2, false) : formatSignificant(value, 3);
}

QString formatLoss(double value) {
  if (!std::isfinite(value)) return notFinite(value);
  const double size = std::abs(value);
  if (size == 0) return QStringLiteral("0");
  if (size < 0.0009995) return scientific(value, 2, false);
  if (size < 0.9995) return formatFixed(value, 3);
  if (size >= 999999.5) return scientific(value, 3, false);  // a run that diverged: no column has room for its digits
  return size < 1000 ? formatSignificant(value, 3) : formatFixed(value, 0);
}

QString formatPercent(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return notFinite(fraction);
  return unit(formatFixed(fraction * 100, decimals), "%");
}

QString formatRate(double value) {
  if (!std::isfinite(value)) return notFinite(value);
  if (value == 0) return QStringLiteral("0");
  const double rounded = QString::number(value, 'e', 2).toDouble();
  if (std::abs(rounded) < 0.001 || std::abs(rounded) >= 1e6) return scientific(value, 3, true);
  QString text = QString::number(rounded, 'f', std::max(0, 2 - magnitude(rounded)));
  if (text.contains('.')) {
    while (text.endsWith('0')) text.chop(1);
    if (text.endsWith('.')) text.chop(1);
  }
  return withMinus(grouped(text));
}

QString formatCount(double value) {
  if (!std::isfinite(value)) return notFinite(value);
  if (std::abs(value) < 999999.5) return formatFixed(value, 0);
  static constexpr struct {
    double size;
    const char* name;
  } kUnits[] = {{1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
  const auto* chosen = kUnits;
  for (const auto& candidate : kUnits) {
    if (std::abs(value) >= candidate.size * 0.9995) chosen = &candidate;
  }
  return unit(formatSignificant(value / chosen->size, 3), chosen->name);
}

QString formatBytes(double bytes) {
  if (!std::isfinite(bytes)) return notFinite(bytes);
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int step = 0;
  while (std::abs(bytes) >= 999.5 && step < 5) {
    bytes /= 1024;
    ++step;
  }
  return unit(step == 0 ? formatFixed(bytes, 0) : formatSignificant(bytes, 3), kNames[step]);
}

QString formatDuration(double seconds, bool padded) {
  if (!std::isfinite(seconds)) return notFinite(seconds);
  if (seconds < 0) return QString(kMinus) + formatDuration(-seconds, padded);
  if (seconds == 0) return unit(QStringLiteral("0"), "s");
  if (seconds < 0.0009995) return unit(formatSignificant(seconds * 1e6, seconds < 0.0000995 ? 2 : 3), "µs");
  if (seconds < 0.9995)
    return unit(seconds < 0.00995 ? formatFixed(seconds * 1e3, 1) : formatFixed(seconds * 1e3, 0), "ms");
  if (seconds < 9.95) return unit(formatFixed(seconds, 1), "s");
  if (seconds < 59.5) return unit(formatFixed(seconds, 0), "s");
  const auto two = [&](std::int64_t large, const char* largeName, std::int64_t small, const char* smallName) {
    const QString second = QString::number(small).rightJustified(padded ? 2 : 1, '0');
    return unit(QString::number(large), largeName) + kNarrowSpace + unit(second, smallName);
  };
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return two(whole / 60, "m", whole % 60, "s");
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < 24 * 60) return two(minutes / 60, "h", minutes % 60, "m");
  const std::int64_t hours = (minutes + 30) / 60;
  return two(hours / 24, "d", hours % 24, "h");
}

QString formatThroughput(double perSecond, const QString& what) {
  const QString number = formatSignificant(perSecond, 3);
  return what.isEmpty() ? number : number + kNarrowSpace + what + QStringLiteral("/s");
}

QString formatMeanDeviation(double mean, double deviation) {
  if (!std::isfinite(mean) || !std::isfinite(deviation)) return formatLoss(mean);
  const double rounded = deviation > 0 ? QString::number(deviation, 'e', 1).toDouble() : 0;
  const int decimals = rounded > 0 ? std::clamp(1 - magnitude(rounded), 0, 12) : 2;
  return formatFixed(mean, decimals) + QStringLiteral(" ± ") + formatFixed(deviation, decimals);
}

QString formatShape(const std::vector<std::int64_t>& extents) {
  QStringList parts;
  for (const std::int64_t extent : extents) parts << QString::number(extent);
  return parts.isEmpty() ? QStringLiteral("scalar") : parts.join(QStringLiteral("×"));
}

double axisFactor(ValueKind kind) {
  return kind == ValueKind::accuracy || kind == ValueKind::training ? 100 : 1;
}

QString formatValue(ValueKind kind, double value) {
  switch (kind) {
    case ValueKind::plain: {
      if (!std::isfinite(value)) return notFinite(value);
      if (value != 0 && (std::abs(value) < 1e-4 || std::abs(value) >= 1e9)) return scientific(value, 6, true);
      QString text = QString::number(value, 'f', value == 0 ? 0 : std::clamp(5 - magnitude(value), 0, 9));
      if (text.contains('.')) {
        while (text.endsWith('0')) text.chop(1);
        if (text.endsWith('.')) text.chop(1);
      }
      return withMinus(grouped(text));
    }
    case ValueKind::loss:
      return formatLoss(value);
    case ValueKind::accuracy:
      return formatPercent(value, 2);
    case ValueKind::training:
      return formatPercent(value, 1);
    case ValueKind::rate:
      return formatRate(value);
    case ValueKind::count:
      return formatCount(value);
    case ValueKind::bytes:
      return formatBytes(value);
    case ValueKind::duration:
      return formatDuration(value);
    case ValueKind::milliseconds:
      return value == 0 ? unit(QStringLiteral("0"), "ms") : formatDuration(value / 1000);  // as those around it
    case ValueKind::throughput:
      return formatThroughput(value);
  }
  return {};
}

}  // namespace loom
