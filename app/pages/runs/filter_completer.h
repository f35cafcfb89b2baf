#pragma once
// Completes what is typed into the filter of the runs: names of settings and of what else can be compared, then the
// values that the runs have. Down chooses, Tab or Enter takes, Esc leaves it as it is; Ctrl+Space lists all.
#include <QObject>
#include <functional>

class QCompleter;
class QLineEdit;
class QStringListModel;

namespace loom {

class FilterCompleter : public QObject {
  Q_OBJECT

 public:
  // `names`: what can stand left of a comparison; `values`: of one of them, as they are typed.
  struct Source {
    std::function<QStringList()> names;
    std::function<QStringList(const QString& name)> values;
  };
  FilterCompleter(QLineEdit& field, Source source);
  // What would be offered for this text with the cursor at its end.
  QStringList offers(const QString& text) const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void offer(bool all);
  void take(const QString& word);
  QLineEdit& m_field;
  Source m_source;
  QStringListModel* m_words;
  QCompleter* m_completer;
};

}  // namespace loom
