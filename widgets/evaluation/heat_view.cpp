#include "widgets/evaluation/heat_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPlaneTicks = 5, kPlaneLevels = 8;
constexpr double kStripWidth = 12, kStripGap = 18, kStripWords = 64, kManifold = 10;

// 1, 2, 5 of each decade; of more than four decades their beginnings alone.
std::vector<double> decadeLevels(double least, double most) {
  std::vector<double> levels;
  const int first = static_cast<int>(std::floor(std::log10(least))),
            last = static_cast<int>(std::ceil(std::log10(most)));
  for (int power = first; power <= last; ++power)
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor == 1 || last - first <= 4) levels.push_back(factor * std::pow(10.0, power));
  return levels;
}

double nothing() {
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

bool HeatMap::isEmpty() const {
  return columns < 2 || rows < 2 ||
         std::none_of(values.begin(), values.end(), [](double each) { return std::isfinite(each); });
}

HeatView::HeatView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  connect(&Theme::of(this), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void HeatView::setMap(HeatMap map) {
  m_map = std::move(map);
  m_levels.clear();
  m_least = std::numeric_limits<double>::infinity();
  m_most = -m_least;
  for (const double each : m_map.values)
    if (std::isfinite(each)) m_least = std::min(m_least, each), m_most = std::max(m_most, each);
  m_logarithmic = m_least > 0 && m_most > kManifold * m_least;
  if (!m_map.isEmpty() && m_most > m_least) {
    for (const double each :
         m_logarithmic ? decadeLevels(m_least, m_most) : linearTicks({m_least, m_most}, kPlaneLevels).values)
      if (each > m_least && each < m_most) m_levels.push_back(each);
  }
  setAccessibleName(m_map.title + ' ' + m_map.subtitle);
  setAccessibleDescription(m_map.isEmpty() ? m_map.empty
                                           : tr("From %1 to %2").arg(formatShort(m_least), formatShort(m_most)));
  update();
}

QRectF HeatView::area(const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  const QFontMetricsF numbers(theme.numberFont(FontRole::axis)), heading(theme.font(FontRole::heading));
  const double left = numbers.horizontalAdvance(QStringLiteral("−0.75")) + 8,
               top = heading.height() + 14 + numbers.height();
  const double bottom = 2 * numbers.height() + 10, right = kStripGap + kStripWidth + kStripWords;
  const double side = std::max(20.0, std::min(size.width() - left - right, size.height() - top - bottom));
  return {left, top, side, side};
}

QPointF HeatView::place(const QRectF& area, const QPointF& value) const {
  return {area.left() + (value.x() - m_map.x.low) / m_map.x.span() * area.width(),
          area.bottom() - (value.y() - m_map.y.low) / m_map.y.span() * area.height()};
}

QPointF HeatView::placeOf(const QPointF& value) const {
  return place(area(size()), value);
}

double HeatView::shareOf(double value) const {
  if (!(m_most > m_least)) return 0;
  const auto scaled = [this](double each) { return m_logarithmic ? std::log(each) : each; };
  return (scaled(value) - scaled(m_least)) / (scaled(m_most) - scaled(m_least));
}

QColor HeatView::colourOf(double value) const {
  const Theme& theme = Theme::of(this);
  if (!std::isfinite(value)) return theme.colour(Colour::sunken);
  const auto& scale = theme.palette().scale;
  const double at = std::clamp(shareOf(value), 0.0, 1.0) * static_cast<double>(scale.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), scale.size() - 2);
  const double over = at - static_cast<double>(below);
  const auto mix = [over](int a, int b) { return static_cast<int>(std::lround(a + over * (b - a))); };
  const QColor &one = scale[below], &other = scale[below + 1];
  return QColor(mix(one.red(), other.red()), mix(one.green(), other.green()), mix(one.blue(), other.blue()));
}

// Between the four grid points around a place, over the logarithm where it is drawn so; NaN where one is not known.
double HeatView::between(double column, double row) const {
  const int left = std::clamp(static_cast<int>(column), 0, m_map.columns - 2),
            low = std::clamp(static_cast<int>(row), 0, m_map.rows - 2);
  const double x = column - left, y = row - low;
  const auto scaled = [&](int c, int r) {
    const double value = m_map.at(c, r);
    return !std::isfinite(value) ? nothing() : m_logarithmic ? std::log(value) : value;
  };
  const double mixed = (1 - y) * ((1 - x) * scaled(left, low) + x * scaled(left + 1, low)) +
                       y * ((1 - x) * scaled(left, low + 1) + x * scaled(left + 1, low + 1));
  return m_logarithmic ? std::exp(mixed) : mixed;
}

void HeatView::paintPlane(QPainter& painter, const QRectF& area) const {
  const double ratio = painter.device()->devicePixelRatioF();
  QImage image((area.size() * ratio).toSize(), QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y) {
    auto* const line = reinterpret_cast<QRgb*>(image.scanLine(y));
    const double row = (1 - (y + 0.5) / image.height()) * (m_map.rows - 1);
    for (int x = 0; x < image.width(); ++x)
      line[x] = colourOf(between((x + 0.5) / image.width() * (m_map.columns - 1), row)).rgb();
  }
  painter.drawImage(area, image);
}

// Marching squares; a saddle is parted by its middle.
void HeatView::paintContours(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  for (const double level : m_levels) {
    // On dark ground a light line, and the other way round.
    const QColor ground = colourOf(level), ink = theme.colour(Colour::text), other = theme.colour(Colour::surface);
    QColor line = contrast(ink, ground) >= contrast(other, ground) ? ink : other;
    line.setAlphaF(0.75F);
    painter.setPen(QPen(line, 1));
    const double wanted = shareOf(level);
    for (int row = 0; row + 1 < m_map.rows; ++row)
      for (int column = 0; column + 1 < m_map.columns; ++column) {
        constexpr int kX[] = {0, 1, 1, 0}, kY[] = {0, 0, 1, 1};
        std::array<double, 4> corner{};
        bool known = true;
        for (std::size_t i = 0; i < 4; ++i) {
          const double value = m_map.at(column + kX[i], row + kY[i]);
          known = known && std::isfinite(value);
          corner[i] = known ? shareOf(value) - wanted : 0;
        }
        if (!known) continue;
        std::vector<QPointF> cuts;
        for (std::size_t i = 0; i < 4; ++i) {
          const std::size_t next = (i + 1) % 4;
          if ((corner[i] < 0) == (corner[next] < 0)) continue;
          const double way = corner[i] / (corner[i] - corner[next]);
          cuts.emplace_back(column + kX[i] + way * (kX[next] - kX[i]), row + kY[i] + way * (kY[next] - kY[i]));
        }
        const auto drawn = [&](const QPointF& at) {
          return QPointF(area.left() + at.x() / (m_map.columns - 1) * area.width(),
                         area.bottom() - at.y() / (m_map.rows - 1) * area.height());
        };
        // Of four cuts the first and the second, or the first and the last are one line.
        const bool turned = cuts.size() == 4 && (corner[0] + corner[1] + corner[2] + corner[3] < 0) != (corner[0] < 0);
        for (std::size_t i = 0; i + 1 < cuts.size(); i += 2)
          painter.drawLine(drawn(cuts[turned ? i + 1 : i]), drawn(cuts[turned ? (i + 2) % 4 : i + 1]));
      }
  }
}

void HeatView::paintAxes(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  const QFont numbers = theme.numberFont(FontRole::axis);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  painter.setPen(theme.colour(Colour::text3));
  const Ticks x = linearTicks(m_map.x, kPlaneTicks), y = linearTicks(m_map.y, kPlaneTicks);
  for (const double each : x.values) {
    const QString text = tickLabel(each, x);
    const double wide = metrics.horizontalAdvance(text) + 2, at = place(area, {each, m_map.y.low}).x();
    painter.drawText(QRectF(at - wide / 2, area.bottom() + 4, wide, metrics.height()), Qt::AlignCenter, text);
  }
  for (const double each : y.values) {
    const double at = place(area, {m_map.x.low, each}).y();
    painter.drawText(QRectF(0, at - metrics.height() / 2, area.left() - 6, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, tickLabel(each, y));
  }
  painter.setFont(theme.font(FontRole::axis));
  painter.drawText(QRectF(area.left(), area.bottom() + 6 + metrics.height(), area.width(), metrics.height() + 2),
                   Qt::AlignRight | Qt::AlignVCenter, m_map.xName);
  painter.drawText(QRectF(0, area.top() - metrics.height() - 8, area.right(), metrics.height() + 2),
                   Qt::AlignLeft | Qt::AlignVCenter, m_map.yName);
  // The run itself, where the directions meet.
  painter.setPen(QPen(theme.colour(Colour::surface), 4));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(place(area, {0, 0}), 5, 5);
  painter.setPen(QPen(theme.colour(Colour::text), 1.75));
  painter.drawEllipse(place(area, {0, 0}), 5, 5);
}

void HeatView::paintScale(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  const QRectF strip(area.right() + kStripGap, area.top(), kStripWidth, area.height());
  QLinearGradient colours(strip.bottomLeft(), strip.topLeft());
  const auto& scale = theme.palette().scale;
  for (std::size_t i = 0; i < scale.size(); ++i)
    colours.setColorAt(static_cast<double>(i) / static_cast<double>(scale.size() - 1), scale[i]);
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.setBrush(colours);
  painter.drawRect(strip);
  const QFont numbers = theme.numberFont(FontRole::axis);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  std::vector<double> told{m_least, m_most};
  told.insert(told.end(), m_levels.begin(), m_levels.end());
  std::vector<double> taken;
  for (const double each : told) {
    const double at = strip.bottom() - shareOf(each) * strip.height();
    painter.setPen(theme.colour(Colour::text3));
    painter.drawLine(QPointF(strip.right(), at), QPointF(strip.right() + 3, at));
    const bool near =
        std::any_of(taken.begin(), taken.end(), [&](double other) { return std::abs(other - at) < metrics.height(); });
    if (near) continue;
    taken.push_back(at);
    painter.drawText(QRectF(strip.right() + 6, at - metrics.height() / 2, kStripWords - 6, metrics.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, formatShort(each));
  }
}

void HeatView::paintOn(QPainter& painter, const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QFont heading = Theme::withWeight(theme.font(FontRole::heading), 600);
  const QFontMetricsF metrics(heading);
  painter.setFont(heading);
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QPointF(0, metrics.ascent()), m_map.title);
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text3));
  const double used = metrics.horizontalAdvance(m_map.title) + 10;
  painter.drawText(QPointF(used, metrics.ascent()),
                   QFontMetricsF(painter.font()).elidedText(m_map.subtitle, Qt::ElideRight, size.width() - used));
  if (m_map.isEmpty()) {
    painter.drawText(QRectF(QPointF(0, metrics.height()), size - QSizeF(0, metrics.height())),
                     Qt::AlignCenter | Qt::TextWordWrap, m_map.empty);
    return;
  }
  const QRectF area = this->area(size);
  paintPlane(painter, area);
  paintContours(painter, area);
  paintAxes(painter, area);
  paintScale(painter, area);
}

void HeatView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintOn(painter, size());
}

QImage HeatView::toImage(QSize size, double ratio) const {
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

QString HeatView::wordsAt(const QPointF& position) const {
  const QRectF where = area(size());
  if (m_map.columns < 2 || m_map.rows < 2 || !where.adjusted(-4, -4, 4, 4).contains(position)) return {};
  const auto nearest = [](double share, int count) {
    return std::clamp(static_cast<int>(std::lround(share * (count - 1))), 0, count - 1);
  };
  const int column = nearest((position.x() - where.left()) / where.width(), m_map.columns),
            row = nearest((where.bottom() - position.y()) / where.height(), m_map.rows);
  const double value = m_map.at(column, row);
  return tr("%1, %2: %3 %4")
      .arg(formatFixed(m_map.x.low + m_map.x.span() * column / (m_map.columns - 1), 2),
           formatFixed(m_map.y.low + m_map.y.span() * row / (m_map.rows - 1), 2), m_map.valueName,
           std::isfinite(value) ? formatLoss(value) : tr("not known"));
}

void HeatView::mouseMoveEvent(QMouseEvent* event) {
  const QString words = wordsAt(event->position());
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(), words, this);
}

}  // namespace loom
