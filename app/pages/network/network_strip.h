#pragma once
// The strip under the canvas: what the network costs as a whole, and the zoom.
#include <QString>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/planner/node_costs.h"
#include "widgets/document/newest_task.h"

class QLabel;

namespace loom {

class NetworkScene;
class NetworkView;

class NetworkStrip : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkStrip(NetworkView& view, QWidget* parent = nullptr);
  QString figures() const;  // as text
  // Seconds of a step by layer, as the newest run measured them.
  using Measured = std::map<std::string, double>;
  void setMeasured(std::function<Measured()> ask) { m_measured = std::move(ask); }
  void forecastSoon() { m_soon.start(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void refreshZoom();
  // What training will need, from the program that would run; in the background, as a large network takes a moment to lower.
  void forecast();
  // The drawings in sight: the page's, what is opened in place in it, and what is in that.
  struct Shown {
    NetworkScene* scene = nullptr;
    std::string drawing;
    std::vector<StepPlan::Use> through;  // the nodes in which they are opened, the outermost first
    bool operator==(const Shown&) const = default;
  };
  std::vector<Shown> shown() const;

  NetworkView& m_view;
  QLabel *m_figures, *m_zoom;
  QTimer m_soon;
  QString m_memory, m_time, m_batch;  // "12.4 MB", "90 ms" of a step, and "at batch 64, predicted"; empty where the project cannot be trained
  NewestTask m_forecast;
  std::vector<Shown> m_planned;  // what was asked for last
  std::function<Measured()> m_measured;
};

}  // namespace loom
