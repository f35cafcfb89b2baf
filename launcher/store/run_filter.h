#pragma once
// Which runs are meant: words and comparisons, joined by "and", "or", "not" and brackets ("and" binds closer than
// "or"):
//   optimizer in (LARS, LAMB) and (epochs > 100 or best >= 0.9) and not name ~ test
// `~` and `!~`: the text is in it, or not. Words by themselves may stand anywhere in a run. What would be read as
// something else is quoted. Numbers may be formulas as number fields take them (`learning_rate <= 0.1*32`), and per
// cent
// (`best > 99.5 %`); names may be written as columns are headed (`learning rate`). What compares names and states is no
// formula. The Runs page and `gradloom runs --filter` read it alike.
#include <QList>
#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "launcher/store/run_record.h"

namespace loom {

struct FilterTerm {
  enum class Kind { nothing, word, comparison, anyOf, all, either, negation };
  Kind kind = Kind::nothing;
  std::string key;                // in small letters
  QString comparison, value;      // "==", "!=", "<", "~" ...; of a word its text
  std::optional<double> number;   // what the value is, as a number field reads it; none: a text
  std::vector<FilterTerm> parts;  // of anyOf (`key in (a, b)`), all, either, negation
  bool operator==(const FilterTerm&) const = default;
};

class RunFilter {
 public:
  RunFilter() = default;  // every run
  // Names that neither a record nor any of `settings` is called are an error; without any, nothing is said of names.
  // Throws Error(badArgument) with what to write instead.
  RunFilter(const QString& expression, const QStringList& settings);
  RunFilter(const QString& expression, const QList<RunRecord>& runs) : RunFilter(expression, settingsOf(runs)) {}
  static QStringList settingsOf(const QList<RunRecord>& runs);
  // The same without the parts that are not finished or in which a fault is. Never throws.
  static RunFilter asFarAsTyped(const QString& expression, const QStringList& settings);

  bool holds(const RunRecord& run) const;
  const FilterTerm& term() const { return m_term; }
  bool isEmpty() const { return m_term.kind == FilterTerm::Kind::nothing; }
  // It asks for `state == deleted`, `state == archived`: such runs are to be offered to it.
  bool wantsDeleted() const;
  bool wantsArchived() const;
  // The words at its end that stand by themselves, which may be the beginning of a comparison; and what is left of it
  // without them.
  const QString& lastWord() const { return m_lastWord; }
  RunFilter withoutLastWord() const { return asFarAsTyped(m_beforeLastWord, m_settings); }

 private:
  bool asksForState(const QString& state) const;
  FilterTerm m_term;
  QString m_lastWord, m_beforeLastWord;
  QStringList m_settings;
};

}  // namespace loom
