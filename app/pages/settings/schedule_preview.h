#pragma once
// The whole run, drawn as it is typed: learning rate, momentum, batch and the share of a rule that changes, each the
// very function that training will ask (engine/schedules, engine/planner/rule_share.h). The rate, the end of the
// warm-up and the stages of the batch have handles.
#include <QWidget>
#include <memory>
#include <vector>

#include "engine/base/json.h"
#include "engine/network/batch_stages.h"
#include "engine/planner/rule_share.h"
#include "engine/schedules/schedule.h"

namespace loom {

struct SchedulePlan {
  double baseRate = 0;
  Json schedule, warmup;           // as the project holds them
  std::int64_t stepsPerEpoch = 0;  // 0 = not known (no dataset yet): the axis then counts shares of the run
  double epochs = 0;
  double rateScale = 1;            // what the batch multiplies the rate with
  std::optional<double> momentum;  // of a rule that has one
  std::int64_t batch = 0;          // at first; 0 = not known
  std::vector<BatchStage> stages;
  std::optional<RuleShare> share;
  bool lossScale = false;  // precision f16, whose loss is scaled
};

// A rate as a person would type it: two digits that count.
double typedRate(double rate);

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

  // Where a handle is now, in the widget; null where there is none.
  enum class Handle { none, rate, warmup, stage };
  std::optional<QPointF> placeOf(Handle handle, int stage = 0) const;

  QSize sizeHint() const override { return {420, 240}; }
  QSize minimumSizeHint() const override { return {260, 200}; }

 Q_SIGNALS:
  // A handle was let go: what the fields shall be.
  void rateDragged(double rate);  // before the batch scales it
  void warmupDragged(double epochs);
  void stageDragged(int stage, double epoch);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  struct Lane {
    QString name;
    std::function<double(double)> at;  // by epoch
    double high = 1;
    QString value;
    int colour = 1;
    bool stairs = false;  // of the batch: its stages have handles
  };
  std::vector<Lane> lanes() const;
  QRectF laneFrame(std::size_t lane) const;
  QRectF frame() const;
  double shownHigh() const;
  double epochAt(double x) const;
  void rebuild();
  void drag(const QPointF& at);
  Handle handleAt(const QPointF& at, int* stage) const;
  void paintLanes(QPainter& painter) const;
  void paintHandle(QPainter& painter, const QPointF& at, bool held) const;
  double rateAt(double step) const;
  double unscaledAt(double step) const;  // as typed, for the base batch

  SchedulePlan m_plan;
  ScheduleSpan m_span;
  std::unique_ptr<Schedule> m_schedule, m_unscaled;  // the second only where they differ
  QString m_fault;
  std::int64_t m_warmupSteps = 0;
  double m_peak = 0, m_peakStep = 0;
  double m_cursor = -1;  // 0 to 1 of the run; negative = none
  Handle m_held = Handle::none, m_over = Handle::none;
  int m_heldStage = 0;
  double m_heldHigh = 0;  // the axis stays while the rate is dragged
  SchedulePlan m_given;   // before the drag
};

}  // namespace loom
