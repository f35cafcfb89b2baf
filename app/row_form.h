#pragma once
// A row that is typed in: a field for each number that the network of a run reads, under its column's name.
#include <QList>
#include <QWidget>

#include "launcher/store/run_record.h"

class QLineEdit;
class QGridLayout;

namespace loom {

class Button;

// A column of the CSV that a network predicts from.
struct RowColumn {
  QString header;  // "x__0", as the CSV has it
  QString label;   // "humidity", what a person reads
};
// Of the network that a run predicts with, as its folder tells: empty where it reads pictures, sounds or more numbers
// than a person would type.
QList<RowColumn> rowColumnsOf(const RunRecord& run);

class RowForm : public QWidget {
  Q_OBJECT

 public:
  explicit RowForm(QWidget* parent = nullptr);
  void setColumns(const QList<RowColumn>& columns);
  // The row as a CSV. Empty where a field holds no number; it is marked then, and the first such has the keyboard.
  QByteArray csv();
  void focusFirst();
  bool isEmpty() const { return m_columns.isEmpty(); }

 Q_SIGNALS:
  void wanted();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  QList<RowColumn> m_columns;
  QList<QWidget*> m_cells;
  QList<QLineEdit*> m_fields;
  QGridLayout* m_grid;
  Button* m_predict;
};

}  // namespace loom
