#include "widgets/preview/column_change.h"

#include <QPainter>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/table/column_list.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kStateBars = 128, kStateGap = 20, kRowLine = 18, kAxisHigh = 15;

}  // namespace

ColumnChange::ColumnChange(QWidget* parent) : QWidget(parent) {
  setObjectName("column-change");
  setAccessibleName(tr("A column before and after"));
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void ColumnChange::setShown(ColumnChangeShown shown) {
  m_shown = std::move(shown);
  QString said;
  for (const auto& [states, word] : {std::pair{&m_shown.before, tr("before")}, std::pair{&m_shown.after, tr("after")}})
    for (const ColumnState& state : *states)
      said += QStringLiteral("%1, %2: %3; ").arg(state.name, word, state.cells.mid(0, 5).join(QStringLiteral(", ")));
  setAccessibleDescription(m_shown.fault.isEmpty() ? said : m_shown.fault);
  update();
}

// Of several columns the first has its bars, the others are counted. Answers where the next may stand.
int ColumnChange::paintState(QPainter& painter, int x, const std::vector<ColumnState>& states, bool after) const {
  const Theme& theme = Theme::of(this);
  const ColumnState* const first = states.empty() ? nullptr : &states.front();
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text2));
  QString title = first ? first->name : tr("left out");
  title += after ? (first ? tr(", after") : QString()) : tr(", before");
  if (states.size() > 1) title += tr(" (1 of %1)").arg(states.size());
  const QString spread = after && first && first->number ? tr("sd %1").arg(formatShort(first->deviation)) : QString();
  const int used = spread.isEmpty() ? 0 : painter.fontMetrics().horizontalAdvance(spread) + 8;
  painter.drawText(QRect(x, 0, kStateBars - used, kRowLine), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title, Qt::ElideMiddle, kStateBars - used));
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRect(x, 0, kStateBars, kRowLine), Qt::AlignRight | Qt::AlignVCenter, spread);
  const QRect bars(x, kRowLine + 2, kStateBars, height() - kRowLine - kAxisHigh - 4);
  if (!first) return x + kStateBars + kStateGap;
  if (!first->number) {
    painter.setFont(theme.font(FontRole::caption));
    painter.drawText(bars, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, tr("words"));
    return x + kStateBars + kStateGap;
  }
  paintHistogram(painter, bars, first->histogram, theme.colour(after ? Colour::accent : Colour::control));
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.drawLine(bars.bottomLeft(), bars.bottomRight());
  painter.setFont(theme.numberFont(FontRole::axis));
  painter.setPen(theme.colour(Colour::text3));
  const QRect axis(x, height() - kAxisHigh, kStateBars, kAxisHigh);
  painter.drawText(axis, Qt::AlignLeft | Qt::AlignVCenter, formatShort(first->low));
  painter.drawText(axis, Qt::AlignRight | Qt::AlignVCenter, formatShort(first->high));
  return x + kStateBars + kStateGap;
}

// Line, cell before, cells after: as many rows as have room.
void ColumnChange::paintRows(QPainter& painter, const QRect& room) const {
  const Theme& theme = Theme::of(this);
  const int most = std::min<int>(static_cast<int>(m_shown.lines.size()), room.height() / kRowLine);
  painter.setFont(theme.numberFont(FontRole::axis));
  const QFontMetrics metrics = painter.fontMetrics();
  const int lineWidth = 52, cell = std::clamp((room.width() - lineWidth - 30) / 3, 50, 110);
  for (int row = 0; row < most; ++row) {
    const auto at = static_cast<std::size_t>(row);
    int x = room.left();
    const int y = room.top() + row * kRowLine;
    const auto put = [&](const QString& text, int wide, Colour colour, Qt::Alignment align) {
      painter.setPen(theme.colour(colour));
      painter.drawText(QRect(x, y, wide, kRowLine), align | Qt::AlignVCenter,
                       metrics.elidedText(text, Qt::ElideRight, wide));
      x += wide;
    };
    const auto cellOf = [&](const ColumnState& state) { return state.cells.value(row); };
    put(QStringLiteral("%L1").arg(qint64{m_shown.lines[at]}), lineWidth, Colour::text3, Qt::AlignRight);
    x += 10;
    if (!m_shown.before.empty()) {
      const QString text = cellOf(m_shown.before.front());
      put(text.isEmpty() ? tr("missing") : text, cell, text.isEmpty() ? Colour::warning : Colour::text2,
          m_shown.before.front().number ? Qt::AlignRight : Qt::AlignLeft);
    }
    paintIcon(painter, QStringLiteral("arrow-right"), QRectF(x + 5, y + 3, 12, 12), theme.colour(Colour::text3));
    x += 22;
    if (m_shown.left.size() > at && m_shown.left[at]) {
      put(tr("left out"), cell, Colour::text3, Qt::AlignLeft);
      continue;
    }
    for (const ColumnState& state : m_shown.after) {
      if (x + 50 > room.right()) break;
      const QString text = cellOf(state);
      put(text.isEmpty() ? tr("missing") : text, std::min(cell, room.right() - x),
          text.isEmpty() ? Colour::warning : Colour::text, state.number ? Qt::AlignRight : Qt::AlignLeft);
      x += 8;
    }
  }
}

void ColumnChange::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  if (!m_shown.fault.isEmpty() || m_shown.before.empty()) {
    painter.setFont(theme.font(FontRole::caption));
    painter.setPen(theme.colour(m_shown.fault.isEmpty() ? Colour::text3 : Colour::error));
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
                     m_shown.fault.isEmpty() ? m_shown.note : m_shown.fault);
    return;
  }
  int x = paintState(painter, 0, m_shown.before, false);
  x = paintState(painter, x, m_shown.after, true);
  if (width() - x >= 180) paintRows(painter, QRect(x, 0, width() - x, height()));
}

}  // namespace loom
