#include "widgets/controls/split_button.h"

#include <QHBoxLayout>

#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

SplitButton::SplitButton(const QString& iconName, const QString& text, ButtonKind kind, QWidget* parent)
    : QWidget(parent),
      m_main(new Button(iconName, text, kind, this)),
      m_arrow(new Button("chevron-down", "", kind, this)) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_main);
  layout->addWidget(m_arrow);
  m_main->setProperty("part", "left");
  m_arrow->setProperty("part", "right");
  m_arrow->setIconSize(QSize(12, 12));
  m_arrow->setFixedWidth(26);
  m_arrow->setAccessibleName(tr("More ways to %1").arg(text));
  applyKind(kind);
  keepHeight(m_main, Size::buttonTop);
  keepHeight(m_arrow, Size::buttonTop);
  setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  connect(m_main, &QPushButton::clicked, this, &SplitButton::clicked);
  connect(m_arrow, &QPushButton::clicked, this,
          [this] { m_menu.popup(mapToGlobal(QPoint(width() - m_menu.sizeHint().width(), this->height() + 4))); });
}

void SplitButton::setKind(ButtonKind kind) {
  if (kind == m_main->kind()) return;
  m_main->setKind(kind);
  m_arrow->setKind(kind);
  applyKind(kind);
}

// Outlined, this button is still the way to train: its words and signs are in the accent.
void SplitButton::applyKind(ButtonKind kind) {
  const auto colour = kind == ButtonKind::outlined ? std::optional(Colour::accentText) : std::nullopt;
  m_main->setIconColour(colour);
  m_arrow->setIconColour(colour);
  m_arrow->setIconSize(QSize(12, 12));
}

void SplitButton::setText(const QString& text) {
  m_main->setText(text);
}

void SplitButton::setIconName(const QString& name) {
  m_main->setIconName(name);
}

}  // namespace loom
