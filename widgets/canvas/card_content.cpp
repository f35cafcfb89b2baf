#include "widgets/canvas/card_content.h"

#include <QLocale>
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/unit_edits.h"
#include "widgets/document/unit_entry.h"
#include "widgets/theme/icon.h"

namespace loom {

namespace {

QString numberText(const Json& value) {
  if (value.is_number_integer()) return QString::number(value.get<std::int64_t>());
  if (value.is_number()) return formatValue(ValueKind::plain, value.get<double>());
  if (isExpression(value)) return QString::fromStdString(value.get<std::string>()).mid(1);  // as typed: "channels*4"
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

bool sameText(const Json& a, const Json& b) {  // 1 and 1.0 are equal, and written differently
  return a.type() == b.type() && a == b && (!a.is_structured() || std::equal(a.begin(), a.end(), b.begin(), sameText));
}

// What cards of one layer have in common, and the second lines of those written last: a thousand cards that come at
// once are most often of a few kinds.
struct LayerWords {
  QString type, category, icon, help;
  std::vector<std::pair<Json, QString>> lines{};
  std::size_t next = 0;

  static LayerWords& of(const LayerDefinition& layer) {
    static thread_local std::unordered_map<const LayerDefinition*, LayerWords> known;
    const auto [found, isNew] = known.try_emplace(&layer);
    if (isNew)
      found->second = {QString::fromStdString(layer.entry.label), QString::fromStdString(layer.entry.category),
                       QString::fromStdString(layer.entry.icon), QString::fromStdString(layer.entry.summary)};
    return found->second;
  }
  const QString& parameters(const Entry& entry, const Json& values) {
    constexpr std::size_t kKept = 8;
    for (const auto& [written, text] : lines)
      if (sameText(written, values)) return text;
    if (lines.size() < kKept) lines.emplace_back();
    auto& line = lines[next++ % kKept];
    line = {values, keyParameters(entry, values)};
    return line.second;
  }
};

bool isList(const Field& field) {
  return field.type == FieldType::integers || field.type == FieldType::shape || field.type == FieldType::reals;
}

}  // namespace

QString costName(CostKind kind) {
  switch (kind) {
    case CostKind::multiplyAdds:
      return QObject::tr("multiply-adds");
    case CostKind::parameters:
      return QObject::tr("parameters");
    case CostKind::outputValues:
      return QObject::tr("output values");
    case CostKind::activations:
      return QObject::tr("activations");
    case CostKind::memory:
      return QObject::tr("memory");
    case CostKind::time:
      return QObject::tr("predicted time");
    case CostKind::measuredTime:
      return QObject::tr("measured time");
    case CostKind::gradientNorm:
      return QObject::tr("gradient norm");
    case CostKind::updateRatio:
      return QObject::tr("update ratio");
    case CostKind::deadUnits:
      return QObject::tr("dead units");
    case CostKind::activationRange:
      return QObject::tr("activation range");
  }
  return {};
}

double costOf(const NodeFacts& facts, const NodeCost& cost, CostKind kind) {
  switch (kind) {
    case CostKind::multiplyAdds:
      return facts.multiplyAdds;
    case CostKind::parameters:
      return static_cast<double>(facts.parameters);
    case CostKind::outputValues:
      return static_cast<double>(facts.outputValues);
    case CostKind::activations:
      return cost.activations;
    case CostKind::memory:
      return cost.memory;
    case CostKind::time:
      return cost.seconds;
    case CostKind::measuredTime:
      return cost.measured;
    case CostKind::gradientNorm:
    case CostKind::updateRatio:
    case CostKind::deadUnits:
    case CostKind::activationRange:
      break;
  }
  return 0;
}

QString keyParameters(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  return layer == nullptr ? QString() : keyParameters(layer->entry, node.values);
}

QString keyParameters(const Entry& entry, const Json& values) {
  QStringList leading, rest;
  for (const Field& field : entry.fields) {
    if (!field.important) continue;
    const auto given = values.find(field.key);
    const bool differs = given != values.end() && *given != field.defaultValue;
    const Json& value = given != values.end() ? *given : field.defaultValue;
    if (value.is_null()) continue;
    const QString label = QString::fromStdString(field.label).toLower();
    if (isExpression(value)) {
      // "3×3, channels": what is called as its field is says it once.
      const QString typed = numberText(value);
      (isList(field) && leading.isEmpty() ? leading : rest) +=
          typed == label || isList(field) ? typed : label + QLatin1Char(' ') + typed;
    } else if (isList(field)) {
      if (leading.isEmpty())
        leading += listText(value);
      else if (differs)
        rest += label + QLatin1Char(' ') + shortListText(value);
    } else if (field.type == FieldType::choice) {
      if (!differs) continue;
      const auto choice = std::find_if(field.choices.begin(), field.choices.end(), [&](const Choice& each) {
        return value.is_string() && each.id == value.get<std::string>();
      });
      rest += choice != field.choices.end() ? QString::fromStdString(choice->label).toLower() : numberText(value);
    } else if (field.type == FieldType::boolean) {
      if (value.is_boolean() && value.get<bool>()) rest += label;
    } else {
      if (!differs && value.is_number() && value.get<double>() == 0) continue;  // what is off by default says nothing
      const bool counts =
          entry.category != "unit" && field.type == FieldType::integer && label.endsWith(QLatin1Char('s'));
      const bool one = value.is_number_integer() && value.get<std::int64_t>() == 1;
      rest += counts ? numberText(value) + QLatin1Char(' ') + (one ? singular(label) : label)
                     : label + QLatin1Char(' ') + numberText(value);
    }
  }
  return (leading + rest).join(QStringLiteral(", "));
}

CardFigures::CardFigures(const Project& project, const Network& drawing, const Analysis& analysis,
                         const NetworkCosts& costs, CostKind kind)
    : analysis(analysis), costs(costs), kind(kind) {
  for (const auto& [id, facts] : analysis.nodes) {
    const double value = costOf(id, facts);
    total += value;
    largest = std::max(largest, value);
  }
  for (const Problem& problem : analysis.problems)
    if (const std::string node = nodeWith(problem, project, drawing); !node.empty())
      (problem.severity == Severity::error ? faults[node].errors : faults[node].warnings) +=
          QString::fromStdString(problem.message);
}

double CardFigures::costOf(const std::string& node, const NodeFacts& facts) const {
  const auto planned = costs.nodes.find(node);
  return loom::costOf(facts, planned == costs.nodes.end() ? NodeCost{} : planned->second, kind);
}

double CardFigures::costOf(const std::string& node) const {
  const auto facts = analysis.nodes.find(node);
  return facts == analysis.nodes.end() ? 0 : costOf(node, facts->second);
}

QString repeatText(const Json& repeat) {
  if (repeat.is_null() || repeat == 1) return {};
  return QChar(0x00D7) + numberText(repeat);
}

CardContent groupContent(const Network& network, const Group& group) {
  constexpr int kMostSigns = 6;
  CardContent content;
  content.form = CardContent::Form::group;
  content.title = QString::fromStdString(group.title.empty() ? group.id : group.title);
  const std::set<std::string> members = membersOf(network, group.id);
  content.type = counted(static_cast<qint64>(members.size()), QObject::tr("layers"));
  content.parameters = QObject::tr("folded");
  content.category = QStringLiteral("unit");
  content.icon = QStringLiteral("group");
  content.repeat = repeatText(group.repeat);
  content.tint = QString::fromStdString(group.colour);
  for (const Node& node : network.nodes) {
    if (!members.contains(node.id) || content.inside.size() >= 2 * kMostSigns) continue;
    const LayerDefinition* layer = findLayer(node.layer);
    const QString category = !node.unit.empty() ? QStringLiteral("unit")
                             : layer != nullptr ? QString::fromStdString(layer->entry.category)
                                                : QStringLiteral("shape");
    content.inside += {!node.unit.empty() ? QStringLiteral("unit")
                       : layer != nullptr ? layerIcon(QString::fromStdString(layer->entry.icon), category)
                                          : QStringLiteral("help"),
                       category};
  }
  return content;
}

CardContent cardContent(const Project& project, const Node& node) {
  CardContent content;
  content.title = QString::fromStdString(node.id);
  if (!node.unit.empty()) {
    content.form = CardContent::Form::unit;
    content.type = QString::fromStdString(node.unit);
    content.category = content.icon = QStringLiteral("unit");
    content.repeat = repeatText(node.repeat);
    if (const Network* unit = project.unit(node.unit)) {
      const Entry entry = unitEntry(project, *unit);
      content.parameters = keyParameters(entry, node.values);
      content.help = QString::fromStdString(entry.summary);
    } else {
      content.help = QObject::tr("No such unit");
    }
    return content;
  }
  const LayerDefinition* layer = findLayer(node.layer);
  if (layer == nullptr) {
    content.type = QString::fromStdString(node.layer);
    content.category = QStringLiteral("shape");
    content.icon = QStringLiteral("help");
    content.help = QObject::tr("No such layer");
    return content;
  }
  LayerWords& words = LayerWords::of(*layer);
  content.type = words.type;
  content.category = words.category;
  content.role = layer->role;
  content.icon = words.icon;
  content.help = words.help;
  content.parameters = words.parameters(layer->entry, node.values);
  return content;
}

namespace {

// Name, kind, fields; shape and faults are said behind it.
QStringList spokenWords(const CardContent& content) {
  switch (content.form) {
    case CardContent::Form::group:
      return {content.title, QObject::tr("folded group"), content.type};
    case CardContent::Form::unit:
      return {content.title, QObject::tr("unit %1").arg(content.type), content.parameters, content.repeat};
    case CardContent::Form::layer:
    case CardContent::Form::port:
      break;
  }
  return {content.title, content.type, content.parameters};
}

}  // namespace

QString spokenText(const CardContent& content, const Analysis& analysis, const std::string& node) {
  QStringList spoken = spokenWords(content);
  spoken.removeAll(QString());
  const auto facts = analysis.nodes.find(node);
  if (facts != analysis.nodes.end() && facts->second.known && !facts->second.outputs.empty())
    spoken += QObject::tr("gives %1").arg(shapeText(facts->second.outputs.front()));
  spoken += content.errors;
  return spoken.join(QStringLiteral(", "));
}

QString shapeText(const Shape& shape) {
  return QString::fromStdString(shape.toString());
}

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

QString percentText(double share) {
  return QString::number(100 * share, 'f', 1) + kNarrowSpace + QLatin1Char('%');
}

}  // namespace loom
