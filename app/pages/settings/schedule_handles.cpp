// SchedulePreview: what stands below the rate, and what is dragged.
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/pages/settings/schedule_preview.h"
#include "engine/schedules/loss_scale.h"
#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {

static constexpr int kGrip = 9;  // px around a handle in which the mouse has it

double typedRate(double rate) {
  if (!(rate > 0)) return 0;
  const double step = std::pow(10, std::floor(std::log10(rate)) - 1);
  return QString::number(std::round(rate / step) * step, 'g', 4).toDouble();
}

std::vector<SchedulePreview::Lane> SchedulePreview::lanes() const {
  std::vector<Lane> all;
  if (m_plan.momentum)
    all.push_back({.name = tr("momentum"),
                   .at = [momentum = *m_plan.momentum](double) { return momentum; },
                   .value = formatRate(*m_plan.momentum),
                   .colour = 2});
  if (m_plan.batch > 0) {
    Lane lane{.name = tr("global batch"), .colour = 1, .stairs = true};
    lane.at = [this](double epoch) {
      std::int64_t there = m_plan.batch;
      for (const BatchStage& stage : m_plan.stages)
        if (stage.epoch <= epoch) there = stage.batch;
      return static_cast<double>(there);
    };
    lane.high = static_cast<double>(m_plan.batch);
    for (const BatchStage& stage : m_plan.stages) lane.high = std::max(lane.high, static_cast<double>(stage.batch));
    lane.value = formatCount(lane.at(0));
    if (!m_plan.stages.empty())
      lane.value += QStringLiteral(" → ") + formatCount(static_cast<double>(m_plan.stages.back().batch));
    all.push_back(std::move(lane));
  }
  if (m_plan.share)
    all.push_back({.name = tr("share of %1").arg(QString::fromStdString(m_plan.share->of)),
                   .at = m_plan.share->at,
                   .value = QStringLiteral("%1 → %2").arg(formatFixed(m_plan.share->at(0), 2),
                                                          formatFixed(m_plan.share->at(m_plan.epochs), 2)),
                   .colour = 3});
  // As it grows where no step overflows; in powers of 2.
  if (m_plan.lossScale) {
    const auto at = [steps = static_cast<double>(m_span.steps), epochs = m_plan.epochs](double epoch) {
      return LossScale::planned(epochs > 0 ? steps * std::min(1.0, epoch / epochs) : 0);
    };
    const double first = at(0), last = at(m_plan.epochs);
    all.push_back({.name = tr("loss scale"),
                   .at = [at](double epoch) { return std::log2(at(epoch)); },
                   .high = std::log2(last),
                   .value = formatCount(first) + (last > first ? QStringLiteral(" → ") + formatCount(last) : QString()),
                   .colour = 4});
  }
  return all;
}

double SchedulePreview::epochAt(double x) const {
  const QRectF area = frame();
  return std::clamp((x - area.left()) / area.width(), 0.0, 1.0) * m_plan.epochs;
}

std::optional<QPointF> SchedulePreview::placeOf(Handle handle, int stage) const {
  const QRectF area = frame();
  if (!m_schedule || m_plan.epochs <= 0 || area.width() < 40 || area.height() < 40) return {};
  const double last = std::max<double>(1, static_cast<double>(m_span.steps - 1));
  if (handle == Handle::rate && m_peak > 0)
    return QPointF(area.left() + area.width() * m_peakStep / last,
                   area.bottom() - area.height() * m_peak / shownHigh());
  if (handle == Handle::warmup)
    return QPointF(area.left() + area.width() * std::min(1.0, static_cast<double>(m_warmupSteps) / last),
                   area.bottom());
  if (handle == Handle::stage && stage >= 0 && stage < static_cast<int>(m_plan.stages.size())) {
    const std::vector<Lane> all = lanes();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].stairs) continue;
      const QRectF lane = laneFrame(i);
      const double epoch = m_plan.stages[static_cast<std::size_t>(stage)].epoch;
      return QPointF(lane.left() + lane.width() * std::min(1.0, epoch / m_plan.epochs), lane.center().y());
    }
  }
  return {};
}

SchedulePreview::Handle SchedulePreview::handleAt(const QPointF& at, int* stage) const {
  const auto near = [&](const std::optional<QPointF>& place) {
    return place && std::abs(place->x() - at.x()) <= kGrip && std::abs(place->y() - at.y()) <= kGrip;
  };
  for (int i = 0; i < static_cast<int>(m_plan.stages.size()); ++i)
    if (near(placeOf(Handle::stage, i))) return *stage = i, Handle::stage;
  if (near(placeOf(Handle::rate))) return Handle::rate;
  return near(placeOf(Handle::warmup)) ? Handle::warmup : Handle::none;
}

