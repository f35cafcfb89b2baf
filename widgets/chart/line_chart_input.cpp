// Mouse, wheel and keys of a panel.
#include <QAbstractScrollArea>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSaveFile>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "widgets/chart/chart_commands.h"
#include "widgets/chart/line_chart.h"
#include "widgets/controls/commands.h"

namespace loom {
namespace {

constexpr double kHitDistance = 8;
constexpr double kDragDistance = 4;
constexpr double kWheelStep = 0.8;  // of the range for one notch

// In a page that does not fit its window the plain wheel moves the page, also over a chart.
bool pageScrolls(const QWidget& chart) {
  for (const QWidget* around = chart.parentWidget(); around; around = around->parentWidget())
    if (const auto* area = qobject_cast<const QAbstractScrollArea*>(around);
        area && area->verticalScrollBar()->maximum() > area->verticalScrollBar()->minimum())
      return true;
  return false;
}

}  // namespace

QString LineChart::lineAt(const QPointF& position) const {
  const QRectF frame = plot();
  if (!frame.contains(position)) return {};
  const double x = m_axis->xAt((position.x() - frame.left()) / frame.width());
  QString found;
  double nearest = kHitDistance;
  for (const PanelLine& line : m_lines) {
    if (!line.line.visible) continue;
    const auto value = valueAt(line.line, line.data, x);
    if (!value || !std::isfinite(value->drawn)) continue;
    const double distance = std::abs(frame.top() + m_scale.toPixel(value->drawn) - position.y());
    if (distance < nearest) {
      nearest = distance;
      found = line.line.id;
    }
  }
  return found;
}

void LineChart::mouseMoveEvent(QMouseEvent* event) {
  const QRectF frame = plot();
  if (m_pressed && (event->buttons() & Qt::LeftButton)) {
    if (std::abs(event->position().x() - m_pressed->x()) > kDragDistance) m_dragged = event->position();
    update();
    return;
  }
  const bool inside = event->position().x() >= frame.left() - 2 && event->position().x() <= frame.right() + 2;
  if (!m_axis->isPinned()) {
    if (inside)
      m_axis->setCursor(m_axis->xAt(std::clamp((event->position().x() - frame.left()) / frame.width(), 0.0, 1.0)));
    else
      m_axis->setCursor(std::nullopt);
  }
  const QString line = lineAt(event->position());
  if (line != property("hoveredLine").toString()) {
    setProperty("hoveredLine", line);
    Q_EMIT lineHovered(line);
  }
}

void LineChart::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !plot().adjusted(-2, 0, 2, 2).contains(event->position())) return;
  m_pressed = event->position();
  m_dragged.reset();
}

void LineChart::mouseReleaseEvent(QMouseEvent* event) {
  if (!m_pressed || event->button() != Qt::LeftButton) return;
  const QRectF frame = plot();
  const auto at = [&](double x) { return m_axis->xAt(std::clamp((x - frame.left()) / frame.width(), 0.0, 1.0)); };
  if (m_dragged) {
    m_axis->show({at(m_pressed->x()), at(m_dragged->x())});
  } else if (const QString line = lineAt(event->position());
             !line.isEmpty() && m_lines.size() > 1 && m_axis->isPinned() == false) {
    Q_EMIT lineClicked(line);
    m_axis->setCursor(at(event->position().x()));
    m_axis->setPinned(true);
  } else {
    m_axis->setPinned(!m_axis->isPinned());
    m_axis->setCursor(at(event->position().x()));
  }
  m_pressed.reset();
  m_dragged.reset();
  update();
}

void LineChart::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->position().x() < plot().left()) {
    m_showAll = !m_showAll;
    m_zoomedY.reset();
    refresh();
    return;
  }
  m_axis->setPinned(false);
  m_zoomedY.reset();
  m_axis->follow();
  refresh();
}

