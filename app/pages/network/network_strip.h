#pragma once
// The strip under the canvas: what the network costs as a whole, and the zoom.
#include <QWidget>

class QLabel;

namespace loom {

class NetworkView;

class NetworkStrip : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkStrip(NetworkView& view, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();
  NetworkView& m_view;
  QLabel *m_figures, *m_zoom;
};

}  // namespace loom
