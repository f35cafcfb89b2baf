#include "widgets/chart/chart_stack.h"

#include <QGridLayout>
#include <algorithm>
#include <cmath>

#include "widgets/chart/chart_painter.h"
#include "widgets/chart/chart_tooltip.h"
#include "widgets/controls/button.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr std::size_t kFewLines = 10;
constexpr int kTooltipGap = 14;
constexpr int kLabelStep = 10;

}  // namespace

ChartStack::ChartStack(Qt::Orientation direction, QWidget* parent)
    : QWidget(parent),
      m_layout(new QGridLayout(this)),
      m_tooltip(new ChartTooltip(this)),
      m_follow(new Button(QStringLiteral("follow"), tr("Follow"), ButtonKind::tinted, this)),
      m_direction(direction) {
  m_layout->setContentsMargins(0, 0, 0, 0);
  m_layout->setHorizontalSpacing(direction == Qt::Vertical ? 0 : 24);
  m_layout->setVerticalSpacing(direction == Qt::Vertical ? 0 : 8);
  m_follow->hide();
  m_follow->setAccessibleName(tr("Follow the live edge"));
  connect(m_follow, &QPushButton::clicked, &m_axis, &XAxisModel::follow);
  connect(&m_axis, &XAxisModel::followingChanged, this, [this](bool following) {
    m_follow->setVisible(!following);
    m_follow->setText(m_axis.liveEdge() ? tr("Follow") : tr("Show all"));
    m_follow->raise();
    placeTooltip();
  });
  connect(&m_axis, &XAxisModel::cursorChanged, this, &ChartStack::placeTooltip);
}

LineChart* ChartStack::addPanel(const QString& title, const QString& subtitle, int stretch) {
  auto* panel = new LineChart(&m_axis, this);
  panel->setTitle(title, subtitle);
  if (m_direction == Qt::Vertical && !m_panels.empty()) {
    m_panels.back()->setXNumbers(false);
    panel->setContinued(true);
  }
  PanelMargins margins = panel->margins();
  margins.left = m_left;
  margins.right = m_right;
  panel->setMargins(margins);
  m_panels.push_back(panel);
  m_stretch[panel] = stretch;
  const int place = static_cast<int>(m_panels.size()) - 1;
  if (m_direction == Qt::Vertical) {
    // The panel's own stretch, not its row's: a hidden one leaves its room to the others.
    QSizePolicy policy = panel->sizePolicy();
    policy.setVerticalStretch(stretch);
    panel->setSizePolicy(policy);
    m_layout->addWidget(panel, place, 0);
  } else {
    m_layout->addWidget(panel, 0, place);
    m_layout->setColumnStretch(place, stretch);
  }
  connect(panel, &LineChart::lineClicked, this, &ChartStack::lineClicked);
  connect(panel, &LineChart::lineHovered, this, &ChartStack::lineHovered);
  connect(panel, &LineChart::smoothingRequested, this, &ChartStack::smoothingRequested);
  connect(panel, &LineChart::drawn, this, [this] {
    fitLabels();
    if (m_axis.cursor()) placeTooltip();
  });
  connect(panel, &LineChart::exported, this, &ChartStack::exported);
  m_tooltip->raise();
  return panel;
}

void ChartStack::removePanel(LineChart* panel) {
  const auto own = std::find(m_panels.begin(), m_panels.end(), panel);
  if (own == m_panels.end() || m_panels.size() < 2) return;
  m_panels.erase(own);
  m_stretch.erase(panel);
  m_layout->removeWidget(panel);
  panel->hide();
  panel->deleteLater();
  placeTooltip();
}

void ChartStack::arrange(const std::vector<LineChart*>& shown, int perRow) {
  if (m_arranged == std::pair(perRow, shown)) return;
  m_arranged = {perRow, shown};
  for (LineChart* each : m_panels) m_layout->removeWidget(each);
  for (int column = 0; column < m_layout->columnCount(); ++column) m_layout->setColumnStretch(column, 0);
  for (int row = 0; row < m_layout->rowCount(); ++row) m_layout->setRowStretch(row, 0);
  const auto columns = static_cast<std::size_t>(std::max(1, perRow));
  const bool oneRow = shown.size() <= columns;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const int row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
    m_layout->addWidget(shown[i], row, column);
    m_layout->setColumnStretch(column, oneRow ? m_stretch[shown[i]] : 1);
    m_layout->setRowStretch(row, 1);
  }
}

void ChartStack::setMargins(int left, int right) {
  m_left = left;
  m_right = right;
  for (LineChart* panel : m_panels) {
    PanelMargins margins = panel->margins();
    margins.left = left;
    margins.right = right;
    panel->setMargins(margins);
  }
}