void LineChart::wheelEvent(QWheelEvent* event) {
  const QRectF frame = plot();
  const QPoint angle = event->angleDelta();
  const double notches = (angle.y() != 0 ? angle.y() : angle.x()) / 120.0;
  if (!frame.adjusted(-m_margins.left, 0, 0, m_margins.bottom).contains(event->position()) || notches == 0) {
    event->setAccepted(event->modifiers() &
                       Qt::ControlModifier);  // beside the plot it neither zooms nor moves the page away
    return;
  }
  if (!(event->modifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) && pageScrolls(*this)) {
    event->ignore();
    return;
  }
  const double factor = std::pow(kWheelStep, notches);
  if (event->modifiers() & Qt::ShiftModifier) {
    const double place = 1 - (event->position().y() - frame.top()) / frame.height();
    const Interval now = m_scale.range;
    if (m_log) {
      const double low = std::log(now.low), high = std::log(now.high), at = low + place * (high - low);
      m_zoomedY = Interval{std::exp(at - (at - low) * factor), std::exp(at + (high - at) * factor)};
    } else {
      const double at = now.low + place * now.span();
      m_zoomedY = Interval{at - (at - now.low) * factor, at + (now.high - at) * factor};
    }
    refresh();
  } else {
    m_axis->zoom(factor, m_axis->xAt(std::clamp((event->position().x() - frame.left()) / frame.width(), 0.0, 1.0)));
  }
  event->accept();
}

void LineChart::leaveEvent(QEvent*) {
  if (!m_axis->isPinned()) m_axis->setCursor(std::nullopt);
  if (!property("hoveredLine").toString().isEmpty()) {
    setProperty("hoveredLine", QString());
    Q_EMIT lineHovered(QString());
  }
}

// To the next or an earlier point of the line that has most of them.
void LineChart::moveCursor(int steps) {
  const PanelLine* guide = nullptr;
  for (const PanelLine& line : m_lines) {
    if (line.line.visible && (!guide || line.data.columns.columns.size() > guide->data.columns.columns.size()))
      guide = &line;
  }
  if (!guide || guide->data.columns.columns.empty()) return;
  const auto& columns = guide->data.columns.columns;
  const double x = m_axis->cursor().value_or(steps > 0 ? columns.front().x : columns.back().x);
  const auto nearest = std::min_element(
      columns.begin(), columns.end(),
      [x](const ChartColumn& a, const ChartColumn& b) { return std::abs(a.x - x) < std::abs(b.x - x); });
  const auto last = static_cast<std::ptrdiff_t>(columns.size()) - 1;
  const auto to = std::clamp<std::ptrdiff_t>((nearest - columns.begin()) + steps, 0, last);
  m_axis->setPinned(true);
  m_axis->setCursor(columns[static_cast<std::size_t>(to)].x);
}

void LineChart::goToBest() {
  if (!m_best) return;
  m_axis->setPinned(true);
  m_axis->setCursor(m_best->x);
}

void LineChart::toggleSmoothing() {
  Q_EMIT smoothingRequested(m_smoothing > 0 ? 0 : 0.9);
}

void LineChart::setShowsAll(bool all) {
  m_showAll = all;
  refresh();
}

void LineChart::showEverything() {
  m_zoomedY.reset();
  m_axis->follow();
  refresh();
}

void LineChart::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape && m_axis->isPinned()) {
    m_axis->setPinned(false);
    m_axis->setCursor(std::nullopt);
    return;
  }
  Commands& commands = Commands::around(*this);
  addChartCommands(commands);
  for (const char* scope : {"*/chart", "chart"})
    if (const QAction* const command = commands.findByKeys(QLatin1String(scope), *event))
      return commands.press(Commands::idOf(*command), this);
  QWidget::keyPressEvent(event);
}

void LineChart::contextMenuEvent(QContextMenuEvent* event) {
  openMenu(event->globalPos());
}

void LineChart::openMenu(const QPoint& at) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  Commands& commands = Commands::around(*this);
  addChartCommands(commands);
  const auto add = [&](const char* id) { return commands.addTo(*menu, QString::fromLatin1(id), this); };
  const auto toggle = [&](const char* id, bool on) {
    QAction* const line = add(id);
    line->setCheckable(true);
    line->setChecked(on);
  };
  if (m_fillMenu) {
    m_fillMenu(*menu);
    menu->addSeparator();
  }
  for (const char* id : {"chart.export-png", "chart.export-svg", "chart.export-csv"}) add(id);
  menu->addSeparator();
  add("chart.copy-values")->setEnabled(m_axis->cursor().has_value());
  toggle("chart.log", m_log);
  toggle("chart.outliers", m_showAll);
  add("chart.show-all");
  menu->popup(at);
}

}  // namespace loom
