#include "widgets/chart/x_axis_model.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr int kFrameMs = 33;
constexpr int kTurnMs = 5, kRestMs = 1;                // of charts one after the other, and until the next of them
constexpr qint64 kCostShare = 4, kMostApartMs = 1000;  // drawing takes at most a quarter of the window's time
constexpr double kSmallestShare = 1e-9;                // of the full range: closer than that doubles run out of digits

// As fine as the part of the axis that is seen.
QString clockText(double seconds, double span) {
  const char* const form = span < 600 ? "HH:mm:ss" : span < 86400 ? "HH:mm" : "d MMM HH:mm";
  return QLocale::c().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000)),
                               QLatin1String(form));
}

}  // namespace

XAxisModel::XAxisModel(QObject* parent) : QObject(parent) {
  m_clock.setSingleShot(true);
  m_clock.setTimerType(Qt::PreciseTimer);
  connect(&m_clock, &QTimer::timeout, this, [this] {
    m_sinceFrame.restart();
    m_continues = std::exchange(m_putOff, false);
    Q_EMIT frame();
    m_frameCost = m_sinceFrame.elapsed() + (m_continues ? m_frameCost : 0);
    m_continues = false;
  });
}

QString XAxisModel::title() const {
  switch (m_unit) {
    case XUnit::step:
      return tr("Step");
    case XUnit::epoch:
      return tr("Epoch");
    case XUnit::samples:
      return tr("Samples");
    case XUnit::time:
      return tr("Time of day");
    case XUnit::relative:
      return tr("Time since the start");
  }
  return {};
}

QString XAxisModel::label(double x) const {
  if (m_unit == XUnit::time) return clockText(x, std::min(m_visible.span(), 599.0));
  if (m_unit == XUnit::relative) return formatDuration(x);
  if (m_unit == XUnit::epoch) return formatValue(ValueKind::plain, std::round(x * 100) / 100);
  return formatCount(std::round(x));
}

QString XAxisModel::tickLabel(double x, const Ticks& ticks) const {
  if (m_unit == XUnit::time) return clockText(x, m_visible.span());
  return m_unit == XUnit::relative ? formatDuration(x) : loom::tickLabel(x, ticks);
}

void XAxisModel::requestFrame() {
  if (m_clock.isActive()) return;
  const qint64 since = m_sinceFrame.isValid() ? m_sinceFrame.elapsed() : kFrameMs;
  const qint64 apart = std::clamp<qint64>(kCostShare * m_frameCost, kFrameMs, kMostApartMs);
  m_clock.start(static_cast<int>(std::clamp<qint64>(apart - since, 0, apart)));
}

bool XAxisModel::isFrameSpent() const {
  return m_sinceFrame.elapsed() >= kTurnMs;
}

void XAxisModel::putOff() {
  m_putOff = true;
  m_clock.start(kRestMs);
}

void XAxisModel::setUnit(XUnit unit) {
  if (unit == m_unit) return;
  m_unit = unit;
  m_cursor.reset();
  m_pinned = false;
  follow();
  Q_EMIT changed();
  Q_EMIT cursorChanged();
  requestFrame();
}

void XAxisModel::setLogarithmic(bool on) {
  if (on == m_log) return;
  m_log = on;
  Q_EMIT changed();
  requestFrame();
}

void XAxisModel::setFull(Interval full) {
  if (!(full.high > full.low)) full.high = full.low + 1;
  if (full == m_full) return;
  m_full = full;
  if (m_following) m_visible = full;
  Q_EMIT changed();
  requestFrame();
}

void XAxisModel::setVisible(Interval range) {
  const double least = m_full.span() * kSmallestShare;
  if (range.span() < least) {
    const double middle = (range.low + range.high) / 2;
    range = {middle - least / 2, middle + least / 2};
  }
  if (range.span() >= m_full.span())
    range = m_full;
  else if (range.low < m_full.low)
    range = {m_full.low, m_full.low + range.span()};
  else if (range.high > m_full.high)
    range = {m_full.high - range.span(), m_full.high};
  const bool following = range == m_full;
  if (range == m_visible && following == m_following) return;
  m_visible = range;
  if (following != m_following) {
    m_following = following;
    Q_EMIT followingChanged(following);
  }
  Q_EMIT changed();
  requestFrame();
}

void XAxisModel::follow() {
  setVisible(m_full);
}

void XAxisModel::zoom(double factor, double around) {
  if (m_log && m_visible.low > 0) {
    const double low = std::log(m_visible.low), high = std::log(m_visible.high),
                 at = std::log(std::max(around, m_visible.low));
    setVisible({std::exp(at - (at - low) * factor), std::exp(at + (high - at) * factor)});
  } else {
    setVisible({around - (around - m_visible.low) * factor, around + (m_visible.high - around) * factor});
  }
}

void XAxisModel::pan(double by) {
  setVisible({m_visible.low + by, m_visible.high + by});
}

void XAxisModel::show(Interval range) {
  if (range.high < range.low) std::swap(range.low, range.high);
  setVisible(range);
}

void XAxisModel::setLiveEdge(std::optional<double> x, bool connected) {
  if (x == m_liveEdge && connected == m_connected) return;
  m_liveEdge = x;
  m_connected = connected;
  Q_EMIT changed();
  requestFrame();
}

void XAxisModel::setCursor(std::optional<double> x) {
  if (x == m_cursor) return;
  m_cursor = x;
  Q_EMIT cursorChanged();
}

void XAxisModel::setPinned(bool pinned) {
  if (pinned == m_pinned) return;
  m_pinned = pinned;
  Q_EMIT cursorChanged();
}

double XAxisModel::place(double x) const {
  // A log axis begins at the first positive x that is seen; step 0 has no place on it.
  if (m_log) {
    const double low = std::max(m_visible.low, m_visible.high * 1e-6);
    const double safeLow = m_visible.low > 0 ? m_visible.low : std::max(low, std::min(1.0, m_visible.high / 10));
    return (std::log(std::max(x, safeLow)) - std::log(safeLow)) / (std::log(m_visible.high) - std::log(safeLow));
  }
  return (x - m_visible.low) / m_visible.span();
}

double XAxisModel::xAt(double place) const {
  if (m_log) {
    const double low = std::max(m_visible.low, m_visible.high * 1e-6);
    const double safeLow = m_visible.low > 0 ? m_visible.low : std::max(low, std::min(1.0, m_visible.high / 10));
    return safeLow * std::exp(place * (std::log(m_visible.high) - std::log(safeLow)));
  }
  return m_visible.low + place * m_visible.span();
}

}  // namespace loom
