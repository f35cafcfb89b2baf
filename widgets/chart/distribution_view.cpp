#include "widgets/chart/distribution_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kLeftOut = 0.0005;  // of the values, at each end, do not widen the axis
constexpr int kStepTicks = 6;

}  // namespace

DistributionView::DistributionView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void DistributionView::setColumns(const QString& title, std::vector<DistributionColumn> columns,
                                  std::shared_ptr<const void> owner) {
  m_title = title;
  m_columns = std::move(columns);
  m_owner = std::move(owner);
  std::erase_if(m_columns, [](const DistributionColumn& each) { return each.values->count() == 0; });
  double low = 0, high = 0, typical = 0;
  for (const DistributionColumn& each : m_columns) {
    low = std::min(low, each.values->quantile(kLeftOut));
    high = std::max(high, each.values->quantile(1 - kLeftOut));
    typical = std::max(typical, each.values->quantile(0.75) - each.values->quantile(0.25));
  }
  const double widest = std::max(-low, high);
  m_scale = typical > 0 ? typical : widest > 0 ? widest : 1;
  m_low = bent(low);
  m_high = bent(high);
  if (!(m_high > m_low)) m_low -= 0.5, m_high += 0.5;
  const double room = 0.03 * (m_high - m_low);
  m_low -= room;
  m_high += room;
  setAccessibleName(title);
  update();
}

void DistributionView::setShown(std::int64_t step) {
  m_shown = step;
  update();
}

void DistributionView::setEmptyText(const QString& text) {
  m_emptyText = text;
  update();
}

double DistributionView::bent(double value) const {
  return std::asinh(value / m_scale);
}

QRectF DistributionView::area(const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  const QFontMetricsF numbers(theme.numberFont(FontRole::axis)), heading(theme.font(FontRole::heading));
  const double left = numbers.horizontalAdvance(QStringLiteral("−0.00025")) + 10, top = heading.height() + 12,
               bottom = 2 * numbers.height() + 8;
  return {left, top, size.width() - left - 14, size.height() - top - bottom};
}

double DistributionView::xOf(const QRectF& area, std::int64_t step) const {
  const auto first = static_cast<double>(m_columns.front().step), last = static_cast<double>(m_columns.back().step);
  if (last <= first) return area.center().x();
  // Half a column stands at both ends.
  const double half = area.width() / (2.0 * static_cast<double>(m_columns.size()));
  return area.left() + half + (static_cast<double>(step) - first) / (last - first) * (area.width() - 2 * half);
}

double DistributionView::yOf(const QRectF& area, double value) const {
  return area.bottom() - (bent(value) - m_low) / (m_high - m_low) * area.height();
}

std::pair<double, double> DistributionView::columnAt(const QRectF& area, std::size_t index) const {
  const double x = xOf(area, m_columns[index].step);
  const double left = index > 0 ? (xOf(area, m_columns[index - 1].step) + x) / 2 : area.left(),
               right = index + 1 < m_columns.size() ? (xOf(area, m_columns[index + 1].step) + x) / 2 : area.right();
  return {left, right};
}

QPointF DistributionView::placeOf(std::int64_t step, double value) const {
  const QRectF where = area(size());
  return m_columns.empty() ? where.center() : QPointF(xOf(where, step), yOf(where, value));
}

int DistributionView::indexAt(const QPointF& position) const {
  const QRectF where = area(size());
  if (m_columns.empty() || !where.contains(position)) return -1;
  for (std::size_t i = 0; i < m_columns.size(); ++i)
    if (position.x() < columnAt(where, i).second) return static_cast<int>(i);
  return static_cast<int>(m_columns.size()) - 1;
}

