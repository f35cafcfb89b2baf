#pragma once
// Every command with its keys: search, press new ones, take them away, go back to the usual ones. Each change holds at
// once.
#include "widgets/controls/popover.h"

class QKeySequenceEdit;
class QLabel;
class QTreeWidget;
class QTreeWidgetItem;

namespace loom {

class Button;
class Commands;
class SearchField;

class KeysCard : public Popover {
  Q_OBJECT

 public:
  KeysCard(Commands& commands, QWidget* window);

  void choose(const QString& id);
  QString chosen() const;

 private:
  void fill();
  void filter();
  void refreshChosen();
  void take(const QKeySequence& keys);
  QString placeOf(const QString& scope) const;

  Commands& m_commands;
  SearchField* m_search;
  QTreeWidget* m_list;
  QKeySequenceEdit* m_keys;
  QLabel* m_words;  // who has the keys already
  Button *m_takeOver, *m_none, *m_usual, *m_allUsual;
  QKeySequence m_wanted;
};

}  // namespace loom
