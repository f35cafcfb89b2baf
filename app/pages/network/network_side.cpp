#include "app/pages/network/network_side.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "widgets/controls/segmented_control.h"
#include "widgets/document/project_document.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/palette/layer_palette.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

NetworkSide::NetworkSide(ProjectDocument& document, QWidget* parent)
    : QWidget(parent),
      m_choice(new SegmentedControl({tr("Layers"), tr("Outline")}, this)),
      m_stack(new QStackedWidget(this)),
      m_palette(new LayerPalette(m_stack)),
      m_outline(new OutlinePanel(document, m_stack)) {
  setAccessibleName(tr("Layers and outline"));
  m_choice->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  m_choice->setAccessibleName(tr("Layers or outline"));
  auto* headRow = new QWidget(this);
  keepHeight(headRow, Size::tabs);
  auto* head = new QHBoxLayout(headRow);
  head->setContentsMargins(12, 0, 12, 0);
  head->addWidget(m_choice, 1);
  m_stack->addWidget(m_palette);
  m_stack->addWidget(m_outline);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 1, 0);
  layout->setSpacing(0);
  layout->addWidget(headRow);
  layout->addWidget(m_stack, 1);
  connect(m_choice, &SegmentedControl::currentChanged, m_stack, &QStackedWidget::setCurrentIndex);
  connect(&Theme::of(this), &Theme::changed, this, qOverload<>(&QWidget::update));
}

bool NetworkSide::showsOutline() const {
  return m_choice->current() == 1;
}

void NetworkSide::showOutline(bool shown) {
  m_choice->setCurrent(shown ? 1 : 0);
}

void NetworkSide::focusSearch() {
  if (showsOutline())
    m_outline->focusSearch();
  else
    m_palette->focusSearch();
}

void NetworkSide::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  const double right = width() - 0.5, under = theme.size(Size::tabs) - 0.5;
  painter.drawLine(QPointF(right, 0), QPointF(right, height()));
  painter.drawLine(QPointF(0, under), QPointF(width(), under));
}

}  // namespace loom
