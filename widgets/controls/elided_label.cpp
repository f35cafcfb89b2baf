#include "widgets/controls/elided_label.h"

#include <QPainter>
#include <QStyle>
#include <algorithm>

namespace loom {

ElidedLabel::ElidedLabel(const char* kind, QWidget* parent) : QLabel(parent) {
  setProperty("kind", QString::fromLatin1(kind));
  setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::minimumSizeHint() const {
  const QSize whole = QLabel::minimumSizeHint();
  return {std::min(whole.width(), 3 * fontMetrics().averageCharWidth()), whole.height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QRect room = contentsRect();
  style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(),
                        fontMetrics().elidedText(text(), Qt::ElideRight, room.width()), foregroundRole());
}

}  // namespace loom
