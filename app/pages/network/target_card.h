#pragma once
// "What shall be predicted?": the columns of a table, the last one first, each with what it is; and what cannot be told
// from the file: whether whole numbers are classes, which of day and month stands first.
#include "engine/network/start_from_data.h"
#include "widgets/controls/popover.h"

class QLabel;
class QListWidget;

namespace loom {

class Button;
class SegmentedControl;

class TargetCard : public Popover {
  Q_OBJECT

 public:
  // Over `window`; begins by saying that `file` is looked at.
  TargetCard(const QString& file, QWidget* window);

  void showFacts(const StartFacts& facts);
  void showFault(const QString& sentence);
  void setBusy(bool busy);  // what was chosen is being made

 Q_SIGNALS:
  void wanted(const loom::StartChoice& choice);

 private:
  void build();
  void choose();
  void addDates();
  StartChoice choice() const;

  StartFacts m_facts;
  QLabel *m_words, *m_fault, *m_result;
  QListWidget* m_columns;
  QWidget* m_kindRow;
  SegmentedControl* m_kind;
  QWidget* m_dateRows;
  QList<std::pair<std::string, SegmentedControl*>> m_orders;
  Button* m_make;
};

}  // namespace loom
