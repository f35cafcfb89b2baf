#include "launcher/store/run_filter.h"

#include <fmt/format.h>

#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "engine/base/error.h"
#include "engine/base/expression.h"
#include "engine/catalogue/entry.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"

namespace loom {
namespace {

const QString kDeleted = QStringLiteral("deleted");

QString numberText(double value) {
  return QString::number(value, 'g', 17);
}

// What a record itself says under a name; a setting of the same name comes after it.
struct RecordField {
  const char* name;
  QString (*of)(const RunRecord& run);
};
constexpr RecordField kFields[] = {
    {"name", [](const RunRecord& run) { return run.name; }},
    {"state", [](const RunRecord& run) { return run.deleted > 0 ? kDeleted : QString::fromLatin1(toKey(run.state)); }},
    {"best", [](const RunRecord& run) { return numberText(run.best); }},
    {"last", [](const RunRecord& run) { return numberText(run.last); }},
    {"loss", [](const RunRecord& run) { return numberText(run.loss); }},
    {"step", [](const RunRecord& run) { return QString::number(run.step); }},
    {"epoch", [](const RunRecord& run) { return numberText(run.epoch); }},
    {"duration", [](const RunRecord& run) { return QString::number(run.duration); }},
    {"attempt", [](const RunRecord& run) { return QString::number(run.attempt); }},
    {"parameters", [](const RunRecord& run) { return QString::number(run.parameters); }},
    {"host", [](const RunRecord& run) { return run.host; }},
    {"device", [](const RunRecord& run) { return run.device; }},
    {"note", [](const RunRecord& run) { return run.note; }},
    {"project", [](const RunRecord& run) { return QFileInfo(run.project).completeBaseName(); }},
};

QString textOf(const Json& value) {
  return value.is_string() ? QString::fromStdString(value.get<std::string>()) : QString::fromStdString(value.dump());
}

// Its whole name, its last part, or the group whose "name" it is: "optimizer" for optimizer.name.
bool names(const QString& key, const QString& setting) {
  const QString whole = setting.toLower();
  return whole == key || whole.section('.', -1) == key || whole == key + ".name";
}

QString shortName(const QString& setting) {
  return setting.endsWith(".name") ? setting.section('.', -2, -2) : setting.section('.', -1);
}

// What a run may have been given, though none of these wrote it down: a default is not written.
const std::set<QString>& settings() {
  static const std::set<QString> all = [] {
    std::set<QString> names{QStringLiteral("optimizer"), QStringLiteral("schedule"), QStringLiteral("warmup")};
    const auto take = [&names](const Entry& entry) {
      for (const Field& field : entry.fields) names.insert(QString::fromStdString(field.key));
    };
    take(settingsEntry());
    for (const OptimizerDefinition* each : optimizerTable()) take(each->entry);
    for (const ScheduleDefinition* each : scheduleTable()) take(each->entry);
    return names;
  }();
  return all;
}

void checkName(const QString& given, const QList<RunRecord>& runs) {
  const QString key = given.toLower();
  if (key == "tag") return;
  std::set<QString> shown{QStringLiteral("tag")};
  for (const RecordField& field : kFields) {
    if (key == QLatin1String(field.name)) return;
    shown.insert(QString::fromLatin1(field.name));
  }
  bool told = false;  // runs that wait have no settings yet: nothing can be said of names then
  for (const RunRecord& run : runs)
    for (const auto& [name, value] : run.settings.items()) {
      const QString setting = QString::fromStdString(name);
      if (names(key, setting)) return;
      told = true;
      shown.insert(shortName(setting));
    }
  if (!told || settings().count(key)) return;
  std::set<QString> all = shown;
  all.insert(settings().begin(), settings().end());
  std::vector<std::string> known;
  for (const QString& each : all) known.push_back(each.toStdString());
  const QString meant = QString::fromStdString(nearestKey(key.toStdString(), known));
  if (!meant.isEmpty())
    throwError(ErrorCode::badArgument, "no run has '{}': did you mean '{}'?", given.toStdString(), meant.toStdString());
  QStringList list(shown.begin(), shown.end());
  throwError(ErrorCode::badArgument, "no run has '{}'; there are {}", given.toStdString(),
             list.join(", ").toStdString());
}

void checkState(const QString& value) {
  std::vector<std::string> known{kDeleted.toStdString()};
  for (int i = 0; i <= static_cast<int>(RunState::failed); ++i) known.emplace_back(toKey(static_cast<RunState>(i)));
  const std::string given = value.toLower().toStdString();
  if (std::find(known.begin(), known.end(), given) == known.end())
    throwError(ErrorCode::badArgument, "'{}' is no state of a run; there are {}", value.toStdString(),
               fmt::format("{}", fmt::join(known, ", ")));
}

// "1e-3", "nan", "0.1*32", "45_000", "32 k".
std::optional<double> numberOf(const QString& value) {
  bool isNumber = false;
  const double number = value.toDouble(&isNumber);
  if (isNumber) return number;
  try {
    const Expression formula(value.toStdString());
    return formula.names().empty() ? std::optional(formula.evaluate()) : std::nullopt;  // with names it is a text
  } catch (const ExpressionError&) {
    return std::nullopt;  // a text
  }
}

}  // namespace

RunFilter::RunFilter(const QString& expression, const QList<RunRecord>& runs) {
  static const QRegularExpression kTerm(R"(^([\w.]+)\s*(==|!=|<=|>=|<|>|=)\s*(.+)$)");
  static const QRegularExpression kAnd(R"(\s+and\s+)", QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression kComparison("[=<>]");
  static const QRegularExpression kIn(R"(^([\w.]+)\s+in\b\s*(.*)$)", QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression kListed(R"(^[\(\[]\s*(.*?)\s*[\)\]]$)");
  const auto comparing = [&](const QString& key, const QString& comparison, QString value) {
    if (value.size() >= 2 && (value.startsWith('"') || value.startsWith('\'')) && value.endsWith(value.front()))
      value = value.mid(1, value.size() - 2);
    if (key.compare("state", Qt::CaseInsensitive) == 0) checkState(value);
    return Term{key.toLower(), comparison, value, numberOf(value), {}};
  };
  for (const QString& part : expression.split(kAnd, Qt::SkipEmptyParts)) {
    const QString trimmed = part.trimmed();
    if (trimmed.isEmpty()) continue;
    if (const auto match = kTerm.match(trimmed); match.hasMatch()) {
      checkName(match.captured(1), runs);
      m_terms.push_back(comparing(match.captured(1), match.captured(2), match.captured(3).trimmed()));
    } else if (const auto in = kIn.match(trimmed); in.hasMatch()) {
      checkName(in.captured(1), runs);
      const auto listed = kListed.match(in.captured(2).trimmed());
      Term term{in.captured(1).toLower(), "in", {}, {}, {}};
      if (listed.hasMatch())
        for (const QString& each : listed.captured(1).split(',', Qt::SkipEmptyParts))
          term.any.push_back(comparing(in.captured(1), "==", each.trimmed()));
      if (term.any.empty())
        throwError(ErrorCode::badArgument, "\"{}\" is not finished: write {} in (a, b)", trimmed.toStdString(),
                   in.captured(1).toStdString());
      m_terms.push_back(std::move(term));
    } else if (trimmed.contains(kComparison)) {
      throwError(ErrorCode::badArgument, "\"{}\" is not finished: write key == value", trimmed.toStdString());
    } else {
      m_terms.push_back({{}, {}, trimmed, {}, {}});
    }
  }
}

bool RunFilter::wantsDeleted() const {
  const auto asks = [](const Term& term) {
    return term.key == "state" && term.value.compare(kDeleted, Qt::CaseInsensitive) == 0;
  };
  return std::any_of(m_terms.begin(), m_terms.end(), [&](const Term& term) {
    return asks(term) || std::any_of(term.any.begin(), term.any.end(), asks);
  });
}

bool RunFilter::holds(const RunRecord& run) const {
  return std::all_of(m_terms.begin(), m_terms.end(), [&](const Term& term) { return holds(term, run); });
}

bool RunFilter::holds(const Term& term, const RunRecord& run) {
  if (term.comparison.isEmpty()) {
    for (const QString& place : {run.name, toText(run.state), run.tags.join(' '), run.note})
      if (place.contains(term.value, Qt::CaseInsensitive)) return true;
    for (const auto& [key, value] : run.settings.items())
      if (textOf(value).contains(term.value, Qt::CaseInsensitive)) return true;
    return false;
  }
  if (!term.any.empty())
    return std::any_of(term.any.begin(), term.any.end(), [&](const Term& each) { return holds(each, run); });
  if (term.key == "tag") return run.tags.contains(term.value, Qt::CaseInsensitive) == (term.comparison != "!=");
  QString text;
  const auto field = std::find_if(std::begin(kFields), std::end(kFields),
                                  [&](const RecordField& each) { return term.key == QLatin1String(each.name); });
  if (field != std::end(kFields)) {
    text = field->of(run);
  } else {
    for (const auto& [name, value] : run.settings.items())
      if (names(term.key, QString::fromStdString(name))) {
        text = textOf(value);
        break;
      }
  }
  bool leftNumber = false;
  const double left = text.toDouble(&leftNumber);
  int order = 0;
  if (leftNumber && term.number) {
    if (std::isnan(left) || std::isnan(*term.number)) return term.comparison == "!=";
    order = left < *term.number ? -1 : left > *term.number;
  } else {
    order = text.compare(term.value, Qt::CaseInsensitive);
  }
  if (term.comparison == "==" || term.comparison == "=") return order == 0;
  if (term.comparison == "!=") return order != 0;
  if (text.isEmpty()) return false;
  if (term.comparison == "<") return order < 0;
  if (term.comparison == ">") return order > 0;
  return term.comparison == "<=" ? order <= 0 : order >= 0;
}

}  // namespace loom
