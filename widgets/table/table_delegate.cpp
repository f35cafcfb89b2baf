#include "widgets/table/table_delegate.h"

#include <QLineEdit>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/table/data_table.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/status.h"
#include "widgets/theme/style.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

Colour toneColour(Tone tone) {
  switch (tone) {
    case Tone::normal:
      return Colour::text;
    case Tone::quiet:
      return Colour::text3;
    case Tone::accent:
      return Colour::accentText;
    case Tone::ok:
      return Colour::ok;
    case Tone::warning:
      return Colour::warning;
    case Tone::error:
      return Colour::error;
  }
  return Colour::text;
}

constexpr int kInside = 14;  // of the words in a row that another opens

// Which of them it is: none, a colour, or the grey of all those behind.
int swatchOf(const QVariant& colour) {
  constexpr int kGreyFrom = 30;
  return !colour.isValid() ? -1 : colour.toInt() < 0 ? kGreyFrom : std::min(colour.toInt(), kGreyFrom);
}

void paintSwatch(QPainter& painter, const QRectF& cell, const QVariant& colour) {
  const Theme& theme = Theme::of();
  QRectF box(0, 0, 22, 12);
  box.moveCenter(cell.center());
  box.moveTopLeft(QPointF(std::round(box.left()), std::round(box.top())));
  painter.setRenderHint(QPainter::Antialiasing);
  if (colour.isValid()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.curveColour(colour.toInt()));
    painter.drawRoundedRect(box, 3, 3);
    // The second and third ten have the dash of their line across the swatch.
    if (const auto dash = theme.curveDash(colour.toInt(), 2); !dash.isEmpty()) {
      QPen pen(theme.colour(Colour::surface), 2, Qt::CustomDashLine, Qt::FlatCap);
      pen.setDashPattern(dash);
      painter.setPen(pen);
      painter.drawLine(QPointF(box.left() + 2, box.center().y()), QPointF(box.right() - 2, box.center().y()));
    }
  } else {
    painter.setPen(QPen(theme.colour(Colour::lineStrong), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  }
}

// One axis for all rows; dots of several runs at one place stay one dot.
void paintDots(QPainter& painter, const QRectF& content, const QList<double>& places, const QVariant& colour) {
  constexpr double kRadius = 3;
  const Theme& theme = Theme::of();
  const double y = std::round(content.center().y()) + 0.5;
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.drawLine(QPointF(content.left(), y), QPointF(content.right(), y));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.colour(Colour::surface), 1));
  painter.setBrush(colour.isValid() ? theme.curveColour(colour.toInt()) : theme.colour(Colour::text3));
  for (const double each : places)
    painter.drawEllipse(QPointF(content.left() + kRadius + each * (content.width() - 2 * kRadius), y), kRadius,
                        kRadius);
}

}  // namespace

TableDelegate::TableDelegate(DataTable* table) : QStyledItemDelegate(table), m_table(table) {
  connect(&Theme::of(table), &Theme::changed, this, [this] {
    m_texts.clear();
    m_pictures.clear();
  });
}

QSize TableDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
  return {m_table->column(index.column()).width, Theme::of(m_table).size(Size::tableRow)};
}

void TableDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const Theme& theme = Theme::of(m_table);
  const TableColumn& column = m_table->column(index.column());
  const QRectF cell = option.rect;
  const bool enabled = option.state & QStyle::State_Enabled;
  const bool selected = option.state & QStyle::State_Selected;
  const bool hovered = index.row() == m_table->hoveredRow();
  painter->save();
  painter->fillRect(cell, theme.colour(selected ? Colour::selected : hovered ? Colour::hover : Colour::surface));
  // Filled: a line that shines through is blended by Qt pixel by pixel, on threads that are waited for.
  painter->fillRect(QRectF(cell.left(), cell.bottom() - 1, cell.width(), 1), theme.colour(Colour::line, 0.7));
  if (column.tinted && index.column() > 0 && !m_table->column(index.column() - 1).tinted) {
    painter->setPen(QPen(theme.colour(Colour::line), 1));
    painter->drawLine(QPointF(cell.left() + 0.5, cell.top()), QPointF(cell.left() + 0.5, cell.bottom()));
  }
  const QRectF content = cell.adjusted(kCellPadding, 0, -kCellPadding, -1);
  const QString text = index.data(Qt::DisplayRole).toString();
  const auto tone = static_cast<Tone>(index.data(kToneRole).toInt());
  const QColor ink = theme.colour(enabled ? toneColour(tone) : Colour::disabled);
  switch (column.kind) {
    case ColumnKind::check: {
      const QVariant state = index.data(Qt::CheckStateRole);
      if (!state.isValid()) break;
      m_pictures.paint(*painter, option.rect, CellPictures::Kind::box, state.toInt() + 4 * enabled + 8 * hovered,
                       [&](QPainter& own, const QRectF& place) {
                         paintCheckBox(own, place, static_cast<Qt::CheckState>(state.toInt()), enabled, hovered);
                       });
      break;
    }
    case ColumnKind::swatch: {
      const QVariant colour = index.data(kSwatchRole);
      m_pictures.paint(*painter, option.rect, CellPictures::Kind::swatch, swatchOf(colour),
                       [&](QPainter& own, const QRectF& place) { paintSwatch(own, place, colour); });
      break;
    }
    case ColumnKind::status: {
      const auto status = static_cast<Status>(index.data(kStatusRole).toInt());
      const QColor colour = theme.colour(statusColour(status));
      const QRect shape(QPoint(qRound(content.left()), qRound(content.center().y() - 7)), QSize(14, 14));
      m_pictures.paint(*painter, shape, CellPictures::Kind::status, static_cast<int>(status),
                       [&](QPainter& own, const QRectF& place) { paintStatus(own, status, place, colour); });
      painter->setPen(colour);
      m_texts.paint(*painter, content.adjusted(20, 0, 0, 0), text.isEmpty() ? statusWord(status) : text,
                    CellTexts::Style::label, Qt::AlignLeft, Qt::ElideRight);
      break;
    }
    case ColumnKind::number:
      painter->setPen(ink);
      paintNumber(*painter, content, index, text);
      break;
    case ColumnKind::dots:
      if (const QVariant dots = index.data(kDotsRole); dots.isValid()) {
        paintDots(*painter, content, dots.value<QList<double>>(), index.data(kSwatchRole));
      } else if (!text.isEmpty()) {
        painter->setPen(theme.colour(Colour::text3));
        m_texts.paint(*painter, content, text, CellTexts::Style::caption, Qt::AlignLeft, Qt::ElideRight);
      }
      break;
    case ColumnKind::text:
      painter->setPen(ink);
      paintWords(*painter, content, index, text);
      break;
  }
  // Where the keyboard is: a bar at the row's left edge, never the colour of the ground alone.
  if (index.column() == 0 && index.row() == m_table->currentIndex().row() && m_table->hasFocus()) {
    painter->fillRect(QRectF(cell.left(), cell.top(), 3, cell.height()), theme.colour(Colour::focus));
  }
  if (m_table->isFrozenEdge(index.column())) {
    painter->fillRect(QRectF(cell.right() - 1, cell.top(), 1, cell.height()), theme.colour(Colour::lineStrong));
  }
  painter->restore();
}

void TableDelegate::paintNumber(QPainter& painter, const QRectF& content, const QModelIndex& index,
                                const QString& text) const {
  const bool strong = index.data(kStrongRole).toBool();
  const double used =
      m_texts.paint(painter, content, text, strong ? CellTexts::Style::strongNumber : CellTexts::Style::number,
                    Qt::AlignRight, Qt::ElideNone);
  const QString remark = index.data(kRemarkRole).toString();
  if (remark.isEmpty()) return;
  painter.setPen(Theme::of(m_table).colour(Colour::text3));
  m_texts.paint(painter, content.adjusted(0, 0, -used - 14, 0), remark, CellTexts::Style::remark, Qt::AlignRight,
                Qt::ElideNone);
}

void TableDelegate::paintWords(QPainter& painter, const QRectF& content, const QModelIndex& index,
                               const QString& text) const {
  QRectF words = content;
  if (const QVariant level = index.data(kLevelRole); level.isValid()) {
    words.setLeft(content.left() + kLevelWidth);
    if (level.toInt() == static_cast<int>(Level::inside)) {
      words.setLeft(words.left() + kInside);
    } else {
      const bool open = level.toInt() == static_cast<int>(Level::open);
      paintIcon(painter, open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"),
                QRectF(content.left() - 2, std::round(content.center().y() - 7), 14, 14),
                Theme::of(m_table).colour(Colour::text2));
    }
  }
  const bool strong = index.data(kStrongRole).toBool();
  m_texts.paint(painter, words, text, strong ? CellTexts::Style::strongBody : CellTexts::Style::body, Qt::AlignLeft,
                Qt::ElideMiddle);
}

QWidget* TableDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                                     const QModelIndex& index) const {
  QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
  if (auto* line = qobject_cast<QLineEdit*>(editor)) {
    line->setProperty("focusRadius", -1);
    if (m_table->column(index.column()).kind == ColumnKind::number) line->setProperty("number", true);
  }
  return editor;
}

}  // namespace loom
