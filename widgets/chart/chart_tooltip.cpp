#include "widgets/chart/chart_tooltip.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/chart/chart_painter.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr std::size_t kMostRows = 10;
constexpr int kPadding = 12;
constexpr int kHead = 34;
constexpr int kRow = 19;

QString nameOf(const TooltipRow& row) {
  return row.line.fullName.isEmpty() ? row.line.name : row.line.fullName;
}

}  // namespace

ChartTooltip::ChartTooltip(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  hide();
}

void ChartTooltip::setContent(const QString& heading, const QString& remark, const std::vector<TooltipRow>& rows) {
  m_heading = heading;
  m_remark = remark;
  m_rows = rows;
  m_more = m_rows.size() > kMostRows ? m_rows.size() - kMostRows : 0;
  if (m_more > 0) {
    // The one that is being read stays in view.
    const auto nearest = std::find_if(m_rows.begin(), m_rows.end(), [](const TooltipRow& row) { return row.nearest; });
    if (nearest != m_rows.end() && nearest - m_rows.begin() >= static_cast<std::ptrdiff_t>(kMostRows))
      std::swap(m_rows[kMostRows - 1], *nearest);
    m_rows.resize(kMostRows);
  }
  resize(sizeHint());
  update();
}

QSize ChartTooltip::sizeHint() const {
  const Theme& theme = Theme::of(this);
  const QFontMetrics names(Theme::withWeight(theme.font(FontRole::label), 600));
  const QFontMetrics values(Theme::withWeight(theme.numberFont(FontRole::label), 600));
  int width = names.horizontalAdvance(m_heading) + names.horizontalAdvance(m_remark) + 24;
  for (const TooltipRow& row : m_rows) {
    width = std::max(width, 16 + names.horizontalAdvance(nameOf(row)) + 16 +
                                values.horizontalAdvance(formatValue(row.line.value, row.value)));
  }
  const int margin = shadowMargin(Elevation::menu);
  const int rows = static_cast<int>(m_rows.size()) + (m_more > 0 ? 1 : 0);
  return {std::clamp(width, 120, 340) + 2 * kPadding + 2 * margin,
          kHead + (rows > 0 ? rows * kRow + 10 : 0) + 2 * margin};
}

void ChartTooltip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  const int margin = shadowMargin(Elevation::menu);
  const QRectF card = QRectF(rect()).adjusted(margin, margin, -margin, -margin);
  paintCard(painter, card, theme.radius(Radius::card), Elevation::menu);
  const QRectF head(card.left() + kPadding, card.top(), card.width() - 2 * kPadding, kHead);
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 600));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignLeft, m_heading);
  painter.setFont(theme.font(FontRole::axis));
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(head, Qt::AlignVCenter | Qt::AlignRight, m_remark);
  if (m_rows.empty()) return;
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(card.left() + 1, card.top() + kHead - 0.5),
                   QPointF(card.right() - 1, card.top() + kHead - 0.5));
  double y = card.top() + kHead + 4;
  for (const TooltipRow& row : m_rows) {
    const QRectF line(head.left(), y, head.width(), kRow);
    paintLineSign(painter, QPointF(line.left() + 4, line.center().y()), row.line, row.colour,
                  theme.colour(Colour::raised));
    const QFont values = Theme::withWeight(theme.numberFont(FontRole::label), row.nearest ? 600 : 500);
    const QString value = formatValue(row.line.value, row.value);
    const double wide = QFontMetricsF(values).horizontalAdvance(value);
    painter.setFont(Theme::withWeight(theme.font(FontRole::label), row.nearest ? 600 : 400));
    painter.setPen(theme.colour(row.nearest ? Colour::text : Colour::text2));
    const double room = line.width() - 16 - wide - 8;
    painter.drawText(line.adjusted(16, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(painter.font()).elidedText(nameOf(row), Qt::ElideMiddle, room));
    painter.setFont(values);
    painter.setPen(theme.colour(std::isfinite(row.value) ? Colour::text : Colour::error));
    painter.drawText(line, Qt::AlignVCenter | Qt::AlignRight, value);
    y += kRow;
  }
  if (m_more > 0) {
    painter.setFont(theme.font(FontRole::axis));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(head.left() + 16, y, head.width(), kRow), Qt::AlignVCenter | Qt::AlignLeft,
                     QStringLiteral("+ %1").arg(m_more));
  }
}

}  // namespace loom
