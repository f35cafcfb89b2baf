#pragma once
// Reads the text of a RunFilter.
#include <QStringList>
#include <functional>

#include "launcher/store/run_filter.h"

namespace loom {

class RunFilterParser {
 public:
  enum class Faults { thrown, leftOut };
  // `check`: throws Error(badArgument) where a name, or a value of it, cannot be.
  using Check = std::function<void(const QString& name, const QString& value)>;
  RunFilterParser(QString text, Faults faults, Check check);
  FilterTerm parse();
  // Words at the end that are no comparison, and where they begin; empty = there are none.
  const QString& lastWord() const { return m_lastWord; }
  qsizetype lastWordAt() const { return m_lastWordAt; }

 private:
  FilterTerm either();
  FilterTerm all();
  FilterTerm one();
  FilterTerm term();
  FilterTerm behind(const QString& name, const QString& comparison, qsizetype end, qsizetype from);
  FilterTerm listed(const QString& name, qsizetype from, bool negated);
  FilterTerm compared(const QString& name, const QString& comparison, qsizetype from);
  FilterTerm comparing(const QString& name, const QString& comparison, QString value) const;
  FilterTerm words(qsizetype from);
  static FilterTerm joined(FilterTerm::Kind kind, std::vector<FilterTerm> parts);
  void skipSpace();
  bool atEnd() const { return m_at >= m_text.size(); }
  bool takeWord(const char* word);
  bool wordAt(qsizetype at, const char* word) const;
  QString takeRest();  // up to the next "and", "or" or closing bracket
  QString since(qsizetype from) const { return m_text.mid(from, m_at - from).trimmed(); }
  FilterTerm unfinished(const QString& part, const QString& remedy) const;
  template <class Work>
  FilterTerm guarded(const Work& work) const;

  const QString m_text;
  const Faults m_faults;
  const Check m_check;
  qsizetype m_at = 0;
  QString m_lastWord;
  qsizetype m_lastWordAt = 0;
};

}  // namespace loom
