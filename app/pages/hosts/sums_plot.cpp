#include "app/pages/hosts/sums_plot.h"

#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/chart/chart_tooltip.h"
#include "widgets/chart/format.h"
#include "widgets/chart/ticks.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPlotLeft = 56, kPlotRight = 132, kPlotTop = 26, kPlotBottom = 26, kNameHigh = 15;
constexpr double kNearSize = 32;  // px

// "64 KiB": sizes are powers of 2, so they need no decimals.
QString sumSizeText(double bytes) {
  const QString text = formatBytes(bytes);
  return text.contains(QStringLiteral(".0")) ? QString(text).remove(QRegularExpression(QStringLiteral("\\.0+"))) : text;
}

}  // namespace

double SumsPlot::Span::place(double value) const {
  return std::log(value / low) / std::log(high / low);
}

SumsPlot::SumsPlot(QWidget* parent) : QWidget(parent), m_tooltip(new ChartTooltip(this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Time to add up, by way and size"));
  m_tooltip->hide();
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void SumsPlot::setSums(const MeasuredSums& sums) {
  m_sums = sums;
  m_best.assign(m_sums.curves.size(), false);
  for (const double size : sizes()) {
    std::size_t best = m_sums.curves.size();
    double least = 0;
    for (std::size_t i = 0; i < m_sums.curves.size(); ++i)
      for (const SumCurve::Point& point : m_sums.curves[i].points)
        if (point.bytes == size && (best == m_sums.curves.size() || point.seconds < least))
          best = i, least = point.seconds;
    if (best < m_best.size()) m_best[best] = true;
  }
  if (m_cursor >= static_cast<int>(sizes().size())) setCursor(-1, 0);
  update();
}

void SumsPlot::setShown(Shown shown) {
  m_shown = shown;
  setAccessibleName(shown == Shown::time ? tr("Time to add up, by way and size")
                                         : tr("Bandwidth while adding up, by way and size"));
  placeTooltip();
  update();
}

void SumsPlot::setWords(const QString& words) {
  m_words = words;
  update();
}

QRectF SumsPlot::frame() const {
  return QRectF(kPlotLeft, kPlotTop, width() - kPlotLeft - kPlotRight, height() - kPlotTop - kPlotBottom);
}

std::vector<double> SumsPlot::sizes() const {
  std::set<double> all;
  for (const SumCurve& curve : m_sums.curves)
    for (const SumCurve::Point& point : curve.points) all.insert(point.bytes);
  return {all.begin(), all.end()};
}

double SumsPlot::valueOf(const SumCurve::Point& point) const {
  return m_shown == Shown::time ? point.seconds : m_sums.busBandwidth(point);
}

QString SumsPlot::textOf(double value) const {
  if (m_shown == Shown::bandwidth) return formatSignificant(value * 1e-9, 2);
  return value < 1e-3 ? formatSignificant(value * 1e6, 2) + QStringLiteral("\u202Fµs") : formatDuration(value);
}

SumsPlot::Span SumsPlot::xSpan() const {
  const std::vector<double> all = sizes();
  if (all.empty()) return {4096, 64 << 20};
  return {all.front(), std::max(all.back(), all.front() * 4)};
}

SumsPlot::Span SumsPlot::ySpan() const {
  double low = 0, high = 0;
  for (const SumCurve& curve : m_sums.curves)
    for (const SumCurve::Point& point : curve.points) {
      const double value = valueOf(point);
      if (!(value > 0)) continue;
      low = low > 0 ? std::min(low, value) : value;
      high = std::max(high, value);
    }
  if (!(high > 0)) return {1e-6, 1};
  const Interval nice = niceLogRange({low, std::max(high, low * 1.5)});
  return {nice.low, nice.high};
}

QPointF SumsPlot::placeOf(std::size_t curve, std::size_t point) const {
  const SumCurve::Point& at = m_sums.curves.at(curve).points.at(point);
  const QRectF area = frame();
  return {area.left() + area.width() * xSpan().place(at.bytes),
          area.bottom() - area.height() * ySpan().place(valueOf(at))};
}

void SumsPlot::setCursor(int at, double y) {
  m_cursor = at;
  m_nearest = -1;
  double distance = 1e9;
  const std::vector<double> all = sizes();
  if (at >= 0 && at < static_cast<int>(all.size()) && y >= 0)
    for (std::size_t i = 0; i < m_sums.curves.size(); ++i)
      for (std::size_t k = 0; k < m_sums.curves[i].points.size(); ++k)
        if (m_sums.curves[i].points[k].bytes == all[static_cast<std::size_t>(at)])
          if (const double away = std::abs(placeOf(i, k).y() - y); away < distance)
            distance = away, m_nearest = static_cast<int>(i);
  placeTooltip();
  update();
}

QString SumsPlot::cursorWords() const {
  const std::vector<double> all = sizes();
  if (m_cursor < 0 || m_cursor >= static_cast<int>(all.size())) return {};
  QStringList values;
  for (const SumCurve& curve : m_sums.curves)
    for (const SumCurve::Point& point : curve.points)
      if (point.bytes == all[static_cast<std::size_t>(m_cursor)])
        values << curve.label + ' ' + textOf(valueOf(point)) + (m_shown == Shown::bandwidth ? tr(" GB/s") : QString());
  return sumSizeText(all[static_cast<std::size_t>(m_cursor)]) + QStringLiteral(": ") +
         values.join(QStringLiteral(", "));
}

void SumsPlot::placeTooltip() {
  const std::vector<double> all = sizes();
  if (m_cursor < 0 || m_cursor >= static_cast<int>(all.size())) return m_tooltip->hide();
  const double size = all[static_cast<std::size_t>(m_cursor)];
  std::vector<TooltipRow> rows;
  for (std::size_t i = 0; i < m_sums.curves.size(); ++i)
    for (const SumCurve::Point& point : m_sums.curves[i].points) {
      if (point.bytes != size) continue;
      ChartLine line{.id = m_sums.curves[i].name, .name = m_sums.curves[i].label, .colour = static_cast<int>(i)};
      line.value = m_shown == Shown::time ? ValueKind::milliseconds : ValueKind::plain;
      rows.push_back({line, Theme::of(this).curveColour(static_cast<int>(i)),
                      m_shown == Shown::time ? point.seconds * 1e3 : m_sums.busBandwidth(point) * 1e-9,
                      static_cast<int>(i) == m_nearest});
    }
  const bool least = m_shown == Shown::time;  // the fastest first
  std::stable_sort(rows.begin(), rows.end(), [least](const TooltipRow& a, const TooltipRow& b) {
    return least ? a.value < b.value : a.value > b.value;
  });
  m_tooltip->setContent(sumSizeText(size), least ? tr("the fastest first") : tr("GB/s on a link"), rows);
  m_tooltip->resize(m_tooltip->sizeHint());
  const QRectF area = frame();
  const double x = area.left() + area.width() * xSpan().place(size);
  const bool right = x + 14 + m_tooltip->width() < width();
  // Off the lines: above them where they lie low there, else below.
  const bool lies = !rows.empty() && ySpan().place(least ? rows.back().value * 1e-3 : rows.front().value * 1e9) < 0.5;
  m_tooltip->move(static_cast<int>(right ? x + 14 : std::max(0.0, x - 14 - m_tooltip->width())),
                  std::clamp(lies ? kPlotTop : static_cast<int>(area.bottom()) - m_tooltip->height(), 0,
                             std::max(0, height() - m_tooltip->height())));
  m_tooltip->show();
  m_tooltip->raise();
}

void SumsPlot::mouseMoveEvent(QMouseEvent* event) {
  const std::vector<double> all = sizes();
  const QRectF area = frame();
  int nearest = -1;
  double distance = std::max(kNearSize, area.width() / std::max<std::size_t>(1, all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double x = area.left() + area.width() * xSpan().place(all[i]);
    if (const double away = std::abs(x - event->position().x()); away < distance)
      nearest = static_cast<int>(i), distance = away;
  }
  setCursor(nearest, event->position().y());
}

void SumsPlot::leaveEvent(QEvent*) {
  setCursor(-1, 0);
}

void SumsPlot::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(sizes().size()) - 1;
  if (last >= 0 && (event->key() == Qt::Key_Left || event->key() == Qt::Key_Right)) {
    const int by = event->key() == Qt::Key_Right ? 1 : -1;
    return setCursor(std::clamp(m_cursor < 0 ? (by > 0 ? 0 : last) : m_cursor + by, 0, last), -1);
  }
  if (event->matches(QKeySequence::Copy) && m_cursor >= 0) return QApplication::clipboard()->setText(cursorWords());
  if (event->key() == Qt::Key_Escape && m_cursor >= 0) return setCursor(-1, 0);
  QWidget::keyPressEvent(event);
}

void SumsPlot::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = frame();
  if (area.width() < 60 || area.height() < 60) return;
  paintAxes(painter);
  if (sizes().empty()) {
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(area.adjusted(20, 0, -20, 0), Qt::AlignCenter | Qt::TextWordWrap, m_words);
    return;
  }
  paintCrossings(painter);
  paintLines(painter);
  paintNames(painter);
  if (m_cursor < 0) return;
  const double x = area.left() + area.width() * xSpan().place(sizes()[static_cast<std::size_t>(m_cursor)]);
  painter.setPen(QPen(theme.colour(Colour::text), 1));
  painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
}

void SumsPlot::paintAxes(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  const QRectF area = frame();
  const bool empty = sizes().empty();
  painter.setFont(theme.numberFont(FontRole::axis));
  const Span y = ySpan(), x = xSpan();
  if (!empty)
    for (const double value : logTicks({y.low, y.high}, std::max(3, static_cast<int>(area.height() / 34))).values) {
      const double at = std::round(area.bottom() - area.height() * y.place(value)) + 0.5;
      painter.setPen(theme.hairline(Colour::grid));
      painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
      painter.setPen(theme.colour(Colour::text3));
      painter.drawText(QRectF(0, at - 9, kPlotLeft - 8, 18), Qt::AlignRight | Qt::AlignVCenter, textOf(value));
    }
  const double each = area.width() / (std::log(x.high / x.low) / std::log(4));
  const int every = std::max(1, static_cast<int>(std::ceil(64 / each)));
  int i = 0;
  for (double value = x.low; value <= x.high * 1.001; value *= 4, ++i) {
    const double at = std::round(area.left() + area.width() * x.place(value)) + 0.5;
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
    if (i % every != 0) continue;
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(at - 40, area.bottom() + 5, 80, 16), Qt::AlignCenter, sumSizeText(value));
  }
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(area.left(), std::round(area.bottom()) + 0.5),
                   QPointF(area.right(), std::round(area.bottom()) + 0.5));
}

