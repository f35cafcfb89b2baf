#include "app/pages/settings/schedule_preview.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kLeft = 62, kRight = 18, kTop = 24, kBottom = 28, kLane = 34, kValues = 92;  // at 100 % text
constexpr int kLeastCurve = 162;                                                           // with what stands around it
constexpr std::int64_t kUnknownSteps = 1000;  // samples of the curve where the steps are not known

// The step of 1, 2, 5 x 10^n that gives at most `most` intervals over `range`.
double niceStep(double range, int most) {
  if (range <= 0) return 1;
  const double raw = range / most, power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (raw <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

// For words: grows with them.
int roomOf(const QWidget* widget, int px) {
  return px * Theme::of(widget).textSize() / 100;
}

}  // namespace

SchedulePreview::SchedulePreview(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(QStringLiteral("Learning rate over the whole run"));
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    setMinimumHeight(kLeastCurve + static_cast<int>(lanes().size()) * roomOf(this, kLane));
    update();
  });
}

void SchedulePreview::setPlan(SchedulePlan plan) {
  if (m_held != Handle::none) return;  // what is dragged holds until it is let go
  m_plan = std::move(plan);
  rebuild();
}

void SchedulePreview::rebuild() {
  m_fault.clear();
  m_schedule.reset();
  m_unscaled.reset();
  m_warmupSteps = 0;
  m_peak = m_peakStep = 0;
  const bool known = m_plan.stepsPerEpoch > 0 && m_plan.epochs > 0;
  m_span.steps =
      known ? std::max<std::int64_t>(1, std::llround(m_plan.epochs * static_cast<double>(m_plan.stepsPerEpoch)))
            : kUnknownSteps;
  m_span.stepsPerEpoch = known ? m_plan.stepsPerEpoch
                               : std::max<std::int64_t>(1, std::llround(kUnknownSteps / std::max(1.0, m_plan.epochs)));
  m_span.rateScale = m_plan.rateScale;
  const std::vector<Lane> all = lanes();
  setMinimumHeight(kLeastCurve + static_cast<int>(all.size()) * roomOf(this, kLane));
  QStringList said;
  for (const Lane& each : all) said << each.name + ' ' + each.value;
  setAccessibleDescription(said.join(QStringLiteral(", ")));
  try {
    m_schedule = makeSchedule(m_plan.schedule, m_plan.warmup, m_span);
    if (m_plan.rateScale != 1) {
      ScheduleSpan base = m_span;
      base.rateScale = 1;
      m_unscaled = makeSchedule(m_plan.schedule, m_plan.warmup, base);
    }
    if (m_plan.warmup.is_object()) {
      if (m_plan.warmup.contains("epochs"))
        m_warmupSteps = std::llround(numberFromJson(m_plan.warmup["epochs"]) * m_span.stepsPerEpoch);
      if (m_plan.warmup.contains("steps")) m_warmupSteps = m_plan.warmup["steps"].get<std::int64_t>();
      m_warmupSteps = std::clamp<std::int64_t>(m_warmupSteps, 0, m_span.steps);
    }
    const int samples = 512;
    for (int i = 0; i <= samples; ++i) {
      const double step = static_cast<double>(m_span.steps - 1) * i / samples, rate = rateAt(step);
      if (rate > m_peak) m_peak = rate, m_peakStep = step;
    }
    if (m_warmupSteps > 0 && rateAt(m_warmupSteps) >= m_peak * 0.999)
      m_peak = std::max(m_peak, rateAt(m_warmupSteps)), m_peakStep = m_warmupSteps;
  } catch (const Error& error) {
    m_fault = QString::fromStdString(error.message());
  } catch (const Json::exception&) {
    m_fault = QStringLiteral("The warm-up is not written as it should be.");
  }
  update();
}

double SchedulePreview::rateAt(double step) const {
  return m_plan.baseRate * m_plan.rateScale * m_schedule->factor(step);
}
double SchedulePreview::unscaledAt(double step) const {
  return m_plan.baseRate * m_unscaled->factor(step);
}

