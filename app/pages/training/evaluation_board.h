#pragma once
// An evaluation that is there: matrix, classes and curves at the left, the samples it gets wrong beside them, figures
// at the right (in a narrow window above the matrix).
#include <QWidget>
#include <memory>

#include "engine/evaluation/report.h"
#include "widgets/evaluation/class_table_model.h"
#include "widgets/table/table_sort_model.h"

class QHBoxLayout;
class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace loom {

class Button;
class ChoiceField;
class ConfusionView;
class DataTable;
class EvaluationSide;
class PlotView;
class SampleCards;
class SegmentedControl;
class Switch;

class EvaluationBoard : public QWidget {
  Q_OBJECT

 public:
  explicit EvaluationBoard(QWidget* parent = nullptr);
  void setReport(std::shared_ptr<const EvaluationReport> report);
  const EvaluatedOutput* output() const;  // that is shown; null without a report
  SampleCards& cards() { return *m_cards; }
  EvaluationSide& side() { return *m_side; }
  ConfusionView& matrix() { return *m_matrix; }
  // Everything that is drawn as pictures on paper, by name: "confusion", "roc" ...
  QList<std::pair<QString, QImage>> pictures() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Filter {
    enum Kind { wrong, chosen, leastSure, all } kind;
    QString name;
  };
  QWidget* makeMatrix();
  QWidget* makeTable();
  QWidget* makeSamples();
  void showOutput(int index);
  void showFilters(Filter::Kind current);
  void applyFilter();
  void matrixChosen();
  void rowChosen();
  void showCurves(int strong);
  void placeSide();

  std::shared_ptr<const EvaluationReport> m_report;
  std::shared_ptr<const EvaluatedOutput> m_output;
  std::vector<std::size_t> m_points;  // samples of the scatter
  ClassTableModel m_model;
  TableSortModel m_sorted;
  QList<Filter> m_filters;
  bool m_following = false;  // matrix and table choose each other

  QHBoxLayout* m_row;
  QVBoxLayout* m_left;
  QScrollArea *m_leftScroll, *m_sideScroll;
  QWidget *m_matrixPart, *m_sideLine;
  ChoiceField *m_outputs, *m_order;
  SegmentedControl *m_unit, *m_filter;
  Switch* m_wrongOnly;
  ConfusionView* m_matrix;
  QLabel *m_matrixWords, *m_cellWords, *m_tableTitle, *m_sampleWords;
  DataTable* m_table;
  PlotView *m_first, *m_second;
  SampleCards* m_cards;
  EvaluationSide* m_side;
};

}  // namespace loom
