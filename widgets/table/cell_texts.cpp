#include "widgets/table/cell_texts.h"

#include <QFontMetricsF>
#include <QPainter>
#include <cmath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

QFont fontOf(CellTexts::Style style) {
  const Theme& theme = Theme::of();
  switch (style) {
    case CellTexts::Style::body:
      return Theme::withWeight(theme.font(FontRole::body), 400);
    case CellTexts::Style::strongBody:
      return Theme::withWeight(theme.font(FontRole::body), 600);
    case CellTexts::Style::number:
      return Theme::withWeight(theme.numberFont(FontRole::body), 400);
    case CellTexts::Style::strongNumber:
      return Theme::withWeight(theme.numberFont(FontRole::body), 600);
    case CellTexts::Style::label:
      return theme.font(FontRole::label);
    case CellTexts::Style::remark:
      return theme.numberFont(FontRole::axis);
    case CellTexts::Style::caption:
      return theme.font(FontRole::caption);
  }
  return theme.font(FontRole::body);
}

}  // namespace

const QFont& CellTexts::font(Style style) {
  const auto kept = m_fonts.find(style);
  return kept == m_fonts.end() ? *m_fonts.insert(style, fontOf(style)) : *kept;
}

double CellTexts::paint(QPainter& painter, const QRectF& place, const QString& text, Style style,
                        Qt::Alignment alignment, Qt::TextElideMode elide) {
  if (text.isEmpty()) return 0;
  const QFont& font = this->font(style);
  const Key key{text, style, elide == Qt::ElideNone ? 0 : static_cast<int>(std::floor(place.width())), elide};
  const QStaticText* kept = m_texts.object(key);
  if (!kept) {
    auto* const fresh =
        new QStaticText(elide == Qt::ElideNone ? text : QFontMetricsF(font).elidedText(text, elide, place.width()));
    fresh->setTextFormat(Qt::PlainText);
    fresh->prepare({}, font);
    m_texts.insert(key, fresh);
    kept = fresh;
  }
  const QSizeF size = kept->size();
  painter.setFont(font);
  painter.drawStaticText(QPointF(alignment & Qt::AlignRight ? place.right() - size.width() : place.left(),
                                 place.top() + (place.height() - size.height()) / 2),
                         *kept);
  return size.width();
}

void CellTexts::clear() {
  m_texts.clear();
  m_fonts.clear();
}

}  // namespace loom
