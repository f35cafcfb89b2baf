#include "widgets/table/table_head.h"

#include <QMouseEvent>
#include <QPainter>

#include "widgets/table/data_table.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/style.h"
#include "widgets/theme/theme.h"

namespace loom {
TableHead::TableHead(DataTable* table, QWidget* parent) : QHeaderView(Qt::Horizontal, parent), m_table(table) {
  setSectionsClickable(true);
  setHighlightSections(false);
  setSortIndicatorShown(false);
  setMinimumSectionSize(32);
  setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

QSize TableHead::sizeHint() const {
  return {QHeaderView::sizeHint().width(), Theme::of(this).size(Size::tableHead)};
}

// The ground goes on to the right of the last column.
void TableHead::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  const Theme& theme = Theme::of(this);
  const QRectF area(viewport()->rect());
  painter.fillRect(area, theme.colour(theme.isDark() ? Colour::sunken : Colour::app));
  painter.setPen(QPen(theme.colour(Colour::line), 1));
  painter.drawLine(QPointF(area.left(), area.bottom() - 0.5), QPointF(area.right(), area.bottom() - 0.5));
  painter.end();
  QHeaderView::paintEvent(event);
}

void TableHead::paintSection(QPainter* painter, const QRect& rect, int index) const {
  const Theme& theme = Theme::of(this);
  const TableColumn& column = m_table->column(index);
  painter->save();
  const QRectF area(rect);
  painter->fillRect(area, theme.colour(theme.isDark() ? Colour::sunken : Colour::app));
  if (column.tinted) painter->fillRect(area, theme.colour(Colour::accentSoft, 0.6));
  painter->setPen(QPen(theme.colour(Colour::line), 1));
  painter->drawLine(QPointF(area.left(), area.bottom() - 0.5), QPointF(area.right(), area.bottom() - 0.5));
  if (column.tinted && index > 0 && !m_table->column(index - 1).tinted) {
    painter->drawLine(QPointF(area.left() + 0.5, area.top()), QPointF(area.left() + 0.5, area.bottom()));
  }
  if (column.kind == ColumnKind::check) {
    paintCheckBox(*painter, area, m_table->allChecked(), isEnabled());
    painter->restore();
    return;
  }
  const bool sorted = column.sortable && m_table->isSortingEnabled() && sortIndicatorSection() == index;
  const bool right = column.kind == ColumnKind::number;
  const QFont font = Theme::withWeight(theme.font(FontRole::label), 600);
  QRectF content = area.adjusted(kCellPadding, 0, -kCellPadding, -1);
  painter->setFont(font);
  painter->setPen(theme.colour(sorted ? Colour::text : Colour::text2));
  const double room = content.width() - (sorted ? 14 : 0);
  const QString text = QFontMetricsF(font).elidedText(column.title, Qt::ElideRight, room);
  const double width = QFontMetricsF(font).horizontalAdvance(text);
  // The sign stands right of the title; a title over numbers moves left by it.
  const double left = right ? content.right() - width - (sorted ? 15 : 0) : content.left();
  painter->drawText(QRectF(left, content.top(), width + 2, content.height()), Qt::AlignVCenter | Qt::AlignLeft, text);
  if (sorted) {
    const QString sign =
        sortIndicatorOrder() == Qt::DescendingOrder ? QStringLiteral("chevron-down") : QStringLiteral("chevron-up");
    paintIcon(*painter, sign, QRectF(left + width + 3, area.center().y() - 7, 14, 14),
              theme.colour(Colour::accentText));
  }
  painter->restore();
}

void TableHead::mousePressEvent(QMouseEvent* event) {
  m_pressed = logicalIndexAt(event->pos());
  QHeaderView::mousePressEvent(event);
}

void TableHead::mouseReleaseEvent(QMouseEvent* event) {
  const int index = logicalIndexAt(event->pos());
  const bool click =
      event->button() == Qt::LeftButton && index >= 0 && index == m_pressed && cursor().shape() != Qt::SplitHCursor;
  const int sortedBy = m_table->horizontalHeader()->sortIndicatorSection();
  const Qt::SortOrder sortedAs = m_table->horizontalHeader()->sortIndicatorOrder();
  {
    // The base turns its indicator at every click; which order comes first is decided below.
    const QSignalBlocker quiet(this);
    QHeaderView::mouseReleaseEvent(event);
    setSortIndicator(sortedBy, sortedAs);
  }
  if (!click) return;
  const TableColumn& column = m_table->column(index);
  if (column.kind == ColumnKind::check) {
    m_table->setAllChecked(m_table->allChecked() != Qt::Checked);
  } else if (column.sortable && m_table->isSortingEnabled() && column.kind != ColumnKind::swatch) {
    // Numbers begin with the best, which is mostly the largest; the second click turns the order.
    const bool same = sortedBy == index;
    const Qt::SortOrder first = column.kind == ColumnKind::number ? Qt::DescendingOrder : Qt::AscendingOrder;
    const Qt::SortOrder order = !same                            ? first
                                : sortedAs == Qt::AscendingOrder ? Qt::DescendingOrder
                                                                 : Qt::AscendingOrder;
    m_table->sortByColumn(index, order);
  }
}

}  // namespace loom