// The numbers of the y axes stand whole: panels under each other take the widest, so that their plots stay aligned. In
// steps, so that a live curve does not make them jump.
void ChartStack::fitLabels() {
  int widest = 0;
  const auto room = [&](const LineChart& panel) {
    return std::max(m_left, (panel.roomForLabels() + kLabelStep - 1) / kLabelStep * kLabelStep);
  };
  for (const LineChart* panel : m_panels)
    if (panel->isVisible()) widest = std::max(widest, room(*panel));
  for (LineChart* panel : m_panels) {
    PanelMargins margins = panel->margins();
    const int left = m_direction == Qt::Vertical ? widest : room(*panel);
    if (left == margins.left || !panel->isVisible()) continue;
    margins.left = left;
    panel->setMargins(margins);
  }
}

void ChartStack::setCaption(std::function<Caption(double)> caption) {
  m_caption = std::move(caption);
}

void ChartStack::setSmoothing(double weight) {
  for (LineChart* panel : m_panels) panel->setSmoothing(weight);
}

void ChartStack::setHighlighted(const QString& id) {
  for (LineChart* panel : m_panels) panel->setHighlighted(id);
}

void ChartStack::refresh() {
  for (LineChart* panel : m_panels) panel->refresh();
}

void ChartStack::drawNow() {
  m_layout->activate();
  for (LineChart* panel : m_panels) panel->drawNow();
}

void ChartStack::placeTooltip() {
  m_follow->adjustSize();
  m_follow->move(width() - m_right - m_follow->width() - 8, 26);
  const auto cursor = m_axis.cursor();
  if (!cursor || m_panels.empty()) {
    m_tooltip->hide();
    return;
  }
  // The values of the panel under the pointer alone where there are many lines; of all panels where they are few.
  LineChart* panel = nullptr;
  std::size_t count = 0;
  for (LineChart* each : m_panels) {
    if (each->isHidden()) continue;
    if (!panel || each->underMouse() || each->hasFocus()) panel = each;
    count += each->lines().size();
  }
  if (!panel) return m_tooltip->hide();
  const Theme& theme = Theme::of(this);
  std::vector<TooltipRow> rows;
  double curveLow = 1e9, curveHigh = -1e9;
  for (const LineChart* each : m_panels) {
    if (each->isHidden() || (count > kFewLines && each != panel)) continue;
    std::vector<TooltipRow> own;
    const ChartPainter painter(*each, theme.palette(), theme.isDark());
    for (const PanelLine& line : each->lines()) {
      // Quiet curves (the rate, the parts of a step) speak only in their own panel.
      const bool quiet = line.line.ink || line.line.kind == LineKind::stacked;
      if (!line.line.visible || line.line.kind == LineKind::planned || (quiet && each != panel)) continue;
      const auto value = valueAt(line.line, line.data, *cursor);
      if (!value) continue;
      own.push_back({line.line, painter.colourOf(line.line), value->value,
                     line.line.id == each->highlighted() && !each->highlighted().isEmpty()});
      if (each == panel && std::isfinite(value->drawn) && each->yRange().span() > 0) {
        const double y = each->y() + each->yPixel(value->drawn);
        curveLow = std::min(curveLow, y);
        curveHigh = std::max(curveHigh, y);
      }
    }
    if (count > kFewLines) {
      std::stable_sort(own.begin(), own.end(), [](const TooltipRow& a, const TooltipRow& b) {
        return std::isnan(b.value) ? !std::isnan(a.value) : a.value > b.value;
      });
    }
    rows.insert(rows.end(), own.begin(), own.end());
  }
  if (rows.empty()) {
    m_tooltip->hide();
    return;
  }
  const Caption caption = m_caption ? m_caption(*cursor) : Caption{formatValue(ValueKind::plain, *cursor), {}};
  m_tooltip->setContent(caption.heading, caption.remark, rows);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF plot = panel->plot().translated(panel->pos());
  const double x = plot.left() + m_axis.place(*cursor) * plot.width();
  int left = qRound(x) + kTooltipGap - margin;
  if (left + m_tooltip->width() - margin > width()) left = qRound(x) - kTooltipGap + margin - m_tooltip->width();
  // Above the curves that are read if there is room, else below them, else at the top of the panel.
  const int cardHeight = m_tooltip->height() - 2 * margin;
  int top = qRound(plot.top()) + 6;
  if (curveLow <= curveHigh && top + cardHeight + 8 > curveLow && curveHigh + 10 + cardHeight < plot.bottom())
    top = qRound(curveHigh) + 10;
  m_tooltip->move(std::max(left, -margin), std::clamp(top, 0, std::max(0, height() - cardHeight)) - margin);
  m_tooltip->show();
  m_tooltip->raise();
}

void ChartStack::resizeEvent(QResizeEvent*) {
  placeTooltip();
}

}  // namespace loom
