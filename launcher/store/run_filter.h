#pragma once
// Which runs are meant: words, or comparisons joined by "and": `optimizer in (LARS, LAMB) and epochs > 100 and best >=
// 0.9`.
// Numbers may be formulas as number fields take them (`learning_rate <= 0.1*32`); what compares names and states is no
// formula. The Runs page and `gradloom runs --filter` read it alike.
#include <QList>
#include <QString>
#include <optional>
#include <vector>

#include "launcher/store/run_record.h"

namespace loom {

class RunFilter {
 public:
  RunFilter() = default;  // every run
  // Names that neither a record nor a setting of any of `runs` has are an error. Throws Error(badArgument) with what to
  // write instead.
  RunFilter(const QString& expression, const QList<RunRecord>& runs);

  bool holds(const RunRecord& run) const;
  bool isEmpty() const { return m_terms.empty(); }
  bool wantsDeleted() const;  // it asks for `state == deleted`: such runs are to be offered to it

 private:
  struct Term {
    QString key, comparison, value;  // without a comparison: a word to be found anywhere
    std::optional<double> number;    // what the value is, as a number field reads it; none: a text
    std::vector<Term> any;           // `key in (a, b)`: one of these holds
  };
  static bool holds(const Term& term, const RunRecord& run);
  std::vector<Term> m_terms;
};

}  // namespace loom