QRectF SchedulePreview::frame() const {
  const auto below = static_cast<int>(lanes().size()) * roomOf(this, kLane);
  const int right = roomOf(this, below > 0 ? kValues : kRight), left = roomOf(this, kLeft), top = roomOf(this, kTop);
  return QRectF(left, top, width() - left - right, height() - top - roomOf(this, kBottom) - below);
}

QRectF SchedulePreview::laneFrame(std::size_t lane) const {
  const QRectF area = frame();
  return QRectF(area.left(), area.bottom() + static_cast<double>(lane) * roomOf(this, kLane) + 14, area.width(),
                roomOf(this, kLane) - 14);
}

double SchedulePreview::shownHigh() const {
  if (m_held == Handle::rate && m_heldHigh > 0) return m_heldHigh;
  // A little head room above the peak, then a round number.
  const double step = niceStep(std::max(m_peak, 1e-12) * 1.08, 4);
  return std::ceil(std::max(m_peak, 1e-12) * 1.02 / step) * step;
}

void SchedulePreview::mouseMoveEvent(QMouseEvent* event) {
  if (m_held != Handle::none) return drag(event->position());
  int stage = 0;
  const Handle over = handleAt(event->position(), &stage);
  if (over != Handle::none)
    setCursor(over == Handle::rate ? Qt::SizeVerCursor : Qt::SizeHorCursor);
  else
    unsetCursor();
  const QRectF area = frame();
  const double x = event->position().x();
  m_cursor = x >= area.left() && x <= area.right() ? (x - area.left()) / area.width() : -1;
  update();
}

void SchedulePreview::leaveEvent(QEvent*) {
  m_cursor = -1;
  update();
}

