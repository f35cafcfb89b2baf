#include "launcher/store/filter_terms.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <iterator>

namespace loom {
namespace {

QString numberText(double value) {
  return QString::number(value, 'g', 17);
}

constexpr RecordField kFields[] = {
    {"name", [](const RunRecord& run) { return run.name; }},
    {"state",
     [](const RunRecord& run) {
       return run.deleted > 0 ? kDeletedState : run.archived ? kArchivedState : QString::fromLatin1(toKey(run.state));
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

// Whether it may be part of a number as JSON has it: else no number needs to be written out.
bool mayBeOfNumber(const QString& word) {
  return std::all_of(word.begin(), word.end(),
                     [](QChar each) { return each.isDigit() || QStringLiteral("+-.eE").contains(each); });
}

bool isLatin(const QString& word) {
  return std::all_of(word.begin(), word.end(), [](QChar each) { return each.unicode() < 128; });
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

bool asksForPart(const FilterTerm& term) {
  return term.comparison.endsWith('~');
}

bool holdsOfText(const FilterTerm& term, const QString& text) {
  if (asksForPart(term)) return text.contains(term.value, Qt::CaseInsensitive) != term.comparison.startsWith('!');
  bool isNumber = false;
  const double number = text.toDouble(&isNumber);
  if (isNumber && term.number) return holdsOfNumbers(term.comparison, number, *term.number);
  const bool isOrder = term.comparison != "==" && term.comparison != "!=";
  return (!isOrder || !text.isEmpty()) && holdsOrder(term.comparison, text.compare(term.value, Qt::CaseInsensitive));
}

}  // namespace

std::span<const RecordField> recordFields() {
  return kFields;
}

const RecordField* recordField(std::string_view key) {
  const auto* const found =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const RecordField& each) { return key == each.name; });
  return found == std::end(kFields) ? nullptr : found;
}

bool isCalled(std::string_view setting, std::string_view key) {
  if (same(key, setting)) return true;
  const std::size_t dot = setting.rfind('.');
  if (dot == std::string_view::npos) return false;
  return same(key, setting.substr(dot + 1)) ||
         (same("name", setting.substr(dot + 1)) && same(key, setting.substr(0, dot)));
}

SoughtWord::SoughtWord(const QString& word)
    : m_word(word),
      m_matcher(word, Qt::CaseInsensitive),
      m_letters(isLatin(word) ? word.toLower().toStdString() : std::string()),
      m_ofNumber(mayBeOfNumber(word)) {
  for (std::size_t i = 0; i < m_inState.size(); ++i)
    m_inState[i] = toText(static_cast<RunState>(i)).contains(word, Qt::CaseInsensitive);
}

bool SoughtWord::isInRecord(const RunRecord& run) const {
  return m_inState[static_cast<std::size_t>(run.state)] || m_matcher.indexIn(run.name) >= 0 ||
         m_matcher.indexIn(run.note) >= 0 || (!run.tags.isEmpty() && m_matcher.indexIn(run.tags.join(' ')) >= 0);
}

bool SoughtWord::isInValue(const Json& setting) const {
  // Where both are plain letters, without making a text of another kind of it.
  if (setting.is_string() && !m_letters.empty()) {
    const std::string& text = setting.get_ref<const std::string&>();
    return std::search(text.begin(), text.end(), m_letters.begin(), m_letters.end(),
                       [](char a, char b) { return small(a) == b; }) != text.end();
  }
  if (setting.is_number() && !m_ofNumber) return false;
  return textOf(setting).contains(m_word, Qt::CaseInsensitive);
}

bool holdsForTags(const FilterTerm& term, const RunRecord& run) {
  const bool negated = term.comparison.startsWith('!');
  const bool part = asksForPart(term);
  return negated != std::any_of(run.tags.begin(), run.tags.end(), [&](const QString& tag) {
           return part ? tag.contains(term.value, Qt::CaseInsensitive)
                       : tag.compare(term.value, Qt::CaseInsensitive) == 0;
         });
}

bool holdsForField(const FilterTerm& term, const RecordField& field, const RunRecord& run) {
  if (term.number && field.number && !asksForPart(term))
    return holdsOfNumbers(term.comparison, field.number(run), *term.number);
  return holdsOfText(term, field.of(run));
}

bool holdsForValue(const FilterTerm& term, const Json* setting) {
  if (setting && setting->is_number() && term.number && !asksForPart(term))
    return holdsOfNumbers(term.comparison, setting->get<double>(), *term.number);
  return holdsOfText(term, setting ? textOf(*setting) : QString());
}

}  // namespace loom