void SumsPlot::paintLines(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  for (std::size_t i = 0; i < m_sums.curves.size(); ++i) {
    const bool nearest = static_cast<int>(i) == m_nearest;
    QColor colour = theme.curveColour(static_cast<int>(i));
    if (!nearest && !m_best[i]) colour.setAlphaF(0.4F);
    const double thick = nearest ? 2.75 : m_best[i] ? 1.75 : 1.2;
    QPen pen(colour, thick, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    if (const auto dash = theme.curveDash(static_cast<int>(i), thick); !dash.isEmpty()) pen.setDashPattern(dash);
    QPainterPath path;
    for (std::size_t k = 0; k < m_sums.curves[i].points.size(); ++k) {
      const QPointF at = placeOf(i, k);
      k == 0 ? path.moveTo(at) : path.lineTo(at);
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
    if (m_cursor < 0) continue;
    for (std::size_t k = 0; k < m_sums.curves[i].points.size(); ++k) {
      if (m_sums.curves[i].points[k].bytes != sizes()[static_cast<std::size_t>(m_cursor)]) continue;
      painter.setPen(QPen(theme.colour(Colour::surface), 1.5));
      painter.setBrush(colour);
      painter.drawEllipse(placeOf(i, k), nearest ? 4.5 : 3.5, nearest ? 4.5 : 3.5);
    }
  }
}

// Beside the line ends, moved apart where they would touch.
void SumsPlot::paintNames(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  struct Name {
    double y = 0;
    std::size_t curve = 0;
  };
  std::vector<Name> names;
  for (std::size_t i = 0; i < m_sums.curves.size(); ++i)
    if (!m_sums.curves[i].points.empty() && (m_best[i] || static_cast<int>(i) == m_nearest))
      names.push_back({placeOf(i, m_sums.curves[i].points.size() - 1).y(), i});
  std::sort(names.begin(), names.end(), [](const Name& a, const Name& b) { return a.y < b.y; });
  double least = kPlotTop - 4;
  for (Name& each : names) {
    each.y = std::max(each.y, least);
    least = each.y + kNameHigh;
  }
  double most = height() - kPlotBottom;
  for (auto each = names.rbegin(); each != names.rend(); ++each) {
    each->y = std::min(each->y, most);
    most = each->y - kNameHigh;
  }
  const QRectF area = frame();
  painter.setFont(theme.font(FontRole::axis));
  for (const Name& each : names) {
    QPen swatch(theme.curveColour(static_cast<int>(each.curve)), 2);
    if (const auto dash = theme.curveDash(static_cast<int>(each.curve), 2); !dash.isEmpty())
      swatch.setDashPattern(dash);
    painter.setPen(swatch);
    painter.drawLine(QPointF(area.right() + 6, each.y), QPointF(area.right() + 14, each.y));
    painter.setPen(theme.colour(Colour::text2));
    const QRectF room(area.right() + 18, each.y - 8, kPlotRight - 20, 16);
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(m_sums.curves[each.curve].label, Qt::ElideRight,
                                                      static_cast<int>(room.width())));
  }
}

void SumsPlot::paintCrossings(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  const QRectF area = frame();
  painter.setFont(theme.numberFont(FontRole::axis));
  double free = area.left();
  for (const SumCrossing& each : m_sums.crossings()) {
    const double x = std::round(area.left() + area.width() * xSpan().place(each.bytes)) + 0.5;
    QPen dashed(theme.colour(Colour::accentText), 1.2);
    dashed.setDashPattern({3, 3});
    painter.setPen(dashed);
    painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    const QString text = formatBytes(each.bytes);
    const double wide = painter.fontMetrics().horizontalAdvance(text);
    const double left = std::clamp(x - wide / 2, area.left(), area.right() - wide);
    if (left < free) continue;  // the sentence below names them all
    painter.setPen(theme.colour(Colour::accentText));
    painter.drawText(QPointF(left, area.top() - 8), text);
    free = left + wide + 10;
  }
}

}  // namespace loom
