#include "launcher/store/run_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "engine/base/error.h"
#include "engine/catalogue/entry.h"
#include "engine/network/project.h"
#include "engine/optimizers/optimizer.h"
#include "engine/schedules/schedule.h"
#include "launcher/store/filter_terms.h"
#include "launcher/store/run_filter_parser.h"

namespace loom {
namespace {

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
  for (const RecordField& field : recordFields()) {
    if (key == QLatin1String(field.name)) return;
    shown.insert(QString::fromLatin1(field.name));
  }
  for (const QString& setting : ofRuns) {
    if (isCalled(setting.toStdString(), key.toStdString())) return;
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
  std::vector<std::string> known{kDeletedState.toStdString(), kArchivedState.toStdString()};
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

bool holdsWord(const QString& word, const RunRecord& run) {
  const SoughtWord sought(word);
  return sought.isInRecord(run) || std::any_of(run.settings.begin(), run.settings.end(),
                                               [&](const Json& value) { return sought.isInValue(value); });
}

bool holdsComparison(const FilterTerm& term, const RunRecord& run) {
  if (term.key == kTagKey) return holdsForTags(term, run);
  if (const RecordField* const field = recordField(term.key)) return holdsForField(term, *field, run);
  for (auto each = run.settings.begin(); each != run.settings.end(); ++each)
    if (isCalled(each.key(), term.key)) return holdsForValue(term, &*each);
  return holdsForValue(term, nullptr);
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
  return asksForState(kDeletedState);
}

bool RunFilter::wantsArchived() const {
  return asksForState(kArchivedState);
}

bool RunFilter::holds(const RunRecord& run) const {
  return termHolds(m_term, run);
}

}  // namespace loom