void SchedulePreview::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  const Handle handle = handleAt(event->position(), &m_heldStage);
  m_heldHigh = shownHigh();
  m_held = handle;
  m_given = m_plan;
}

// What the field shall be, seen at once; the project changes when the handle is let go.
void SchedulePreview::drag(const QPointF& at) {
  const QRectF area = frame();
  if (m_held == Handle::rate) {
    const double rate = std::clamp((area.bottom() - at.y()) / area.height(), 0.005, 1.0) * m_heldHigh;
    const double before = rateAt(m_peakStep);
    if (before > 0) m_plan.baseRate = typedRate(m_plan.baseRate * rate / before);
  } else if (m_held == Handle::warmup) {
    const double step = m_plan.epochs > 20 ? 1 : m_plan.epochs > 2 ? 0.1 : 0.01;
    const double epochs = std::round(epochAt(at.x()) / step) * step;
    if (!m_plan.warmup.is_object()) m_plan.warmup = Json::object();
    m_plan.warmup.erase("steps");
    m_plan.warmup["epochs"] = QString::number(epochs, 'g', 6).toDouble();
  } else if (m_held == Handle::stage) {
    std::vector<BatchStage>& stages = m_plan.stages;
    const auto held = static_cast<std::size_t>(m_heldStage);
    const double least = held == 0 ? 1 : stages[held - 1].epoch + 1,
                 most = held + 1 < stages.size() ? stages[held + 1].epoch - 1
                                                 : std::max(least, std::ceil(m_plan.epochs) - 1);
    stages[held].epoch = std::clamp(std::round(epochAt(at.x())), least, std::max(least, most));
  }
  rebuild();
}

void SchedulePreview::mouseReleaseEvent(QMouseEvent* event) {
  const Handle held = std::exchange(m_held, Handle::none);
  if (event->button() != Qt::LeftButton || held == Handle::none) return;
  const SchedulePlan plan = std::exchange(m_plan, m_given);
  rebuild();
  if (held == Handle::rate && plan.baseRate != m_given.baseRate) Q_EMIT rateDragged(plan.baseRate);
  if (held == Handle::warmup && plan.warmup != m_given.warmup)
    Q_EMIT warmupDragged(plan.warmup.is_object() && plan.warmup.contains("epochs") ? plan.warmup["epochs"].get<double>()
                                                                                   : 0.0);
  const auto stage = static_cast<std::size_t>(m_heldStage);
  if (held == Handle::stage && plan.stages[stage].epoch != m_given.stages[stage].epoch)
    Q_EMIT stageDragged(m_heldStage, plan.stages[stage].epoch);
}

void SchedulePreview::paintHandle(QPainter& painter, const QPointF& at, bool held) const {
  const Theme& theme = Theme::of(this);
  painter.setPen(QPen(theme.curveColour(0), held ? 2.5 : 1.75));
  painter.setBrush(theme.colour(Colour::surface));
  painter.drawEllipse(at, 4.5, 4.5);
}

void SchedulePreview::paintLanes(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  const std::vector<Lane> all = lanes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const QRectF area = laneFrame(i);
    painter.setPen(theme.hairline(Colour::axis));
    painter.drawLine(QPointF(area.left(), std::round(area.bottom()) + 0.5),
                     QPointF(area.right(), std::round(area.bottom()) + 0.5));
    QPainterPath path;
    const int pixels = std::max(2, static_cast<int>(area.width()));
    for (int x = 0; x <= pixels; ++x) {
      const double value = all[i].at(m_plan.epochs * x / pixels) / std::max(all[i].high, 1e-12);
      const QPointF at(area.left() + x, area.bottom() - (area.height() - 2) * std::clamp(value, 0.0, 1.0));
      if (x == 0)
        path.moveTo(at);
      else
        path.lineTo(at);
    }
    painter.setPen(QPen(theme.curveColour(all[i].colour), 1.75));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    const double left = area.right() + 10, room = width() - left - 4;
    painter.setFont(theme.font(FontRole::axis));
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(QRectF(left, area.top() - 8, room, 15), Qt::AlignLeft | Qt::AlignVCenter, all[i].name);
    painter.setFont(theme.numberFont(FontRole::axis));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(QRectF(left, area.top() + 6, room, 15), Qt::AlignLeft | Qt::AlignVCenter, all[i].value);
    if (!all[i].stairs) continue;
    for (int stage = 0; stage < static_cast<int>(m_plan.stages.size()); ++stage)
      if (const auto place = placeOf(Handle::stage, stage))
        paintHandle(painter, *place, m_held == Handle::stage && m_heldStage == stage);
  }
}

}  // namespace loom
