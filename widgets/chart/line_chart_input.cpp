// Mouse, wheel and keys of a panel.
#include <QAbstractScrollArea>
#include <QApplication>
#include <QClipboard>
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

#include "widgets/chart/line_chart.h"
#include "widgets/theme/icon.h"

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

void LineChart::keyPressEvent(QKeyEvent* event) {
  constexpr int kFar = 1 << 30;
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(cursorValues());
    return;
  }
  if (event->key() == Qt::Key_E && event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier)) {
    exportTo(QStringLiteral("png"));
    return;
  }
  if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
    QWidget::keyPressEvent(event);
    return;
  }
  switch (event->key()) {
    case Qt::Key_Left:
      moveCursor(shift ? -10 : -1);
      break;
    case Qt::Key_Right:
      moveCursor(shift ? 10 : 1);
      break;
    case Qt::Key_Home:
      moveCursor(-kFar);
      break;
    case Qt::Key_End:
      moveCursor(kFar);
      break;
    case Qt::Key_1:
      m_axis->setUnit(XUnit::step);
      break;
    case Qt::Key_2:
      m_axis->setUnit(XUnit::epoch);
      break;
    case Qt::Key_3:
      m_axis->setUnit(XUnit::samples);
      break;
    case Qt::Key_4:
      m_axis->setUnit(XUnit::relative);
      break;
    case Qt::Key_L:
      setLogarithmic(!m_log);
      break;
    case Qt::Key_S:
      Q_EMIT smoothingRequested(m_smoothing > 0 ? 0 : 0.9);
      break;
    case Qt::Key_F:
      m_axis->follow();
      break;
    case Qt::Key_B:
      if (m_best) {
        m_axis->setPinned(true);
        m_axis->setCursor(m_best->x);
      }
      break;
    case Qt::Key_Escape:
      if (!m_axis->isPinned()) {
        QWidget::keyPressEvent(event);
        break;
      }
      m_axis->setPinned(false);
      m_axis->setCursor(std::nullopt);
      break;
    default:
      QWidget::keyPressEvent(event);
  }
}

void LineChart::contextMenuEvent(QContextMenuEvent* event) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(icon(QStringLiteral("image")), tr("Export as PNG..."), this,
                  [this] { exportTo(QStringLiteral("png")); });
  menu->addAction(tr("Export as SVG..."), this, [this] { exportTo(QStringLiteral("svg")); });
  menu->addAction(tr("Export all points as CSV..."), this, [this] { exportTo(QStringLiteral("csv")); });
  menu->addSeparator();
  QAction* values = menu->addAction(icon(QStringLiteral("copy")), tr("Copy values at the cursor"), this,
                                    [this] { QApplication::clipboard()->setText(cursorValues()); });
  values->setEnabled(m_axis->cursor().has_value());
  QAction* log = menu->addAction(tr("Logarithmic"), this, [this] { setLogarithmic(!m_log); });
  log->setCheckable(true);
  log->setChecked(m_log);
  QAction* all = menu->addAction(tr("Show outliers"), this, [this] {
    m_showAll = !m_showAll;
    refresh();
  });
  all->setCheckable(true);
  all->setChecked(m_showAll);
  menu->addAction(icon(QStringLiteral("fit")), tr("Show everything"), this, [this] {
    m_zoomedY.reset();
    m_axis->follow();
    refresh();
  });
  menu->popup(event->globalPos());
}

}  // namespace loom
