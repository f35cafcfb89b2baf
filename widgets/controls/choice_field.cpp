#include "widgets/controls/choice_field.h"

#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QWheelEvent>
#include <QtMath>
#include <algorithm>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

ChoiceField::ChoiceField(QWidget* parent) : QComboBox(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
}

void ChoiceField::setPrefix(const QString& prefix) {
  m_prefix = prefix;
  updateGeometry();
  update();
}

QSize ChoiceField::sizeHint() const {
  const QFontMetrics metrics(font());
  int width = 0;
  for (int i = 0; i < count(); ++i) width = std::max(width, metrics.horizontalAdvance(itemText(i)));
  width += 9 + 30;
  if (!m_prefix.isEmpty()) width += metrics.horizontalAdvance(m_prefix) + 8;
  return {width, Theme::of(this).size(Size::field)};
}

void ChoiceField::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QStylePainter painter(this);
  QStyleOptionComboBox option;
  initStyleOption(&option);
  painter.drawComplexControl(QStyle::CC_ComboBox, option);
  QRectF text = QRectF(rect()).adjusted(9, 0, -28, 0);
  if (!m_prefix.isEmpty()) {
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, m_prefix);
    text.setLeft(text.left() + fontMetrics().horizontalAdvance(m_prefix) + 8);
  }
  if (!option.currentIcon.isNull()) {
    option.currentIcon.paint(&painter, QRect(static_cast<int>(text.left()), (height() - 16) / 2, 16, 16));
    text.setLeft(text.left() + 24);
  }
  const bool none = currentIndex() < 0 && !placeholderText().isEmpty();
  painter.setPen(theme.colour(!isEnabled() ? Colour::disabled : none ? Colour::text3 : Colour::text));
  painter.drawText(
      text, Qt::AlignVCenter | Qt::AlignLeft,
      fontMetrics().elidedText(none ? placeholderText() : currentText(), Qt::ElideRight, qFloor(text.width())));
  paintIcon(painter, QStringLiteral("chevron-down"), QRectF(width() - 23, (height() - 14) / 2.0, 14, 14),
            theme.colour(isEnabled() ? Colour::text3 : Colour::disabled));
}

void ChoiceField::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

}  // namespace loom
