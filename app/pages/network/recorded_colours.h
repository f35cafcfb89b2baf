#pragma once
// The cards in the colours of what a run recorded: gradient norm, update ratio, dead units, activation range, at the
// step that LayerRecords shows. For the drawing and what is opened in place in it.
#include <QObject>
#include <QTimer>

namespace loom {

struct AppContext;
struct RecordedFigures;
class LayerRecords;
class NetworkScene;
class NetworkStrip;
class NetworkView;

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
