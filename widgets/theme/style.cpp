#include "widgets/theme/style.h"

#include <QPainter>
#include <QPainterPath>
#include <QStyleFactory>
#include <QStyleOption>
#include <cmath>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kBox = 16;

void paintRadio(QPainter& painter, const QRectF& rect, bool on, bool enabled) {
  const Theme& theme = Theme::of();
  QRectF circle(0, 0, kBox - 1, kBox - 1);
  circle.moveCenter(rect.center());
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.colour(!enabled ? Colour::disabled : on ? Colour::accent : Colour::control), on ? 4.5 : 1));
  painter.setBrush(theme.colour(Colour::surface));
  const double inset = on ? 1.75 : 0;
  painter.drawEllipse(circle.adjusted(inset, inset, -inset, -inset));
  painter.restore();
}

}  // namespace

void paintCheckBox(QPainter& painter, const QRectF& rect, Qt::CheckState state, bool enabled, bool hovered) {
  const Theme& theme = Theme::of();
  QRectF box(0, 0, kBox, kBox);
  box.moveCenter(rect.center());
  box.moveTopLeft(QPointF(std::round(box.left()), std::round(box.top())));
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (state == Qt::Unchecked) {
    painter.setPen(QPen(theme.colour(!enabled ? Colour::line : hovered ? Colour::text3 : Colour::control), 1));
    painter.setBrush(theme.colour(enabled ? Colour::surface : Colour::app));
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(!enabled ? Colour::disabled : hovered ? Colour::accentHover : Colour::accent));
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(QPen(theme.colour(Colour::onAccent), 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    if (state == Qt::Checked) {
      painter.drawPolyline(QPolygonF{box.topLeft() + QPointF(4, 8.2), box.topLeft() + QPointF(6.8, 11),
                                     box.topLeft() + QPointF(12, 5.4)});
    } else {
      painter.drawLine(box.topLeft() + QPointF(4.5, 8), box.topLeft() + QPointF(11.5, 8));
    }
  }
  painter.restore();
}

Style::Style() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void Style::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                          const QWidget* widget) const {
  const bool enabled = option->state & State_Enabled;
  switch (element) {
    case PE_FrameFocusRect:
      return;
    case PE_IndicatorCheckBox:
    case PE_IndicatorItemViewItemCheck: {
      const Qt::CheckState state = option->state & State_On         ? Qt::Checked
                                   : option->state & State_NoChange ? Qt::PartiallyChecked
                                                                    : Qt::Unchecked;
      paintCheckBox(*painter, option->rect, state, enabled, option->state & State_MouseOver);
      return;
    }
    case PE_IndicatorRadioButton:
      paintRadio(*painter, option->rect, option->state & State_On, enabled);
      return;
    case PE_IndicatorBranch:
      if (option->state & State_Children) {
        QRectF square(0, 0, 12, 12);
        square.moveCenter(QRectF(option->rect).center());
        paintIcon(*painter, QString::fromLatin1(option->state & State_Open ? "chevron-down" : "chevron-right"), square,
                  Theme::of().colour(Colour::text3));
      }
      return;
    default:
      QProxyStyle::drawPrimitive(element, option, painter, widget);
  }
}

int Style::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
    case PM_ExclusiveIndicatorWidth:
    case PM_ExclusiveIndicatorHeight:
      return static_cast<int>(kBox);
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
      return 16;
    default:
      return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

int Style::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* data) const {
  switch (hint) {
    case SH_ToolTip_WakeUpDelay:
      return 400;
    case SH_ComboBox_Popup:
      return 0;  // a list under the field, not over it
    default:
      return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace loom
