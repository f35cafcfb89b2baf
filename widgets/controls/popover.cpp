#include "widgets/controls/popover.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QPainterPath>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/controls/button.h"
#include "widgets/theme/compositing.h"
#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kAnchorGap = 4;
constexpr int kPopoverPadding = 12;

QPoint middleOf(const QWidget* window, QSize card) {
  const QSize room = window->size() - card;
  return {std::max(0, room.width() / 2), std::max(0, std::max(40, room.height() / 3))};
}
}  // namespace

// Qt::Popup closes itself on a click elsewhere and takes the keyboard; the window is translucent for the shadow. A card
// that stays is a child: what lies under its shadow is painted by its window, on every platform.
Popover::Popover(QWidget* parent, Closes closes)
    : QWidget(parent,
              closes == Closes::byHand ? Qt::Widget : Qt::Popup | Qt::FramelessWindowHint | Qt::NoDropShadowWindowHint),
      m_shadow(stays() || isComposited() ? shadowMargin(Elevation::menu) : 0) {
  setAttribute(Qt::WA_TranslucentBackground, m_shadow > 0 && !stays());
  if (stays()) {
    hide();
    setFocusPolicy(Qt::ClickFocus);
    parent->installEventFilter(this);
  }
  m_content = new QVBoxLayout(this);
  const int margin = m_shadow + kPopoverPadding;
  m_content->setContentsMargins(margin, margin, margin, margin);
  m_content->setSpacing(8);
}

void Popover::setTitle(const QString& title) {
  if (!m_title) {
    auto* label = new QLabel(this);
    label->setProperty("kind", "heading");
    auto* line = new QHBoxLayout;
    line->addWidget(label, 1);
    if (stays()) {
      auto* away = iconButton(QStringLiteral("close"), tr("Close (Esc)"), this);
      away->setObjectName("close-card");
      connect(away, &QAbstractButton::clicked, this, &QWidget::close);
      line->addWidget(away);
    }
    m_content->insertLayout(0, line);
    m_title = label;
  }
  static_cast<QLabel*>(m_title)->setText(title);
  setAccessibleName(title);
}

void Popover::openHere(QPoint corner) {
  m_before = QApplication::focusWidget();
  move(stays() ? parentWidget()->mapFromGlobal(corner) : corner);
  show();
  raise();
  // The part that a card names, else its first one.
  setFocus(Qt::PopupFocusReason);
  if (!focusProxy()) focusNextPrevChild(true);
}

void Popover::openOver(QWidget* window) {
  adjustSize();
  openHere(window->mapToGlobal(middleOf(window, size())));
}

// A card that stays keeps the middle of its window.
bool Popover::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parent() && event->type() == QEvent::Resize && stays() && isVisible())
    move(middleOf(parentWidget(), size()));
  return QWidget::eventFilter(watched, event);
}

void Popover::openAt(QWidget* anchor) {
  adjustSize();
  const int shadow = m_shadow;
  const QRect area = anchor->screen() ? anchor->screen()->availableGeometry() : QRect(0, 0, 1440, 900);
  const QPoint below = anchor->mapToGlobal(QPoint(0, anchor->height()));
  int x = below.x() - shadow;
  if (x + width() - shadow > area.right()) x = anchor->mapToGlobal(QPoint(anchor->width(), 0)).x() - width() + shadow;
  // One that is too wide for either side of its anchor stays on the screen.
  x = std::max(area.left() - shadow, std::min(x, area.right() + 1 - width() + shadow));
  int y = below.y() + kAnchorGap - shadow;
  if (y + height() - shadow > area.bottom())
    y = std::max(area.top(), anchor->mapToGlobal(QPoint()).y() - kAnchorGap - height() + shadow);
  openHere({x, y});
}

void Popover::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintCard(painter, QRectF(rect()).adjusted(m_shadow, m_shadow, -m_shadow, -m_shadow),
            Theme::of(this).radius(Radius::card), Elevation::menu);
}

// Without a shadow the corners are cut off instead of shone through.
void Popover::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  if (m_shadow > 0) return;
  QPainterPath card;
  card.addRoundedRect(rect(), Theme::of(this).radius(Radius::card), Theme::of(this).radius(Radius::card));
  setMask(QRegion(card.toFillPolygon().toPolygon()));
}

void Popover::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape)
    close();
  else
    QWidget::keyPressEvent(event);
}

// The keyboard goes back to what had it, unless a person took it elsewhere while the card stayed.
void Popover::hideEvent(QHideEvent*) {
  if (m_before && (!stays() || isAncestorOf(QApplication::focusWidget()))) m_before->setFocus(Qt::PopupFocusReason);
  Q_EMIT closed();
}

}  // namespace loom
