#include "widgets/theme/focus_ring.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QFocusEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPlainTextEdit>
#include <QSlider>
#include <QTextEdit>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kWidth = 2;
constexpr const char* kRadiusProperty = "focusRadius";  // a widget's own corner radius; -1 = it draws its focus itself

bool isTextField(const QWidget* widget) {
  return qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget) ||
         widget->property("focusAlways").toBool();
}

bool wearsRing(const QWidget* widget, Qt::FocusReason reason) {
  const QVariant radius = widget->property(kRadiusProperty);
  if (radius.isValid() && radius.toInt() < 0) return false;
  if (isTextField(widget)) return true;
  if (reason != Qt::TabFocusReason && reason != Qt::BacktabFocusReason && reason != Qt::ShortcutFocusReason)
    return false;
  return radius.isValid() || qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget) ||
         qobject_cast<const QSlider*>(widget);
}

class Overlay : public QWidget {
 public:
  Overlay(QWidget* parent, int radius) : QWidget(parent), m_radius(radius) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
    setFocusPolicy(Qt::NoFocus);
    setObjectName(QStringLiteral("focusRing"));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(Theme::of(this).colour(Colour::focus), kWidth));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), m_radius + 1, m_radius + 1);
  }

 private:
  int m_radius;
};

}  // namespace

FocusRing::FocusRing(QApplication& application) {
  application.installEventFilter(this);
}

FocusRing::~FocusRing() {
  detach();
}

bool FocusRing::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::FocusIn:
      if (watched->isWidgetType()) {
        auto* widget = static_cast<QWidget*>(watched);
        if (!wearsRing(widget, static_cast<QFocusEvent*>(event)->reason())) {
          detach();
        } else {
          // A field inside a frame of its own names the frame that is to wear the ring.
          auto* frame = widget->property("focusFrame").value<QWidget*>();
          attach(frame ? frame : widget);
        }
      }
      break;
    case QEvent::FocusOut:
      if (m_target && (watched == m_target || m_target->isAncestorOf(qobject_cast<QWidget*>(watched)))) detach();
      break;
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::Show:
    case QEvent::ZOrderChange:
      // Ancestors up to the one that holds the ring move the target as well.
      if (m_target && watched->isWidgetType()) {
        auto* widget = static_cast<QWidget*>(watched);
        if (widget == m_target || (widget->isAncestorOf(m_target) && widget != m_target->window())) place();
      }
      break;
    case QEvent::Hide:
    case QEvent::ParentChange:
      if (watched == m_target) detach();
      break;
    default:
      break;
  }
  return false;
}

void FocusRing::attach(QWidget* target) {
  detach();
  if (!target->parentWidget() || target->isWindow()) return;
  m_target = target;
  place();
}

void FocusRing::detach() {
  if (m_overlay) m_overlay->deleteLater();
  if (m_overlay) m_overlay->hide();
  m_overlay = nullptr;
  m_target = nullptr;
}

// The nearest ancestor that has room for the ring wears it, so that it scrolls with the target and is not cut off.
void FocusRing::place() {
  if (!m_target || m_placing) return;
  m_placing = true;
  QRect ring;
  QWidget* holder = m_target->parentWidget();
  for (;; holder = holder->parentWidget()) {
    ring = QRect(m_target->mapTo(holder, QPoint()), m_target->size()).adjusted(-kWidth, -kWidth, kWidth, kWidth);
    const bool viewport = qobject_cast<QAbstractScrollArea*>(holder->parentWidget());
    if (holder->rect().contains(ring) || holder->isWindow() || viewport || !holder->parentWidget()) break;
  }
  if (m_overlay && m_overlay->parentWidget() != holder) {
    m_overlay->hide();
    m_overlay->deleteLater();
    m_overlay = nullptr;
  }
  if (!m_overlay) {
    const QVariant radius = m_target->property(kRadiusProperty);
    m_overlay = new Overlay(holder, radius.isValid() ? radius.toInt() : Theme::of(m_target).radius(Radius::field));
  }
  m_overlay->setGeometry(ring);
  m_overlay->raise();
  m_overlay->setVisible(m_target->isVisible());
  m_placing = false;
}

}  // namespace loom
