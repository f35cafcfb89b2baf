#pragma once
// The strip under the canvas: what the network costs as a whole, from what its time is predicted, and the zoom.
#include <QString>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>
#include <vector>

#include "app/pages/network/step_forecast.h"
#include "widgets/document/newest_task.h"

class QLabel;

namespace loom {

class Button;
class NetworkScene;
class NetworkView;
class ProcessorMeasurement;

class NetworkStrip : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkStrip(NetworkView& view, QWidget* parent = nullptr);
  QString figures() const;  // as text
  // Seconds of a step by layer, as the newest run measured them.
  void setMeasured(std::function<MeasuredLayers()> ask) { m_measured = std::move(ask); }
  void forecastSoon();
  bool settled() const { return !m_stale; }
  const StepForecast& shownForecast() const { return m_forecast; }
  // Once, in the background; the times of every later plan are from it.
  void measureProcessor();
  void cancelMeasuring();
  ProcessorMeasurement& measurement() const { return *m_measurement; }

  // The drawings in sight: the page's, what is opened in place in it, and what is in that.
  struct Shown : AskedDrawing {
    NetworkScene* scene = nullptr;
  };
  std::vector<Shown> shown() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void refreshZoom();
  void refreshSource();
  // What training will need, from the program that would run; in the background, as a large network takes a moment.
  void forecast();
  void take(StepForecast found, const std::vector<AskedDrawing>& asked);
  void setStale(bool stale);
  enum class Words { whole, brief, least };
  QString sentence(Words words) const;
  std::vector<AskedDrawing> asked() const;

  NetworkView& m_view;
  QLabel *m_figures, *m_zoom;
  Button *m_source, *m_cancel;
  QWidget* m_right;  // what stands at the right of the figures
  QTimer m_soon;
  StepForecast m_forecast;
  bool m_stale = false;   // what is shown is of before the last change
  QString m_notMeasured;  // why the last measurement failed
  NewestTask m_task;
  std::shared_ptr<PlanAnswer> m_last = std::make_shared<PlanAnswer>();
  std::vector<AskedDrawing> m_planned;  // what was asked for last
  std::function<MeasuredLayers()> m_measured;
  ProcessorMeasurement* m_measurement;
};

}  // namespace loom
