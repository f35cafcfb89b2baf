#include "widgets/chart/line_chart.h"

#include <QEvent>
#include <QPainter>
#include <QPointer>
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/chart/chart_painter.h"
#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kTickPitch = 22;  // pixels between numbers of the y axis, at least
constexpr double kStackBin = 7;    // pixels of a bar of a stack
constexpr int kLeastPlot = 30;     // below 20 px nothing would be drawn, neither the x axis
constexpr int kXNumbersRoom = 46;  // numbers and what they count
constexpr int kLabelGap = 13;      // between a number of the y axis and the plot, and before it

}  // namespace

LineChart::LineChart(XAxisModel* axis, QWidget* parent)
    : QWidget(parent), m_axis(axis), m_layer(std::make_unique<CurveLayer>()) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty("focusRadius", 4);
  setAttribute(Qt::WA_OpaquePaintEvent, false);
  setXNumbers(true);
  connect(axis, &XAxisModel::changed, this, &LineChart::refresh);
  connect(axis, &XAxisModel::frame, this, [this, putOff = false]() mutable {
    if (!m_stale || !isVisible()) return void(putOff = false);
    if (m_axis->isFrameGoingOn() && !putOff) return m_axis->requestFrame();  // it was drawn in its turn
    putOff = m_axis->isFrameSpent();
    putOff ? m_axis->putOff() : drawNow();
  });
  connect(axis, &XAxisModel::cursorChanged, this, [this] { update(); });
  connect(&Theme::of(this), &Theme::changed, this, &LineChart::restyle);
}

LineChart::~LineChart() = default;

void LineChart::setTitle(const QString& title, const QString& subtitle) {
  m_title = title;
  m_subtitle = subtitle;
  setAccessibleName(title);
  refresh();
}

void LineChart::setLines(std::vector<ChartLine> lines) {
  m_lines.clear();
  for (ChartLine& line : lines) {
    if (line.source)
      line.source->whenMore([chart = QPointer<LineChart>(this)] {
        if (chart) chart->refresh();
      });
    m_lines.push_back({std::move(line), {}, {}});
  }
  refresh();
}

void LineChart::setBetter(Better better) {
  m_better = better;
  refresh();
}

void LineChart::setValueKind(ValueKind kind) {
  m_kind = kind;
  refresh();
}

void LineChart::setLogarithmic(bool on) {
  if (on == m_log) return;
  m_log = on;
  m_zoomedY.reset();
  refresh();
  Q_EMIT logarithmicChanged(on);
}

void LineChart::setSmoothing(double weight) {
  weight = std::clamp(weight, 0.0, 0.999);
  if (weight == m_smoothing) return;
  m_smoothing = weight;
  refresh();
}

void LineChart::setYRange(std::optional<Interval> range) {
  m_fixed = range;
  refresh();
}

void LineChart::setBest(std::optional<BestMark> best) {
  m_best = std::move(best);
  refresh();
}

void LineChart::setEvents(std::vector<ChartEvent> events, bool flags) {
  m_events = std::move(events);
  m_flags = flags;
  refresh();
}

void LineChart::setLineEnds(LineEnds ends) {
  m_ends = ends;
  refresh();
}

void LineChart::setMargins(PanelMargins margins) {
  m_margins = margins;
  refresh();
}

QSize LineChart::minimumSizeHint() const {
  return {260, m_margins.top + kLeastPlot + m_margins.bottom};
}

void LineChart::setXNumbers(bool shown) {
  m_xNumbers = shown;
  restyle();
}

void LineChart::restyle() {
  // Two lines of words: they need more room where text is larger.
  m_margins.bottom = m_xNumbers ? kXNumbersRoom * std::max(100, Theme::of(this).textSize()) / 100 : 12;
  updateGeometry();
  refresh();
}

void LineChart::setContinued(bool continued) {
  m_continued = continued;
  update();
}

void LineChart::setEmptyText(const QString& text) {
  if (text == m_empty) return;
  m_empty = text;
  refresh();
}

void LineChart::setHighlighted(const QString& id) {
  if (id == m_highlighted) return;
  m_highlighted = id;
  refresh();
}

