#pragma once
// The right side of the Settings page: the whole run with its handles, the range test, the noise scale, how it scales,
// and what to know before training.
#include <QWidget>

class QBoxLayout;

namespace loom {

class NoiseCard;
class ProjectDocument;
class RangeCard;
class RunForecast;
class ScalingCard;
class SchedulePreview;
class TrainAdvice;
class Workspace;

class RunCockpit : public QWidget {
  Q_OBJECT

 public:
  RunCockpit(ProjectDocument& document, Workspace& workspace, QWidget* parent = nullptr);

  SchedulePreview* preview() const { return m_preview; }
  TrainAdvice* advice() const { return m_advice; }
  RangeCard* range() const { return m_range; }
  NoiseCard* noise() const { return m_noise; }
  RunForecast* forecast() const { return m_forecast; }

  // So wide that nothing of it is cut; what does not fit below each other scrolls.
  QSize minimumSizeHint() const override;
  void setUpdate(std::size_t index);
  // What is drawn, from the document: of `stepsPerEpoch` steps (0 = not known) and `ranks`, virtual ones included.
  void refresh(std::int64_t stepsPerEpoch, std::int64_t ranks);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeHandles();
  ProjectDocument& m_document;
  std::size_t m_update = 0;
  SchedulePreview* m_preview;
  TrainAdvice* m_advice;
  RangeCard* m_range;
  NoiseCard* m_noise;
  RunForecast* m_forecast;
  ScalingCard* m_scaling;
  QBoxLayout* m_measures;
  QWidget* m_between;
};

}  // namespace loom
