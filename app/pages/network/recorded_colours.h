#pragma once
// The cards in the colours of what a run recorded: gradient norm, update ratio, dead units, activation range, at the
// step that LayerRecords shows. For the drawing and what is opened in place in it.
#include <QObject>
#include <QString>
#include <QTimer>
#include <vector>

namespace loom {

struct AppContext;
struct AskedDrawing;
struct Project;
struct RecordedFigures;
struct RecordedStep;
class LayerRecords;
class NetworkScene;
class NetworkStrip;
class NetworkView;

// What was recorded of the nodes of a drawing, at the step that is shown. `run`: how it is called.
RecordedFigures recordedFiguresOf(const Project& project, const AskedDrawing& asked, const LayerRecords& records,
                                  const QString& run);
// The same of the steps that a run recorded; `shown` is one of them, null: none.
RecordedFigures recordedFiguresOf(const Project& project, const AskedDrawing& asked,
                                  const std::vector<RecordedStep>& steps, const RecordedStep* shown,
                                  const QString& run);

class RecordedColours : public QObject {
  Q_OBJECT

 public:
  RecordedColours(AppContext& context, NetworkView& view, NetworkStrip& strip);
  void refresh();  // at once, or when the canvas is seen again

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  AppContext& m_context;
  NetworkView& m_view;
  NetworkStrip& m_strip;
  LayerRecords& m_records;
  QTimer m_soon;
  bool m_waits = false;  // for the canvas to be seen
};

}  // namespace loom