void LineChart::refresh() {
  m_stale = true;
  m_axis->requestFrame();
}

QRectF LineChart::plot() const {
  return QRectF(rect()).adjusted(m_margins.left, m_margins.top, -m_margins.right, -m_margins.bottom);
}

double LineChart::yPixel(double value) const {
  return plot().top() + m_scale.toPixel(value);
}

Ticks LineChart::yTicks() const {
  const double factor = axisFactor(m_kind);
  const Interval shown{m_scale.range.low * factor, m_scale.range.high * factor};
  const int most = std::clamp(static_cast<int>(plot().height() / kTickPitch), 3, 8);
  return m_log ? logTicks(shown, most) : linearTicks(shown, most);
}

int LineChart::roomForLabels() const {
  const QFontMetricsF metrics(Theme::of(this).numberFont(FontRole::axis));
  double widest = 0;
  const Ticks ticks = yTicks();
  for (const double value : ticks.values) widest = std::max(widest, metrics.horizontalAdvance(tickLabel(value, ticks)));
  return static_cast<int>(std::ceil(widest)) + kLabelGap;
}

void LineChart::read() {
  const int width = std::max(2, qRound(plot().width()));
  for (PanelLine& line : m_lines) {
    line.data = line.line.visible ? readLine(line.line, *m_axis, width, m_smoothing) : LineData();
  }
}

void LineChart::openRange() {
  m_scale.logarithmic = m_log;
  if (const auto& given = m_zoomedY ? m_zoomedY : m_fixed; given && (!m_log || given->low > 0)) {
    m_scale.range = *given;
    return;
  }
  std::vector<double> values;
  for (const PanelLine& line : m_lines)
    collectValues(line.line, line.data, values,
                  m_showAll ? std::numeric_limits<double>::infinity() : divergesAbove(line.line, line.data));
  // A stack is as high as its parts together.
  double stack = 0;
  for (const PanelLine& line : m_lines) {
    if (line.line.kind != LineKind::stacked) continue;
    std::vector<double> heights;
    for (const ChartColumn& column : line.data.columns.columns) {
      if (column.finite()) heights.push_back((column.minimum + column.maximum) / 2);
    }
    if (!heights.empty()) stack += *std::max_element(heights.begin(), heights.end());
  }
  if (stack > 0) {
    values.push_back(0);
    values.push_back(stack);
  }
  if (m_log) {
    values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return !(value > 0); }), values.end());
    m_scale.range = values.empty() ? Interval{0.1, 1}
                                   : niceLogRange(m_showAll ? Interval{*std::min_element(values.begin(), values.end()),
                                                                       *std::max_element(values.begin(), values.end())}
                                                            : robustRange(values));
    return;
  }
  Interval range = robustRange(values);
  if (m_showAll && !values.empty())
    range = {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
  // A low panel has few numbers, but its range still fits the values closely.
  const int ticks = std::clamp(static_cast<int>(plot().height() / kTickPitch), 6, 8);
  m_scale.range = niceRange(range, ticks);
  if (m_kind == ValueKind::accuracy || m_kind == ValueKind::training)
    m_scale.range.high = std::min(m_scale.range.high, std::max(1.0, range.high));
}

void LineChart::draw(QSizeF size) {
  m_scale.height = size.height();
  std::vector<double> below(static_cast<std::size_t>(std::max(1.0, size.width() / kStackBin)), 0.0);
  for (PanelLine& line : m_lines) {
    if (line.line.kind == LineKind::stacked) {
      line.drawn = {};
      if (line.line.visible) drawStacked(line.drawn, line.data, *m_axis, size.width(), m_scale, below);
    } else {
      line.drawn = drawLine(line.line, line.data, *m_axis, size.width(), m_scale, m_smoothing);
    }
  }
}

void LineChart::drawNow() {
  m_stale = false;
  const double ratio = devicePixelRatioF();
  read();
  openRange();
  draw(plot().size().expandedTo(QSizeF(1, 1)));
  m_picture = QPixmap(size() * ratio);
  m_picture.setDevicePixelRatio(ratio);
  m_picture.fill(Qt::transparent);
  QPainter painter(&m_picture);
  const Theme& theme = Theme::of(this);
  ChartPainter(*this, theme.palette(), theme.isDark()).paint(painter, QRectF(rect()));
  painter.end();
  update();
  Q_EMIT drawn();
}

