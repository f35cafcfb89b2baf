#pragma once
// Where the time of a run's step goes: its layers or its operations, the longest first, measured beside predicted; from
// here the canvas shows it.
#include <QStackedWidget>

#include "app/measured_step.h"
#include "app/page.h"

class QLabel;
class QTableWidget;
class QTableWidgetItem;

namespace loom {

class Button;
class EmptyState;
class SegmentedControl;

class RunTime : public QStackedWidget {
  Q_OBJECT

 public:
  explicit RunTime(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void refresh();  // looks at the run's newest events again
  void setByOperation(bool byOperation);
  bool byOperation() const;
  void showOnCanvas();

 private:
  struct Row {
    QString name;
    double measured = 0, predicted = -1;  // seconds; -1 = not predicted
    bool isLayer = false;
  };
  bool dividedByOperation() const;  // wanted, and the run tells of operations
  QList<Row> rows() const;
  void display(std::optional<MeasuredStep> step);
  void fill();
  void open(int row);

  AppContext& m_context;
  QString m_run;
  std::optional<MeasuredStep> m_step;
  QLabel *m_title, *m_detail;
  SegmentedControl* m_by;
  Button* m_canvas;
  QTableWidget* m_table;
  EmptyState* m_empty;
};

}  // namespace loom
