#include "widgets/controls/popover.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QScreen>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/theme/elevation.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kAnchorGap = 4;
constexpr int kPopoverPadding = 12;
}  // namespace

// Qt::Popup closes itself on a click elsewhere and takes the keyboard; the window is translucent for the shadow.
Popover::Popover(QWidget* parent) : QWidget(parent, Qt::Popup | Qt::FramelessWindowHint | Qt::NoDropShadowWindowHint) {
  setAttribute(Qt::WA_TranslucentBackground);
  const int shadow = shadowMargin(Elevation::menu);
  m_content = new QVBoxLayout(this);
  m_content->setContentsMargins(shadow + kPopoverPadding, shadow + kPopoverPadding, shadow + kPopoverPadding, shadow + kPopoverPadding);
  m_content->setSpacing(8);
}

void Popover::setTitle(const QString& title) {
  if (!m_title) {
    auto* label = new QLabel(this);
    label->setProperty("kind", "heading");
    m_content->insertWidget(0, label);
    m_title = label;
  }
  static_cast<QLabel*>(m_title)->setText(title);
  setAccessibleName(title);
}

void Popover::openAt(QWidget* anchor) {
  m_before = QApplication::focusWidget();
  adjustSize();
  const int shadow = shadowMargin(Elevation::menu);
  const QRect area = anchor->screen() ? anchor->screen()->availableGeometry() : QRect(0, 0, 1440, 900);
  const QPoint below = anchor->mapToGlobal(QPoint(0, anchor->height()));
  int x = below.x() - shadow;
  if (x + width() - shadow > area.right()) x = anchor->mapToGlobal(QPoint(anchor->width(), 0)).x() - width() + shadow;
  int y = below.y() + kAnchorGap - shadow;
  if (y + height() - shadow > area.bottom())
    y = std::max(area.top(), anchor->mapToGlobal(QPoint()).y() - kAnchorGap - height() + shadow);
  move(x, y);
  show();
  setFocus(Qt::PopupFocusReason);
  focusNextPrevChild(true);
}

void Popover::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const int shadow = shadowMargin(Elevation::menu);
  paintCard(painter, QRectF(rect()).adjusted(shadow, shadow, -shadow, -shadow), Theme::of(this).radius(Radius::card),
            Elevation::menu);
}

void Popover::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape)
    close();
  else
    QWidget::keyPressEvent(event);
}

void Popover::hideEvent(QHideEvent*) {
  if (m_before) m_before->setFocus(Qt::PopupFocusReason);
  Q_EMIT closed();
}

}  // namespace loom
