#include "widgets/controls/search_field.h"

#include <QKeyEvent>
#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kIconSpace = 30;
}

int paintKeyCap(QPainter& painter, const QString& key, double right, double middle) {
  const Theme& theme = Theme::of();
  const QFont font = theme.font(FontRole::axis);
  const QFontMetricsF metrics(font);
  const double width = std::max(16.0, metrics.horizontalAdvance(key) + 10);
  const QRectF cap(right - width, middle - 9, width, 18);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.colour(Colour::lineStrong), 1));
  painter.setBrush(theme.colour(Colour::surface));
  painter.drawRoundedRect(cap.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  painter.setFont(font);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(cap, Qt::AlignCenter, key);
  painter.restore();
  return qRound(width);
}

SearchField::SearchField(const QString& placeholder, const QString& shortcutHint, QWidget* parent)
    : QLineEdit(parent), m_hint(shortcutHint) {
  setPlaceholderText(placeholder);
  setAccessibleName(placeholder);
  setProperty("search", true);
  reserve();
  connect(this, &QLineEdit::textChanged, this, &SearchField::reserve);
  connect(&Theme::of(this), &Theme::changed, this, &SearchField::reserve);  // the text may have another size
}

void SearchField::setCount(const QString& count) {
  m_count = count;
  reserve();
}

void SearchField::setIconName(const QString& name) {
  m_icon = name;
  update();
}

void SearchField::reserve() {
  const QFontMetrics metrics(Theme::of(this).font(FontRole::axis));
  const QString right = !m_count.isEmpty() ? m_count : text().isEmpty() ? m_hint : QString();
  const QMargins margins(kIconSpace - 8, 0, right.isEmpty() ? 0 : metrics.horizontalAdvance(right) + 16, 0);
  if (margins != textMargins()) setTextMargins(margins);
  update();
}

QSize SearchField::sizeHint() const {
  return {QLineEdit::sizeHint().width() + kIconSpace, Theme::of(this).size(Size::field)};
}

void SearchField::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  paintIcon(painter, m_icon, QRectF(9, (height() - 15) / 2.0, 15, 15),
            theme.colour(isEnabled() ? Colour::text3 : Colour::disabled));
  if (!m_count.isEmpty()) {
    painter.setFont(theme.numberFont(FontRole::axis));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(rect()).adjusted(0, 0, -10, 0), Qt::AlignVCenter | Qt::AlignRight, m_count);
  } else if (text().isEmpty() && !m_hint.isEmpty()) {
    paintKeyCap(painter, m_hint, width() - 6, height() / 2.0);
  }
}

// Undo is the window's where nothing was typed here that could be taken back.
bool SearchField::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if ((key->matches(QKeySequence::Undo) && !isUndoAvailable()) ||
        (key->matches(QKeySequence::Redo) && !isRedoAvailable())) {
      event->ignore();
      return true;
    }
  }
  return QLineEdit::event(event);
}

void SearchField::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) {
    QLineEdit::keyPressEvent(event);
  } else if (!text().isEmpty()) {
    clear();
  } else {
    Q_EMIT escaped();
    event->ignore();
  }
}

}  // namespace loom
