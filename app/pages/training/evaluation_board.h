#pragma once
// An evaluation that is there: matrix, classes and curves at the left, the samples it gets wrong beside them, figures
// at the right (in a narrow window above the matrix).
#include <QImage>
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/evaluation/report.h"
#include "widgets/evaluation/class_table_model.h"
#include "widgets/table/table_sort_model.h"

class QHBoxLayout;
class QLabel;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace loom {

class Button;
class ChoiceField;
class ConfusionView;
class DataTable;
class EvaluationSide;
class MaskTools;
class PlotView;
class SampleCards;
class SamplePanel;
class SegmentedControl;
class Switch;

// A chart or table of an evaluation that can leave it by itself: "roc".
struct EvaluationPart {
  QString name, title;
  std::function<QImage()> picture;     // on paper, by the window's thread; empty = it has none
  std::function<std::string()> table;  // as CSV, on any thread, also when the board shows another
};

class EvaluationBoard : public QWidget {
  Q_OBJECT

 public:
  explicit EvaluationBoard(QWidget* parent = nullptr);
  void setReport(std::shared_ptr<const EvaluationReport> report);
  const EvaluatedOutput* output() const;  // that is shown; null without a report
  SampleCards& cards() { return *m_cards; }
  EvaluationSide& side() { return *m_side; }
  ConfusionView& matrix() { return *m_matrix; }
  SamplePanel& panel() { return *m_panel; }
  MaskTools& maskTools() { return *m_maskTools; }
  void openSample(int card);  // in the place of the cards
  void closeSample();
  bool showsSample() const;
  // The same output of another run on the same samples: what is right now and was wrong there can be shown. Null: none.
  void setOther(std::shared_ptr<const EvaluationReport> other);
  void showChanges(bool nowRight);
  QList<EvaluationPart> parts() const;
  // Everything that is drawn as pictures on paper, by name: "confusion", "roc" ...
  QList<std::pair<QString, QImage>> pictures() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Filter {
    enum Kind { wrong, chosen, leastSure, all, nowRight, nowWrong } kind;
    QString name;
  };
  QWidget* makeMatrix();
  QWidget* makeTable();
  QWidget* makeSamples();
  void showOutput(int index);
  void showFilters(Filter::Kind current);
  void applyFilter();
  std::vector<std::size_t> changed(bool nowRight) const;
  void sayPlaces(const Filter& filter, std::size_t count);
  void matrixChosen();
  void rowChosen();
  void showCurves(int strong);
  void placeSide();

  std::shared_ptr<const EvaluationReport> m_report, m_other;
  std::shared_ptr<const EvaluatedOutput> m_output;
  std::vector<std::size_t> m_points;  // samples of the scatter
  ClassTableModel m_model;
  TableSortModel m_sorted;
  QList<Filter> m_filters;
  bool m_following = false;               // matrix and table choose each other
  std::optional<Filter::Kind> m_changes;  // that were asked for

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
  ChoiceField *m_columns, *m_worstBy;
  SampleCards* m_cards;
  MaskTools* m_maskTools;     // where the output is a class for each place
  QStackedWidget* m_samples;  // cards, or one of them opened
  SamplePanel* m_panel;
  EvaluationSide* m_side;
};

}  // namespace loom
