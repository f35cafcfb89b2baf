#include "launcher/store/run_filter.h"

#include <fmt/format.h>

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>

#include "engine/base/error.h"
#include "engine/catalogue/entry.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"
#include "launcher/store/run_filter_parser.h"

namespace loom {
namespace {

const QString kDeleted = QStringLiteral("deleted"), kArchived = QStringLiteral("archived");

QString numberText(double value) {
  return QString::number(value, 'g', 17);
}

// What a record itself says under a name; a setting of the same name comes after it.
struct RecordField {
  const char* name;
  QString (*of)(const RunRecord& run);
  double (*number)(const RunRecord& run) = nullptr;  // the same, where it always is one
};
constexpr RecordField kFields[] = {
    {"name", [](const RunRecord& run) { return run.name; }},
    {"state",
     [](const RunRecord& run) {
       return run.deleted > 0 ? kDeleted : run.archived ? kArchived : QString::fromLatin1(toKey(run.state));
     }},
    {"best", [](const RunRecord& run) { return numberText(run.best); }, [](const RunRecord& run) { return run.best; }},
    {"last", [](const RunRecord& run) { return numberText(run.last); }, [](const RunRecord& run) { return run.last; }},
    {"loss", [](const RunRecord& run) { return numberText(run.loss); }, [](const RunRecord& run) { return run.loss; }},
    {"step", [](const RunRecord& run) { return QString::number(run.step); },
     [](const RunRecord& run) { return static_cast<double>(run.step); }},
    {"epoch", [](const RunRecord& run) { return numberText(run.epoch); },
     [](const RunRecord& run) { return run.epoch; }},
    {"duration", [](const RunRecord& run) { return QString::number(run.duration); },
     [](const RunRecord& run) { return run.duration; }},
    {"attempt", [](const RunRecord& run) { return QString::number(run.attempt); },
     [](const RunRecord& run) { return static_cast<double>(run.attempt); }},
    {"parameters", [](const RunRecord& run) { return QString::number(run.parameters); },
     [](const RunRecord& run) { return static_cast<double>(run.parameters); }},
    {"host", [](const RunRecord& run) { return run.host; }},
    {"device", [](const RunRecord& run) { return run.device; }},
    {"note", [](const RunRecord& run) { return run.note; }},
    {"project", [](const RunRecord& run) { return QFileInfo(run.project).completeBaseName(); }},
};

QString textOf(const Json& value) {
  return value.is_string() ? QString::fromStdString(value.get<std::string>()) : QString::fromStdString(value.dump());
}

char small(char each) {
  return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
}

bool same(std::string_view key, std::string_view text) {
  return key.size() == text.size() &&
         std::equal(key.begin(), key.end(), text.begin(), [](char a, char b) { return a == small(b); });
}

// Its whole name, its last part, or the group whose "name" it is: "optimizer" for optimizer.name. `key` in small
// letters.
bool names(std::string_view key, std::string_view setting) {
  if (same(key, setting)) return true;
  const std::size_t dot = setting.rfind('.');
  if (dot == std::string_view::npos) return false;
  return same(key, setting.substr(dot + 1)) ||
         (same("name", setting.substr(dot + 1)) && same(key, setting.substr(0, dot)));
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

void checkName(const QString& given, const QStringList& ofRuns) {
  const QString key = given.toLower();
  if (key == "tag") return;
  std::set<QString> shown{QStringLiteral("tag")};
  for (const RecordField& field : kFields) {
    if (key == QLatin1String(field.name)) return;
    shown.insert(QString::fromLatin1(field.name));
  }
  for (const QString& setting : ofRuns) {
    if (names(key.toStdString(), setting.toStdString())) return;
    shown.insert(shortName(setting));
  }
  // Runs that wait have no settings yet: nothing can be said of names then.
  const bool told = !ofRuns.isEmpty();
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
  std::vector<std::string> known{kDeleted.toStdString(), kArchived.toStdString()};
  for (int i = 0; i <= static_cast<int>(RunState::failed); ++i) known.emplace_back(toKey(static_cast<RunState>(i)));
  const std::string given = value.toLower().toStdString();
  if (std::find(known.begin(), known.end(), given) == known.end())
    throwError(ErrorCode::badArgument, "'{}' is no state of a run; there are {}", value.toStdString(),
               fmt::format("{}", fmt::join(known, ", ")));
}

RunFilterParser::Check checking(const QStringList& settings) {
  return [settings](const QString& name, const QString& value) {
    checkName(name, settings);
    if (!value.isEmpty() && name.compare("state", Qt::CaseInsensitive) == 0) checkState(value);
  };
}

// Whether it may be part of a number as JSON has it: else no number needs to be written out.
bool mayBeOfNumber(const QString& word) {
  return std::all_of(word.begin(), word.end(),
                     [](QChar each) { return each.isDigit() || QStringLiteral("+-.eE").contains(each); });
}

bool isLatin(const QString& word) {
  return std::all_of(word.begin(), word.end(), [](QChar each) { return each.unicode() < 128; });
}

// Whether one of the values holds the word; where both are plain letters, without making a text of another kind of it.
bool holdsWord(const std::string& text, const QString& word, std::string_view letters) {
  if (letters.empty()) return QString::fromStdString(text).contains(word, Qt::CaseInsensitive);
  return std::search(text.begin(), text.end(), letters.begin(), letters.end(),
                     [](char a, char b) { return small(a) == b; }) != text.end();
}

bool holdsWord(const QString& word, const RunRecord& run) {
  for (const QString& place : {run.name, run.note})
    if (place.contains(word, Qt::CaseInsensitive)) return true;
  if (!run.tags.isEmpty() && run.tags.join(' ').contains(word, Qt::CaseInsensitive)) return true;
  if (toText(run.state).contains(word, Qt::CaseInsensitive)) return true;
  const bool ofNumber = mayBeOfNumber(word);
  const std::string letters = isLatin(word) ? word.toLower().toStdString() : std::string();
  return std::any_of(run.settings.begin(), run.settings.end(), [&](const Json& each) {
    if (each.is_string()) return holdsWord(each.get_ref<const std::string&>(), word, letters);
    return (ofNumber || !each.is_number()) && textOf(each).contains(word, Qt::CaseInsensitive);
  });
}

const RecordField* fieldUnder(const std::string& key) {
  const auto* const found =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const RecordField& each) { return key == each.name; });
  return found == std::end(kFields) ? nullptr : found;
}

const Json* settingUnder(const std::string& key, const RunRecord& run) {
  for (auto each = run.settings.begin(); each != run.settings.end(); ++each)
    if (names(key, each.key())) return &*each;
  return nullptr;
}

// What a run has under a name; empty where it has nothing.
QString textUnder(const std::string& key, const RunRecord& run) {
  if (const RecordField* const field = fieldUnder(key)) return field->of(run);
  const Json* const setting = settingUnder(key, run);
  return setting ? textOf(*setting) : QString();
}

// The same as a number, where it is none that has to be read from a text: of thousands of runs that takes its time.
std::optional<double> numberUnder(const std::string& key, const RunRecord& run) {
  if (const RecordField* const field = fieldUnder(key))
    return field->number ? std::optional(field->number(run)) : std::nullopt;
  const Json* const setting = settingUnder(key, run);
  return setting && setting->is_number() ? std::optional(setting->get<double>()) : std::nullopt;
}

bool holdsOrder(const QString& comparison, int order) {
  if (comparison == "==") return order == 0;
  if (comparison == "!=") return order != 0;
  if (comparison == "<") return order < 0;
  if (comparison == ">") return order > 0;
  return comparison == "<=" ? order <= 0 : order >= 0;
}

bool holdsOfNumbers(const QString& comparison, double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return comparison == "!=";
  return holdsOrder(comparison, left < right ? -1 : left > right);
}

bool holdsTag(const FilterTerm& term, const RunRecord& run) {
  const bool negated = term.comparison.startsWith('!');
  const bool part = term.comparison.endsWith('~');
  return negated != std::any_of(run.tags.begin(), run.tags.end(), [&](const QString& tag) {
           return part ? tag.contains(term.value, Qt::CaseInsensitive)
                       : tag.compare(term.value, Qt::CaseInsensitive) == 0;
         });
}

bool holdsComparison(const FilterTerm& term, const RunRecord& run) {
  if (term.key == "tag") return holdsTag(term, run);
  const bool part = term.comparison.endsWith('~');
  if (term.number && !part)
    if (const auto number = numberUnder(term.key, run)) return holdsOfNumbers(term.comparison, *number, *term.number);
  const QString text = textUnder(term.key, run);
  if (part) return text.contains(term.value, Qt::CaseInsensitive) != term.comparison.startsWith('!');
  bool isNumber = false;
  const double number = text.toDouble(&isNumber);
  if (isNumber && term.number) return holdsOfNumbers(term.comparison, number, *term.number);
  const bool isOrder = term.comparison != "==" && term.comparison != "!=";
  return (!isOrder || !text.isEmpty()) && holdsOrder(term.comparison, text.compare(term.value, Qt::CaseInsensitive));
}

bool termHolds(const FilterTerm& term, const RunRecord& run) {
  const auto part = [&](const FilterTerm& each) { return termHolds(each, run); };
  switch (term.kind) {
    case FilterTerm::Kind::nothing:
      return true;
    case FilterTerm::Kind::word:
      return holdsWord(term.value, run);
    case FilterTerm::Kind::comparison:
      return holdsComparison(term, run);
    case FilterTerm::Kind::all:
      return std::all_of(term.parts.begin(), term.parts.end(), part);
    case FilterTerm::Kind::anyOf:
    case FilterTerm::Kind::either:
      return std::any_of(term.parts.begin(), term.parts.end(), part);
    case FilterTerm::Kind::negation:
      return !termHolds(term.parts.front(), run);
  }
  return true;
}

}  // namespace

