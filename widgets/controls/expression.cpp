#include "widgets/controls/expression.h"

#include <QLocale>
#include <cmath>
#include <vector>

#include "engine/base/expression.h"

namespace loom {
namespace {

// The largest of 1, 2, 5 times a power of ten that is strictly above, or the next below, for positive values.
double above(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (step * power > value * (1 + 1e-9)) return step * power;
  }
  return 20 * power;
}

double below(double value) {
  const double power = std::pow(10, std::floor(std::log10(value) + 1e-9));
  for (const double step : {5.0, 2.0, 1.0}) {
    if (step * power < value * (1 - 1e-9)) return step * power;
  }
  return 0.5 * power;
}

// Powers of ten are not exact below one: 5 * 10^-4 should be the double that is written 0.0005.
double rounded(double value) {
  return QLocale::c().toDouble(QLocale::c().toString(value, 'g', 12).remove(','));
}

}  // namespace

ExpressionResult evaluateExpression(const QString& text,
                                    const std::function<std::optional<double>(const QString&)>& variable) {
  try {
    const Expression expression(text.toStdString());
    std::vector<double> values;
    for (const Expression::Name& each : expression.names()) {
      const QString name = QString::fromStdString(each.name);
      const std::optional<double> value = variable && !each.index ? variable(name) : std::nullopt;
      if (!value) return {std::nullopt, false, QObject::tr("'%1' is not a number").arg(name)};
      values.push_back(*value);
    }
    return {expression.evaluate(values), expression.isNumber(), {}};
  } catch (const ExpressionError& error) {
    return {std::nullopt, false, QString::fromStdString(error.message())};
  }
}

double stepped(double value, int up, bool factor10, bool integer) {
  if (factor10 && value != 0) {
    const double result = up > 0 ? value * 10 : value / 10;
    return integer ? std::trunc(result) : rounded(result);
  }
  if (integer && (std::abs(value) < 10 || (std::abs(value) == 10 && (up > 0) != (value > 0))))
    return value + (up > 0 ? 1 : -1);
  if (value == 0) return up > 0 ? 0.1 : -0.1;
  const bool away = (up > 0) == (value > 0);
  const double size = away ? above(std::abs(value)) : below(std::abs(value));
  return rounded(std::copysign(size, value));
}

QString shortestNumber(double value) {
  if (std::isnan(value)) return QStringLiteral("nan");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
  if (value == std::trunc(value) && std::abs(value) < 1e15) return QString::number(static_cast<qlonglong>(value));
  QString text = QLocale::c().toString(value, 'g', QLocale::FloatingPointShortest);
  text.remove(',');
  // 1e-04 reads as 1e-4
  const qsizetype e = text.indexOf('e');
  if (e < 0) {
    const double size = std::abs(value);
    if (size >= 1e-3) return text;
    text = QLocale::c().toString(value, 'e', QLocale::FloatingPointShortest);
  }
  const qsizetype at = text.indexOf('e');
  return text.left(at) + 'e' + QString::number(text.mid(at + 1).toInt());
}

}  // namespace loom
