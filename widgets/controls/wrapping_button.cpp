#include "widgets/controls/wrapping_button.h"

#include <QStyleOptionButton>
#include <QStylePainter>
#include <algorithm>

namespace loom {

WrappingButton::WrappingButton(const QString& text, ButtonKind kind, QWidget* parent) : Button(text, kind, parent) {
  QSizePolicy policy(QSizePolicy::Maximum, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

// The words on as many lines as they need; one word that is longer than a line ends in "…".
QString WrappingButton::broken(int width) const {
  // What the hint leaves beside the words: padding and frame. The advance is rounded.
  const int room = width - (QPushButton::sizeHint().width() - fontMetrics().horizontalAdvance(text())) + 1;
  QStringList lines;
  for (const QString& word : text().split(' ')) {
    const QString longer = lines.isEmpty() ? word : lines.back() + ' ' + word;
    if (!lines.isEmpty() && fontMetrics().horizontalAdvance(longer) <= room)
      lines.back() = longer;
    else
      lines << fontMetrics().elidedText(word, Qt::ElideRight, room);
  }
  return lines.join('\n');
}

int WrappingButton::heightForWidth(int width) const {
  const auto further = static_cast<int>(broken(width).count('\n'));
  return sizeHint().height() + further * fontMetrics().lineSpacing();
}

QSize WrappingButton::minimumSizeHint() const {
  constexpr int kLeastWidth = 80;
  const QSize least = Button::minimumSizeHint();
  return {std::min(least.width(), kLeastWidth), least.height()};
}

void WrappingButton::paintEvent(QPaintEvent*) {
  QStyleOptionButton option;
  initStyleOption(&option);
  option.text = broken(width());
  QStylePainter(this).drawControl(QStyle::CE_PushButton, option);
}

}  // namespace loom
