#include "widgets/controls/expression.h"

#include <QLocale>
#include <cmath>

namespace loom {
namespace {

// A recursive descent over one line of text.
class Parser {
 public:
  Parser(const QString& text, const std::function<std::optional<double>(const QString&)>& variable)
      : m_text(text), m_variable(variable) {}

  ExpressionResult run() {
    const double value = sum();
    skip();
    if (m_problem.isEmpty() && m_at < m_text.size()) fail(QObject::tr("'%1' is not understood").arg(m_text.mid(m_at)));
    if (m_problem.isEmpty() && !std::isfinite(value)) fail(QObject::tr("the result is not finite"));
    if (!m_problem.isEmpty()) return {std::nullopt, false, m_problem};
    return {value, m_operations == 0, {}};
  }

 private:
  void fail(const QString& problem) {
    if (m_problem.isEmpty()) m_problem = problem;
  }
  void skip() {
    while (m_at < m_text.size() && m_text[m_at].isSpace()) ++m_at;
  }
  bool take(const char* signs, QChar* taken = nullptr) {
    skip();
    if (m_at >= m_text.size() || !QString::fromUtf8(signs).contains(m_text[m_at])) return false;
    if (taken) *taken = m_text[m_at];
    ++m_at;
    return true;
  }

  double sum() {
    double value = product();
    QChar sign;
    while (m_problem.isEmpty() && take("+-−", &sign)) {
      ++m_operations;
      const double right = product();
      value = sign == '+' ? value + right : value - right;
    }
    return value;
  }

  double product() {
    double value = unary();
    QChar sign;
    while (m_problem.isEmpty() && take("*/×·", &sign)) {
      ++m_operations;
      const double right = unary();
      if (sign == '/' && right == 0) fail(QObject::tr("division by zero"));
      value = sign == '/' ? value / right : value * right;
    }
    return value;
  }

  double unary() {
    QChar sign;
    if (!take("+-−", &sign)) return power();
    if (++m_depth > 64) fail(QObject::tr("too many signs"));
    const double value = m_problem.isEmpty() ? unary() : 0;
    --m_depth;
    return sign == '+' ? value : -value;
  }

  double power() {
    const double base = atom();
    if (!take("^")) return base;
    ++m_operations;
    if (++m_depth > 64) fail(QObject::tr("too many powers of powers"));
    const double exponent = m_problem.isEmpty() ? unary() : 0;
    --m_depth;
    return std::pow(base, exponent);
  }

  double atom() {
    skip();
    if (m_at >= m_text.size()) {
      fail(m_text.trimmed().isEmpty() ? QObject::tr("a number is missing")
                                      : QObject::tr("a number is missing at the end"));
      return 0;
    }
    if (take("(")) {
      if (++m_depth > 64) fail(QObject::tr("brackets nest deeper than 64"));
      ++m_operations;
      const double value = m_problem.isEmpty() ? sum() : 0;
      --m_depth;
      if (!take(")")) fail(QObject::tr("a closing bracket is missing"));
      return value;
    }
    if (m_text[m_at].isLetter() || m_text[m_at] == '_') return word();
    return number();
  }

  double word() {
    const qsizetype start = m_at;
    while (m_at < m_text.size() && (m_text[m_at].isLetterOrNumber() || m_text[m_at] == '_')) ++m_at;
    const QString name = m_text.mid(start, m_at - start);
    ++m_operations;
    if (m_variable) {
      if (const auto value = m_variable(name)) return *value;
    }
    fail(QObject::tr("'%1' is not a number").arg(name));
    return 0;
  }

  bool digitAt(qsizetype at) const { return at < m_text.size() && m_text[at].isDigit(); }

  double number() {
    QString digits;
    while (m_at < m_text.size()) {
      const QChar c = m_text[m_at];
      const bool groups =
          (c == ',' || c == '_') && digitAt(m_at + 1) && digitAt(m_at + 2) && digitAt(m_at + 3) && !digitAt(m_at + 4);
      if (c.isDigit() || c == '.')
        digits += c;
      else if (!(groups && !digits.isEmpty() && !digits.contains('.')))
        break;
      ++m_at;
    }
    if (m_at < m_text.size() && (m_text[m_at] == 'e' || m_text[m_at] == 'E') && !digits.isEmpty()) {
      const bool sign = m_at + 1 < m_text.size() && QStringLiteral("+-−").contains(m_text[m_at + 1]);
      if (digitAt(m_at + (sign ? 2 : 1))) {
        digits += 'e';
        if (sign) digits += m_text[m_at + 1] == '+' ? '+' : '-';
        m_at += sign ? 2 : 1;
        while (digitAt(m_at)) digits += m_text[m_at++];
      }
    }
    bool ok = false;
    double value = QLocale::c().toDouble(digits, &ok);
    if (!ok) {
      fail(QObject::tr("'%1' is not a number").arg(digits.isEmpty() ? m_text.mid(m_at, 1) : digits));
      return 0;
    }
    const qsizetype before = m_at;
    QChar suffix;
    if (take("kMG%", &suffix)) {
      // "3 kernels" is no suffix.
      if (suffix != '%' && m_at < m_text.size() && m_text[m_at].isLetterOrNumber()) {
        m_at = before;
      } else {
        ++m_operations;
        value *= suffix == 'k' ? 1e3 : suffix == 'M' ? 1e6 : suffix == 'G' ? 1e9 : 0.01;
      }
    }
    return value;
  }

  const QString m_text;
  const std::function<std::optional<double>(const QString&)>& m_variable;
  qsizetype m_at = 0;
  int m_operations = 0;
  int m_depth = 0;
  QString m_problem;
};

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
  return Parser(text, variable).run();
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