RunFilter::RunFilter(const QString& expression, const QStringList& settings) : m_settings(settings) {
  RunFilterParser parser(expression, RunFilterParser::Faults::thrown, checking(settings));
  m_term = parser.parse();
  m_lastWord = parser.lastWord();
  m_beforeLastWord = expression.left(parser.lastWordAt());
}

RunFilter RunFilter::asFarAsTyped(const QString& expression, const QStringList& settings) {
  RunFilterParser parser(expression, RunFilterParser::Faults::leftOut, checking(settings));
  RunFilter filter;
  filter.m_term = parser.parse();
  filter.m_settings = settings;
  filter.m_lastWord = parser.lastWord();
  filter.m_beforeLastWord = expression.left(parser.lastWordAt());
  return filter;
}

QStringList RunFilter::settingsOf(const QList<RunRecord>& runs) {
  std::set<QString> names;
  for (const RunRecord& run : runs)
    for (const auto& item : run.settings.items()) names.insert(QString::fromStdString(item.key()));
  return {names.begin(), names.end()};
}

bool RunFilter::asksForState(const QString& state) const {
  const std::function<bool(const FilterTerm&)> asks = [&](const FilterTerm& term) {
    return (term.key == "state" && term.value.compare(state, Qt::CaseInsensitive) == 0) ||
           std::any_of(term.parts.begin(), term.parts.end(), asks);
  };
  return asks(m_term);
}

bool RunFilter::wantsDeleted() const {
  return asksForState(kDeleted);
}

bool RunFilter::wantsArchived() const {
  return asksForState(kArchived);
}

bool RunFilter::holds(const RunRecord& run) const {
  return termHolds(m_term, run);
}

}  // namespace loom
