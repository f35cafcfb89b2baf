#include "widgets/controls/text.h"

namespace loom {

QLabel* makeLabel(const char* kind, const QString& text, QWidget* parent, Wrap wrap) {
  auto* label = new QLabel(text, parent);
  label->setProperty("kind", QString::fromLatin1(kind));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(wrap == Wrap::yes);
  return label;
}

QFrame* hairline(Qt::Orientation orientation, QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setProperty("kind", orientation == Qt::Horizontal ? QStringLiteral("hairline") : QStringLiteral("hairlineVertical"));
  return line;
}

}  // namespace loom
