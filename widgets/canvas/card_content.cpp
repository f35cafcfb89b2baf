#include "widgets/canvas/card_content.h"

#include <algorithm>
#include <cmath>

#include <QLocale>

#include "widgets/controls/text.h"

namespace loom {

namespace {

constexpr QChar kNarrowSpace(0x202F);

QString numberText(const Json& value) {
  if (value.is_number_integer()) return QString::number(value.get<std::int64_t>());
  if (value.is_number()) return QString::number(value.get<double>(), 'g', 6);
  if (value.is_string()) return QString::fromStdString(value.get<std::string>());
  return QString::fromStdString(value.dump());
}

QString listText(const Json& value) {
  if (!value.is_array()) return numberText(value);
  QStringList parts;
  for (const Json& each : value) parts += numberText(each);
  return parts.join(QChar(0x00D7));
}

// "2" where all places agree: "stride 2" says as much as "stride 2×2".
QString shortListText(const Json& value) {
  const bool equal = value.is_array() && !value.empty() &&
                     std::all_of(value.begin(), value.end(), [&](const Json& each) { return each == value[0]; });
  return equal ? numberText(value[0]) : listText(value);
}

bool isList(const Field& field) { return field.type == FieldType::integers || field.type == FieldType::shape || field.type == FieldType::reals; }

}  // namespace

QString costName(CostKind kind) {
  switch (kind) {
    case CostKind::multiplyAdds: return QObject::tr("multiply-adds");
    case CostKind::parameters: return QObject::tr("parameters");
    case CostKind::outputValues: return QObject::tr("output values");
  }
  return {};
}

double costOf(const NodeFacts& facts, CostKind kind) {
  switch (kind) {
    case CostKind::multiplyAdds: return facts.multiplyAdds;
    case CostKind::parameters: return static_cast<double>(facts.parameters);
    case CostKind::outputValues: return static_cast<double>(facts.outputValues);
  }
  return 0;
}

QString keyParameters(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) return {};
  QStringList leading, rest;
  for (const Field& field : layer->entry.fields) {
    if (!field.important) continue;
    const auto given = node.values.find(field.key);
    const bool differs = given != node.values.end() && *given != field.defaultValue;
    const Json& value = given != node.values.end() ? *given : field.defaultValue;
    if (value.is_null()) continue;
    const QString label = QString::fromStdString(field.label).toLower();
    if (isList(field)) {
      if (leading.isEmpty()) leading += listText(value);
      else if (differs) rest += label + QLatin1Char(' ') + shortListText(value);
    } else if (field.type == FieldType::choice) {
      if (!differs) continue;
      const auto choice = std::find_if(field.choices.begin(), field.choices.end(),
                                       [&](const Choice& each) { return value.is_string() && each.id == value.get<std::string>(); });
      rest += choice != field.choices.end() ? QString::fromStdString(choice->label).toLower() : numberText(value);
    } else if (field.type == FieldType::boolean) {
      if (value.is_boolean() && value.get<bool>()) rest += label;
    } else {
      if (!differs && value.is_number() && value.get<double>() == 0) continue;  // what is off by default says nothing
      const bool counts = field.type == FieldType::integer && label.endsWith(QLatin1Char('s'));
      const bool one = value.is_number_integer() && value.get<std::int64_t>() == 1;
      rest += counts ? numberText(value) + QLatin1Char(' ') + (one ? singular(label) : label) : label + QLatin1Char(' ') + numberText(value);
    }
  }
  return (leading + rest).join(QStringLiteral(", "));
}

CardContent cardContent(const Node& node, const Analysis& analysis, CostKind kind) {
  CardContent content;
  content.title = QString::fromStdString(node.id);
  const LayerDefinition* layer = findLayer(node.layer);
  content.type = QString::fromStdString(layer != nullptr ? layer->entry.label : node.layer);
  content.category = layer != nullptr ? QString::fromStdString(layer->entry.category) : QStringLiteral("shape");
  content.icon = layer != nullptr ? QString::fromStdString(layer->entry.icon) : QStringLiteral("help");
  content.help = layer != nullptr ? QString::fromStdString(layer->entry.summary) : QObject::tr("No such layer");
  content.parameters = keyParameters(node);
  double total = 0, largest = 0;
  for (const auto& [id, facts] : analysis.nodes) {
    total += costOf(facts, kind);
    largest = std::max(largest, costOf(facts, kind));
  }
  const auto facts = analysis.nodes.find(node.id);
  if (facts != analysis.nodes.end() && largest > 0) {
    content.share = costOf(facts->second, kind) / total;
    content.bar = costOf(facts->second, kind) / largest;
  }
  for (const Problem& problem : analysis.problems)
    if (problem.node == node.id)
      (problem.severity == Severity::error ? content.errors : content.warnings) += QString::fromStdString(problem.message);
  QStringList spoken{content.title, content.type};
  if (!content.parameters.isEmpty()) spoken += content.parameters;
  if (facts != analysis.nodes.end() && facts->second.known && !facts->second.outputs.empty())
    spoken += QObject::tr("gives %1").arg(shapeText(facts->second.outputs.front()));
  spoken += content.errors;
  content.spoken = spoken.join(QStringLiteral(", "));
  return content;
}

QString shapeText(const Shape& shape) { return QString::fromStdString(shape.toString()); }

QString countText(double value) {
  const double size = std::abs(value);
  if (size < 1e6) return QLocale(QLocale::English).toString(static_cast<qlonglong>(std::llround(value)));
  const auto scaled = [&](double unit, QChar letter) {
    const double part = value / unit;
    const int decimals = std::abs(part) < 9.995 ? 2 : std::abs(part) < 99.95 ? 1 : 0;
    return QString::number(part, 'f', decimals) + kNarrowSpace + letter;
  };
  if (size < 999.5e6) return scaled(1e6, QLatin1Char('M'));
  if (size < 999.5e9) return scaled(1e9, QLatin1Char('G'));
  return scaled(1e12, QLatin1Char('T'));
}

QString percentText(double share) { return QString::number(100 * share, 'f', 1) + kNarrowSpace + QLatin1Char('%'); }

}  // namespace loom
