#pragma once
// "Save to my layers": name, icon and help of a unit, and of each argument its default, range and help, which become
// the fields of a layer of one's own.
#include <vector>

#include "widgets/controls/popover.h"
#include "widgets/library/own_layers.h"

class QLineEdit;
class QPlainTextEdit;
class QLabel;

namespace loom {

class Button;
class ChoiceField;

class SaveLayerCard : public Popover {
  Q_OBJECT

 public:
  SaveLayerCard(const Project& project, const Network& unit, const OwnLayers& library, QWidget* window);

  // Why it was not saved, under what was typed.
  void refuse(const QString& reason);

 Q_SIGNALS:
  // The unit as it is to be: its name, words and arguments; the drawing is the one it has.
  void wanted(const loom::Network& unit);

 private:
  struct Row {
    QLineEdit *value, *low, *high, *help;
  };
  void refresh();
  bool read(Network& unit, QString& reason) const;

  const Project& m_project;
  const Network m_unit;
  const OwnLayers& m_library;
  QLineEdit* m_name;
  ChoiceField* m_icon;
  QPlainTextEdit* m_help;
  std::vector<Row> m_rows;
  QLabel *m_words, *m_fault;
  Button* m_save;
};

}  // namespace loom
