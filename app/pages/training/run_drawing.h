#pragma once
// A run's own drawing in the colours of what it recorded of its layers, at the step where the cursor stands: the same
// colours as on the canvas, whatever is drawn there now.
#include <QWidget>
#include <memory>

#include "app/page.h"
#include "widgets/canvas/recorded_figures.h"
#include "widgets/document/newest_task.h"

namespace loom {

class LayerRecords;
class OverlayView;
class RecordedTools;
struct Project;

class RunDrawing : public QWidget {
  Q_OBJECT

 public:
  RunDrawing(AppContext& context, LayerRecords& records, QWidget* parent = nullptr);
  void setRun(const QString& id);  // read when it is seen
  const OverlayView& view() const { return *m_view; }
  QString fileName() const;                  // "drawing-gradient-norm-step-13"
  bool saveTo(const QString& folder) const;  // that as PNG, and all figures as CSV

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  CostKind kind() const;
  void read();
  void colour();
  AppContext& m_context;
  LayerRecords& m_records;
  QString m_run, m_read;  // that is meant; whose drawing is there
  std::shared_ptr<const Project> m_project;
  RecordedFigures m_figures;
  NewestTask m_reading;
  RecordedTools* m_tools;
  OverlayView* m_view;
};

}  // namespace loom