void SchedulePreview::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = frame();
  if (area.width() < 40 || area.height() < 40) return;
  const bool known = m_plan.stepsPerEpoch > 0;
  const double epochs = std::max(m_plan.epochs, 1e-9);

  const double high = shownHigh(), step = niceStep(high, 4);
  const auto xOf = [&](double at) {
    return area.left() + area.width() * at / std::max<double>(1, static_cast<double>(m_span.steps - 1));
  };
  const auto yOf = [&](double rate) { return area.bottom() - area.height() * rate / high; };

  if (m_schedule && m_warmupSteps > 0)
    painter.fillRect(
        QRectF(area.left(), area.top(), std::min(xOf(m_warmupSteps), area.right()) - area.left(), area.height()),
        theme.colour(Colour::accentSoft, 0.8));

  painter.setFont(theme.numberFont(FontRole::axis));
  for (double value = 0; value <= high * 1.0001; value += step) {
    const double y = std::round(yOf(value)) + 0.5;
    painter.setPen(theme.hairline(value == 0 ? Colour::axis : Colour::grid));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(0, y - 9, roomOf(this, kLeft) - 8, 18), Qt::AlignRight | Qt::AlignVCenter,
                     formatRate(std::abs(value) < step * 1e-6 ? 0 : value));
  }
  const double epochStep = niceStep(epochs, std::clamp(static_cast<int>(area.width() / 70), 2, 8));
  for (double epoch = 0; epoch <= epochs * 1.0001; epoch += epochStep) {
    const double x = area.left() + area.width() * epoch / epochs;
    painter.setPen(theme.hairline(Colour::grid));
    if (epoch > 0)
      painter.drawLine(QPointF(std::round(x) + 0.5, area.top()), QPointF(std::round(x) + 0.5, area.bottom()));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(x - 40, height() - roomOf(this, kBottom) + 6, 80, 18), Qt::AlignHCenter | Qt::AlignVCenter,
                     formatShort(epoch));
  }
  painter.setFont(theme.font(FontRole::axis));
  painter.drawText(QRectF(0, height() - roomOf(this, kBottom) + 6, roomOf(this, kLeft) - 20, 18),
                   Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("Epoch"));

  if (!m_schedule) {
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::error));
    painter.drawText(area.adjusted(20, 0, -20, 0), Qt::AlignCenter | Qt::TextWordWrap, m_fault);
    return;
  }

  QPainterPath curve;
  const int pixels = std::max(2, static_cast<int>(area.width()));
  for (int i = 0; i <= pixels; ++i) {
    const double at = static_cast<double>(m_span.steps - 1) * i / pixels;
    // A schedule of steps is flat between them; a warm-up's corner falls on a pixel of its own.
    const QPointF point(xOf(at), yOf(rateAt(m_span.steps <= pixels ? std::floor(at) : at)));
    if (i == 0)
      curve.moveTo(point);
    else
      curve.lineTo(point);
  }
  if (m_unscaled) {
    QPainterPath base;
    for (int i = 0; i <= pixels; i += 2) {
      const double at = static_cast<double>(m_span.steps - 1) * i / pixels;
      const QPointF point(xOf(at), yOf(unscaledAt(m_span.steps <= pixels ? std::floor(at) : at)));
      if (i == 0)
        base.moveTo(point);
      else
        base.lineTo(point);
    }
    QPen dashed(theme.colour(Colour::text3), 1.2);
    dashed.setDashPattern({3, 3});
    painter.setPen(dashed);
    painter.drawPath(base);
    painter.setFont(theme.font(FontRole::caption));
    const double at =
        static_cast<double>(m_warmupSteps) + 0.01 * static_cast<double>(m_span.steps);  // far below the curve itself
    painter.drawText(QPointF(xOf(at) + 6, std::max(area.top() + 12, yOf(unscaledAt(at)) - 6)),
                     QStringLiteral("as typed, for the base batch"));
  }
  QPainterPath ground = curve;
  ground.lineTo(area.bottomRight());
  ground.lineTo(area.bottomLeft());
  ground.closeSubpath();
  painter.fillPath(ground, theme.colour(Colour::accent, 0.07));
  painter.setPen(QPen(theme.curveColour(0), 1.75, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(curve);
  paintLanes(painter);
  if (const auto place = placeOf(Handle::warmup)) paintHandle(painter, *place, m_held == Handle::warmup);

  const auto dot = [&](double at) {
    painter.setPen(QPen(theme.colour(Colour::surface), 1.5));
    painter.setBrush(theme.curveColour(0));
    painter.drawEllipse(QPointF(xOf(at), yOf(rateAt(at))), 4, 4);
  };
  if (m_cursor < 0 || m_held != Handle::none) {
    if (const auto place = placeOf(Handle::rate)) paintHandle(painter, *place, m_held == Handle::rate);
    painter.setFont(Theme::withWeight(theme.numberFont(FontRole::caption), 600));
    painter.setPen(theme.colour(Colour::text));
    const double x = xOf(m_peakStep);
    const QString text = formatRate(m_peak) + QStringLiteral(" peak");
    const int width = painter.fontMetrics().horizontalAdvance(text);
    const bool right = x + 12 + width < area.right();
    painter.drawText(QPointF(right ? x + 10 : x - 10 - width, std::max(area.top() - 6, yOf(m_peak) - 8)), text);
    if (m_warmupSteps > 0) {
      painter.setFont(theme.font(FontRole::caption));
      painter.setPen(theme.colour(Colour::accentText));
      const QString words = known ? QStringLiteral("warm-up, ") + counted(m_warmupSteps, QStringLiteral("steps"))
                                  : QStringLiteral("warm-up");
      painter.drawText(QPointF(std::min(xOf(m_warmupSteps) + 8, area.right() - 110), area.bottom() - 8), words);
    }
  } else {
    const double at = m_cursor * static_cast<double>(m_span.steps - 1);
    painter.setPen(QPen(theme.colour(Colour::text), 1));
    painter.drawLine(QPointF(xOf(at), area.top()), QPointF(xOf(at), area.bottom()));
    dot(at);
    painter.setFont(theme.numberFont(FontRole::caption));
    painter.setPen(theme.colour(Colour::text));
    QString text = formatRate(rateAt(known ? std::floor(at) : at)) + QStringLiteral("  epoch ") +
                   QString::number(m_cursor * epochs, 'f', 1);
    if (known) text += QStringLiteral("  step ") + QString::number(static_cast<qint64>(at) + 1);
    const int width = painter.fontMetrics().horizontalAdvance(text);
    const double left = std::clamp(xOf(at) - width / 2.0, area.left(), area.right() - width);
    painter.drawText(QPointF(left, area.top() - 8), text);
  }
}

}  // namespace loom
