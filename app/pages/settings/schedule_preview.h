#pragma once
// The learning rate over the whole run, drawn as it is typed: the very function that training will ask
// (engine/schedules).
#include <QWidget>
#include <memory>
#include <vector>

#include "engine/base/json.h"
#include "engine/schedules/schedule.h"

namespace loom {

struct SchedulePlan {
  double baseRate = 0;
  Json schedule, warmup;           // as the project holds them
  std::int64_t stepsPerEpoch = 0;  // 0 = not known (no dataset yet): the axis then counts shares of the run
  double epochs = 0;
  double rateScale = 1;  // what the batch multiplies the rate with
};

class SchedulePreview : public QWidget {
  Q_OBJECT

 public:
  explicit SchedulePreview(QWidget* parent = nullptr);
  void setPlan(SchedulePlan plan);
  // Why there is no curve, in one sentence; empty where there is one.
  const QString& fault() const { return m_fault; }
  std::int64_t steps() const { return m_span.steps; }
  std::int64_t warmupSteps() const { return m_warmupSteps; }
  double peak() const { return m_peak; }

  QSize sizeHint() const override { return {420, 240}; }
  QSize minimumSizeHint() const override { return {260, 160}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRectF frame() const;
  double rateAt(double step) const;
  double unscaledAt(double step) const;  // as typed, for the base batch

  SchedulePlan m_plan;
  ScheduleSpan m_span;
  std::unique_ptr<Schedule> m_schedule, m_unscaled;  // the second only where they differ
  QString m_fault;
  std::int64_t m_warmupSteps = 0;
  double m_peak = 0, m_peakStep = 0;
  double m_cursor = -1;  // 0 to 1 of the run; negative = none
};

}  // namespace loom