// Of each row of a column the share of values an equal length of the axis holds, beside the densest row's.
void DistributionView::paintColumns(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  const int rows = std::max(8, static_cast<int>(area.height() / 3));
  const QColor ink = theme.curveColour(0);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(Qt::NoPen);
  std::vector<double> density(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < m_columns.size(); ++i) {
    const ValueDistribution& values = *m_columns[i].values;
    std::fill(density.begin(), density.end(), 0);
    const auto rowOf = [&](double value) { return (bent(value) - m_low) / (m_high - m_low) * rows; };
    for (std::size_t k = 0; k < values.bins().size(); ++k) {
      const auto count = static_cast<double>(values.bins()[k]);
      if (count == 0) continue;
      const int bin = values.firstBin() + static_cast<int>(k);
      const double from = rowOf(std::max(ValueDistribution::lowerOf(bin), values.least())),
                   to = rowOf(std::min(ValueDistribution::upperOf(bin), values.most()));
      if (!(to - from > 1e-9)) {  // one value alone
        if (from >= 0 && from < rows) density[static_cast<std::size_t>(from)] += count;
        continue;
      }
      for (int row = std::max(0, static_cast<int>(from)); row < rows && row < to; ++row)
        density[static_cast<std::size_t>(row)] +=
            count * (std::min<double>(to, row + 1) - std::max<double>(from, row)) / (to - from);
    }
    const double densest = *std::max_element(density.begin(), density.end());
    const auto [left, right] = columnAt(area, i);
    const double high = area.height() / rows;
    for (int row = 0; row < rows && densest > 0; ++row) {
      const double share = std::sqrt(density[static_cast<std::size_t>(row)] / densest);  // faint tails are seen
      if (share < 0.02) continue;
      QColor colour = ink;
      colour.setAlphaF(static_cast<float>(0.06 + 0.69 * share));
      painter.fillRect(QRectF(QPointF(std::floor(left), area.bottom() - (row + 1) * high),
                              QPointF(std::floor(right), area.bottom() - row * high)),
                       colour);
    }
  }
  painter.restore();
  painter.save();
  painter.setClipRect(area);
  for (const double quantile : kQuantiles) {
    QPolygonF line;
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
      const double y = yOf(area, m_columns[i].values->quantile(quantile));
      if (m_columns.size() == 1) line << QPointF(area.left(), y) << QPointF(area.right(), y);
      if (m_columns.size() > 1) line << QPointF(xOf(area, m_columns[i].step), y);
    }
    const bool middle = quantile == 0.5;
    painter.setPen(QPen(theme.colour(middle ? Colour::text : Colour::text2), middle ? 1.8 : 1,
                        middle                                 ? Qt::SolidLine
                        : quantile == 0.25 || quantile == 0.75 ? Qt::DashLine
                                                               : Qt::DotLine));
    painter.drawPolyline(line);
  }
  painter.restore();
}

void DistributionView::paintAxes(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  const QFont numbers = theme.numberFont(FontRole::axis);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  // 0, and from there what stands apart enough of 1, 2, 5 and 10 times a power of ten.
  std::vector<double> marks{0};
  for (const double sign : {1.0, -1.0}) {
    double lastY = yOf(area, 0);
    for (double power = std::pow(10, std::floor(std::log10(m_scale)) - 2); power < 1e12; power *= 10)
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double value = sign * digit * power, y = yOf(area, value);
        if (bent(value) < m_low || bent(value) > m_high || std::abs(y - lastY) < 1.9 * metrics.height()) continue;
        marks.push_back(value);
        lastY = y;
      }
  }
  for (const double mark : marks) {
    if (bent(mark) < m_low || bent(mark) > m_high) continue;
    const double y = yOf(area, mark);
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(0, y - metrics.height() / 2, area.left() - 6, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, formatShort(mark));
  }
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
  double free = area.left() - metrics.averageCharWidth();
  const std::size_t every = std::max<std::size_t>(1, m_columns.size() / kStepTicks);
  painter.setPen(theme.colour(Colour::text3));
  for (std::size_t i = 0; i < m_columns.size(); i += every) {
    const QString text = QStringLiteral("%L1").arg(m_columns[i].step);
    const double wide = metrics.horizontalAdvance(text), left = xOf(area, m_columns[i].step) - wide / 2;
    if (left < free || left + wide > area.right() + 12) continue;
    painter.drawText(QRectF(left, area.bottom() + 4, wide + 1, metrics.height()), Qt::AlignCenter, text);
    free = left + wide + 14;
  }
  painter.setFont(theme.font(FontRole::axis));
  painter.drawText(QRectF(area.left(), area.bottom() + 4 + metrics.height(), area.width(), metrics.height() + 2),
                   Qt::AlignRight | Qt::AlignVCenter, tr("step"));
}