void LineChart::paintEvent(QPaintEvent*) {
  if (m_picture.isNull() || m_picture.size() != size() * devicePixelRatioF()) {
    m_stale = true;
    drawNow();
  }
  QPainter painter(this);
  painter.drawPixmap(0, 0, m_picture);
  const Theme& theme = Theme::of(this);
  ChartPainter(*this, theme.palette(), theme.isDark()).paintCursor(painter, QRectF(rect()));
  if (m_pressed && m_dragged) {
    const QRectF frame = plot();
    const double left = std::clamp(std::min(m_pressed->x(), m_dragged->x()), frame.left(), frame.right());
    const double right = std::clamp(std::max(m_pressed->x(), m_dragged->x()), frame.left(), frame.right());
    painter.fillRect(QRectF(left, frame.top(), right - left, frame.height()), theme.colour(Colour::accent, 0.14));
    painter.setPen(theme.hairline(Colour::accentText));
    painter.drawLine(QPointF(left, frame.top()), QPointF(left, frame.bottom()));
    painter.drawLine(QPointF(right, frame.top()), QPointF(right, frame.bottom()));
  }
}

void LineChart::resizeEvent(QResizeEvent*) {
  if (m_menuButton) m_menuButton->move(width() - m_menuButton->width(), -2);
  refresh();
}

void LineChart::setMenu(std::function<void(QMenu&)> fill) {
  m_fillMenu = std::move(fill);
  if (m_menuButton) return;
  auto* button = iconButton(QStringLiteral("more"), tr("Series, scale and export of this chart"), this);
  button->setObjectName(QStringLiteral("chart-menu"));
  button->setFixedSize(24, 24);
  connect(button, &QAbstractButton::clicked, this,
          [this, button] { openMenu(button->mapToGlobal(QPoint(0, button->height()))); });
  m_menuButton = button;
  button->move(width() - button->width(), -2);
  button->show();
}

QString LineChart::legendValue(const PanelLine& line) const {
  if (const auto cursor = m_axis->cursor()) {
    const auto value = valueAt(line.line, line.data, *cursor);
    return value ? formatValue(line.line.value, value->value) : QStringLiteral("–");
  }
  return line.drawn.lastValue ? formatValue(line.line.value, *line.drawn.lastValue) : QString();
}

QString LineChart::cursorWords() const {
  const auto cursor = m_axis->cursor();
  if (!cursor || m_ends != LineEnds::none) return {};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const PanelLine& line : m_lines) {
    if (!line.line.visible || line.line.kind == LineKind::planned) continue;
    if (line.line.id == m_highlighted && !m_highlighted.isEmpty()) return legendValue(line);
    const auto value = valueAt(line.line, line.data, *cursor);
    if (!value || !std::isfinite(value->value)) continue;
    low = std::min(low, value->value);
    high = std::max(high, value->value);
  }
  if (low > high) return {};
  const QString least = formatValue(m_kind, low), most = formatValue(m_kind, high);
  return least == most ? least : tr("%1 to %2").arg(least, most);
}

// What came while it was hidden: no frame drew it.
void LineChart::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_stale) m_axis->requestFrame();
}

void LineChart::changeEvent(QEvent* event) {
  if (event->type() == QEvent::EnabledChange || event->type() == QEvent::FontChange) refresh();
  QWidget::changeEvent(event);
}

std::int64_t LineChart::shownPoints() const {
  std::int64_t points = 0;
  for (const PanelLine& line : m_lines) points += line.drawn.points;
  return points;
}

std::size_t LineChart::shownColumns() const {
  std::size_t columns = 0;
  for (const PanelLine& line : m_lines) columns += line.drawn.columns;
  return columns;
}

bool LineChart::everyPointShown() const {
  return std::all_of(m_lines.begin(), m_lines.end(), [](const PanelLine& line) { return line.drawn.exact; });
}

}  // namespace loom
