#pragma once
// A row that is typed in: a field for each column that a run predicts from, as the file that it was trained on has it.
#include <QList>
#include <QStringList>
#include <QWidget>

#include "launcher/store/run_record.h"

class QGridLayout;

namespace loom {

class Button;

// A column of the CSV that a network predicts from.
struct RowColumn {
  enum class Kind { number, words, date };
  QString header;  // "x__0", as the CSV has it
  QString label;   // "humidity", what a person reads
  Kind kind = Kind::number;
  QStringList words;        // that were met in training
  QString hint;             // what usually stands there: "12 … 214", "2021-03-31"
  bool mayBeEmpty = false;  // the run's preparation fills it
  bool percents = false;    // the column's numbers have the sign; it need not be typed
  // What a comma before three digits is in the file that was trained on: 2,500.
  enum class Comma { either, ofDecimals, ofThousands };
  Comma comma = Comma::either;
};

// What a run predicts from, as its folder tells.
struct RunInput {
  enum class Takes { anything, rows, pictures, sounds };
  Takes takes = Takes::anything;
  QList<RowColumn> columns;  // empty where it reads pictures, sounds or more numbers than a person would type
};
RunInput runInputOf(const RunRecord& run);

class RowForm : public QWidget {
  Q_OBJECT

 public:
  explicit RowForm(QWidget* parent = nullptr);
  void setColumns(const QList<RowColumn>& columns);
  // The row as a CSV. Empty where a field holds nothing of its kind; it is marked then, the first such has the
  // keyboard, and wrong() says what it wants.
  QByteArray csv();
  QString wrong() const { return m_wrong; }
  void focusFirst();
  bool isEmpty() const { return m_columns.isEmpty(); }

 Q_SIGNALS:
  void wanted();
  void arranged();  // its height may be another

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;  // cells are wider where texts are larger

 private:
  void arrange();
  QWidget* fieldOf(const RowColumn& column);
  QList<RowColumn> m_columns;
  QList<QWidget*> m_cells, m_fields;
  QGridLayout* m_grid;
  Button* m_predict;
  QString m_wrong;
  int m_across = 0;
};

}  // namespace loom
