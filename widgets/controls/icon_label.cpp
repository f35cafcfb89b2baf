#include "widgets/controls/icon_label.h"

#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

IconLabel::IconLabel(const QString& name, Colour colour, int size, QWidget* parent)
    : QWidget(parent), m_name(name), m_colour(colour) {
  setFixedSize(size, size + 1);
}

void IconLabel::setIcon(const QString& name, Colour colour) {
  m_name = name;
  m_colour = colour;
  update();
}

void IconLabel::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintIcon(painter, m_name, QRectF(0, 0.5, width(), width()),
            Theme::of(this).colour(isEnabled() ? m_colour : Colour::disabled));
}

}  // namespace loom