void DistributionView::paintOn(QPainter& painter, const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF where = area(size);
  const QFont heading = Theme::withWeight(theme.font(FontRole::heading), 600);
  painter.setFont(heading);
  painter.setPen(theme.colour(Colour::text));
  const QFontMetricsF metrics(heading);
  painter.drawText(QPointF(0, metrics.ascent()), m_title);
  const double used = metrics.horizontalAdvance(m_title) + 10;
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text3));
  if (m_columns.empty()) {
    painter.drawText(QRectF(QPointF(0, where.top()), QSizeF(size.width(), where.height())),
                     Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
    return;
  }
  painter.drawText(QPointF(used, metrics.ascent()), QFontMetricsF(painter.font())
                                                        .elidedText(tr("median, 25 and 75 % dashed, 5 and 95 % dotted"),
                                                                    Qt::ElideRight, size.width() - used));
  paintAxes(painter, where);
  paintColumns(painter, where);
  if (m_shown >= m_columns.front().step && m_shown <= m_columns.back().step) {
    painter.setPen(QPen(theme.colour(Colour::accent), 1.5));
    const double x = xOf(where, m_shown);
    painter.drawLine(QPointF(x, where.top()), QPointF(x, where.bottom()));
  }
}

void DistributionView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintOn(painter, size());
}

QImage DistributionView::toImage(QSize size, double ratio) const {
  constexpr int kEdge = 12;
  const Theme::LightColours light(Theme::of(this));
  QImage image((size + QSize(2 * kEdge, 2 * kEdge)) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Theme::of(this).colour(Colour::surface));
  QPainter painter(&image);
  painter.translate(kEdge, kEdge);
  paintOn(painter, size);
  return image;
}

QString DistributionView::toCsv() const {
  QString text = QStringLiteral("step,count,not_finite,least");
  for (const double quantile : kQuantiles) text += QStringLiteral(",q%1").arg(100 * quantile);
  text += QStringLiteral(",most,mean,deviation\n");
  const auto number = [](double value) { return QLatin1Char(',') + QString::number(value, 'g', 9); };
  for (const DistributionColumn& each : m_columns) {
    const ValueDistribution& values = *each.values;
    text += QString::number(each.step) + QLatin1Char(',') + QString::number(values.count()) + QLatin1Char(',') +
            QString::number(values.notFinite()) + number(values.least());
    for (const double quantile : kQuantiles) text += number(values.quantile(quantile));
    text += number(values.most()) + number(values.mean()) + number(values.deviation()) + QLatin1Char('\n');
  }
  return text;
}

QString DistributionView::wordsAt(const QPointF& position) const {
  const int index = indexAt(position);
  if (index < 0) return {};
  const DistributionColumn& column = m_columns[static_cast<std::size_t>(index)];
  const ValueDistribution& values = *column.values;
  QString words = tr("Step %L1: %L2 values from %3 to %4\nmedian %5, half of them from %6 to %7\nmean %8, deviation %9")
                      .arg(column.step)
                      .arg(values.count())
                      .arg(formatShort(values.least()), formatShort(values.most()), formatShort(values.quantile(0.5)),
                           formatShort(values.quantile(0.25)), formatShort(values.quantile(0.75)),
                           formatShort(values.mean()), formatShort(values.deviation()));
  if (values.notFinite() > 0) words += tr("\n%L1 more are not finite").arg(values.notFinite());
  return words;
}

void DistributionView::mouseMoveEvent(QMouseEvent* event) {
  const QString words = wordsAt(event->position());
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint() + QPoint(12, 12), words, this);
}

void DistributionView::mousePressEvent(QMouseEvent* event) {
  const int index = event->button() == Qt::LeftButton ? indexAt(event->position()) : -1;
  if (index >= 0) Q_EMIT stepClicked(m_columns[static_cast<std::size_t>(index)].step);
}

void DistributionView::keyPressEvent(QKeyEvent* event) {
  const int way = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (way == 0 || m_columns.empty()) return QWidget::keyPressEvent(event);
  const auto at = std::lower_bound(m_columns.begin(), m_columns.end(), m_shown,
                                   [](const DistributionColumn& each, std::int64_t step) { return each.step < step; });
  const auto index =
      std::clamp<std::ptrdiff_t>(at - m_columns.begin() + way, 0, static_cast<std::ptrdiff_t>(m_columns.size()) - 1);
  Q_EMIT stepClicked(m_columns[static_cast<std::size_t>(index)].step);
}

void DistributionView::leaveEvent(QEvent*) {
  QToolTip::hideText();
}

}  // namespace loom
