#include "widgets/controls/text.h"

#include <QLocale>

#include "engine/base/words.h"

namespace loom {

QLabel* makeLabel(const char* kind, const QString& text, QWidget* parent, Wrap wrap) {
  auto* label = new QLabel(text, parent);
  label->setProperty("kind", QString::fromLatin1(kind));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(wrap == Wrap::yes);
  return label;
}

QString singular(const QString& several) {
  return QString::fromStdString(singular(several.toStdString()));
}

QString counted(qint64 count, const QString& several) {
  return QLocale(QLocale::English).toString(count) + QLatin1Char(' ') + (count == 1 ? singular(several) : several);
}

QFrame* hairline(Qt::Orientation orientation, QWidget* parent) {
  auto* line = new QFrame(parent);
  line->setProperty("kind",
                    orientation == Qt::Horizontal ? QStringLiteral("hairline") : QStringLiteral("hairlineVertical"));
  return line;
}

}  // namespace loom
