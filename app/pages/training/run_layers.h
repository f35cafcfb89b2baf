#pragma once
// What a run recorded of its layers: how the activations of one, or the slopes of the loss by them, are distributed
// over the steps; and the run's own drawing in colours at a step, which the canvas shows, too.
#include <QStackedWidget>

#include "app/page.h"
#include "widgets/chart/distribution_view.h"

class QLabel;

namespace loom {

class Button;
class ChoiceField;
class EmptyState;
class LayerRecords;
class RunDrawing;
class SegmentedControl;

class RunLayers : public QStackedWidget {
  Q_OBJECT

 public:
  explicit RunLayers(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void cursorAt(std::int64_t step);    // of the run's charts
  void saveTo(const QString& folder);  // PNG and CSV of what is seen
  const DistributionView& view() const { return *m_view; }
  const RunDrawing& drawing() const { return *m_drawing; }

 private:
  void display();
  void listLayers();
  void showFacts();
  AppContext& m_context;
  LayerRecords& m_records;
  QString m_run, m_listed;
  ChoiceField* m_layer;
  SegmentedControl* m_part;
  Button *m_canvas, *m_save;
  DistributionView* m_view;
  RunDrawing* m_drawing;
  QLabel *m_facts, *m_fault;
  EmptyState* m_empty;
};

}  // namespace loom
