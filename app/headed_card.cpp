#include "app/headed_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/controls/text.h"

namespace loom {

HeadedCard::HeadedCard(const QString& title, QWidget* parent)
    : QWidget(parent),
      m_column(new QVBoxLayout(this)),
      m_head(new QHBoxLayout),
      m_hint(makeLabel("hint", {}, nullptr, Wrap::yes)) {
  m_column->setContentsMargins(20, 12, 16, 12);
  m_column->setSpacing(4);
  m_head->setSpacing(8);
  m_head->addWidget(makeLabel("heading", title));
  m_head->addStretch();
  m_column->addLayout(m_head);
  m_column->addWidget(m_hint);
  m_hint->hide();
}

Button* HeadedCard::addButton(const char* name, const QString& text, ButtonKind kind) {
  auto* button = new Button(text, kind);
  button->setObjectName(name);
  addToHead(button);
  return button;
}

void HeadedCard::addToHead(QWidget* widget) {
  m_head->addWidget(widget);
}

void HeadedCard::setHint(const QString& text) {
  m_hint->setText(text);
  m_hint->setVisible(!text.isEmpty());
}

}  // namespace loom
