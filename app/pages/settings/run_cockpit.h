#pragma once
// The right side of the Settings page: the whole run with its handles, the range test, the noise scale, how it scales,
// and what to know before training.
#include <QWidget>

class QBoxLayout;

namespace loom {

class NoiseCard;
class ProjectDocument;
class RangeCard;
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
  ScalingCard* scaling() const { return m_scaling; }

  void setUpdate(std::size_t index);
  // What is drawn, from the document: of `stepsPerEpoch` steps (0 = not known), `samples` (-1) and `ranks`.
  void refresh(std::int64_t stepsPerEpoch, std::int64_t samples, std::int64_t ranks);

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
  ScalingCard* m_scaling;
  QBoxLayout* m_measures;
  QWidget* m_between;
};

}  // namespace loom
