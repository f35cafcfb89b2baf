#include "widgets/controls/button.h"

#include <QStyleOptionButton>
#include <QStylePainter>
#include <algorithm>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kLeastWidth = 80;  // of a button that shrinks

const char* kindName(ButtonKind kind) {
  switch (kind) {
    case ButtonKind::filled:
      return "filled";
    case ButtonKind::tinted:
      return "tinted";
    case ButtonKind::outlined:
      return "outlined";
    case ButtonKind::plain:
      return "plain";
    case ButtonKind::danger:
      return "danger";
    case ButtonKind::fault:
      return "fault";
    case ButtonKind::link:
      return "link";
  }
  return "outlined";
}

Colour iconColour(ButtonKind kind) {
  switch (kind) {
    case ButtonKind::filled:
      return Colour::onAccent;
    case ButtonKind::tinted:
    case ButtonKind::link:
      return Colour::accentText;
    case ButtonKind::danger:
    case ButtonKind::fault:
      return Colour::error;
    case ButtonKind::outlined:
      return Colour::text;
    case ButtonKind::plain:
      return Colour::text2;
  }
  return Colour::text;
}

}  // namespace

Button::Button(const QString& text, ButtonKind kind, QWidget* parent) : Button(QString(), text, kind, parent) {}

Button::Button(const QString& iconName, const QString& text, ButtonKind kind, QWidget* parent)
    : QPushButton(text, parent), m_kind(kind), m_icon(iconName) {
  setProperty("kind", QString::fromLatin1(kindName(kind)));
  setCursor(kind == ButtonKind::link ? Qt::PointingHandCursor : Qt::ArrowCursor);
  setAutoDefault(false);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  refreshIcon();
}

void Button::setKind(ButtonKind kind) {
  m_kind = kind;
  refreshIcon();
  setStyleProperty(this, "kind", QString::fromLatin1(kindName(kind)));
}

void Button::setIconName(const QString& name) {
  m_icon = name;
  refreshIcon();
  updateGeometry();
}

void Button::setIconColour(std::optional<Colour> colour) {
  m_iconColour = colour;
  refreshIcon();
}

void Button::refreshIcon() {
  if (m_icon.isEmpty()) {
    setIcon(QIcon());
    return;
  }
  setIcon(loom::icon(m_icon, m_iconColour.value_or(iconColour(m_kind))));
  setIconSize(text().isEmpty() ? QSize(16, 16) : QSize(20, 16));
}

QSize Button::sizeHint() const {
  QSize hint = QPushButton::sizeHint();
  const int height = Theme::of(this).size(Size::button);
  if (m_kind == ButtonKind::link) return hint;
  hint.setHeight(height);
  if (text().isEmpty()) hint.setWidth(height);
  return hint;
}

void Button::setShrinks(bool shrinks) {
  m_shrinks = shrinks;
  setToolTip(shrinks ? text() : QString());
  updateGeometry();
}

QSize Button::minimumSizeHint() const {
  const QSize least = QPushButton::minimumSizeHint();
  return m_shrinks ? QSize(std::min(least.width(), kLeastWidth), least.height()) : least;
}

void Button::paintEvent(QPaintEvent* event) {
  // Whatever the reason, words that do not fit end in an ellipsis: centred, they would be cut on both sides.
  if (text().isEmpty() || (!m_shrinks && width() >= QPushButton::sizeHint().width()))
    return QPushButton::paintEvent(event);
  QStyleOptionButton option;
  initStyleOption(&option);
  // What the hint leaves beside the words: padding, frame and icon.
  const int around = QPushButton::sizeHint().width() - fontMetrics().horizontalAdvance(text());
  option.text = fontMetrics().elidedText(text(), Qt::ElideRight, width() - around + 1);  // the advance is rounded
  QStylePainter(this).drawControl(QStyle::CE_PushButton, option);
}

Button* iconButton(const QString& iconName, const QString& name, QWidget* parent) {
  auto* button = new Button(iconName, QString(), ButtonKind::plain, parent);
  button->setProperty("square", true);
  button->setToolTip(name);
  button->setAccessibleName(name);
  return button;
}

}  // namespace loom
