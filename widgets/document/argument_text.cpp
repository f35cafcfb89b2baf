#include "widgets/document/argument_text.h"

#include <QRegularExpression>
#include <QStringList>
#include <cmath>

#include "engine/network/network.h"
#include "widgets/document/expression_names.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

Json number(const QString& text) {
  bool whole = false, real = false;
  const qlonglong integer = text.toLongLong(&whole);
  if (whole) return integer;
  const double value = text.toDouble(&real);
  return real && std::isfinite(value) ? Json(value) : Json();
}

}  // namespace

QString argumentText(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>() ? QStringLiteral("on") : QStringLiteral("off");
  if (value.is_string())
    return isExpression(value) ? q(value.get<std::string>().substr(1)) : q(value.get<std::string>());
  if (!value.is_array()) return q(value.dump());
  QStringList parts;
  for (const Json& each : value) parts += argumentText(each);
  return parts.join(QChar(0x00D7));
}

Json readArgument(const QString& typed, const std::set<std::string>& names) {
  const QString text = typed.trimmed();
  if (text.isEmpty()) return {};
  if (text.startsWith(QLatin1Char('='))) return text.toStdString();
  if (const Json value = number(text); !value.is_null()) return value;
  if (text == QLatin1String("on") || text == QLatin1String("true")) return true;
  if (text == QLatin1String("off") || text == QLatin1String("false")) return false;
  static const QRegularExpression between(QStringLiteral("\\s*[×,;]\\s*"));
  if (const QStringList parts = text.split(between, Qt::SkipEmptyParts); parts.size() > 1) {
    Json list = Json::array();
    for (const QString& part : parts) list.push_back(readArgument(part, names));
    return list;
  }
  const Json expression = "=" + text.toStdString();
  for (const std::string& name : namesUsed(expression))
    if (names.contains(name)) return expression;
  // Signs between numbers: arithmetic, which the engine computes.
  static const QRegularExpression arithmetic(QStringLiteral("^[\\d\\s.()+*/%-]+$"));
  return arithmetic.match(text).hasMatch() ? expression : Json(text.toStdString());
}

}  // namespace loom
