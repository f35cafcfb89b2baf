#include "app/shell/name_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>

#include "widgets/controls/button.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr int kNameWidth = 320, kLongestName = 100;

}  // namespace

NameCard::NameCard(const Question& question, QWidget* window)
    : Popover(window),
      m_question(question),
      m_name(new QLineEdit(question.name, this)),
      m_place(makeLabel("hint", {}, this, Wrap::yes)),
      m_fault(makeLabel("error", {}, this, Wrap::yes)),
      m_take(new Button(question.action, ButtonKind::tinted, this)) {
  setObjectName("name-card");
  setTitle(question.title);
  m_name->setObjectName("project-name");
  m_name->setAccessibleName(tr("Name"));
  m_name->setMaxLength(kLongestName);
  m_name->setFixedWidth(kNameWidth);
  m_name->selectAll();
  m_place->setFixedWidth(kNameWidth);
  m_fault->setFixedWidth(kNameWidth);
  m_fault->setObjectName("name-fault");
  m_fault->hide();
  m_take->setObjectName("take-name");
  for (QWidget* part : {static_cast<QWidget*>(m_name), static_cast<QWidget*>(m_place), static_cast<QWidget*>(m_fault)})
    contentLayout()->addWidget(part);
  auto* foot = new QHBoxLayout;
  if (question.elsewhere) {
    auto* elsewhere = new Button(tr("Another place..."), ButtonKind::link, this);
    elsewhere->setObjectName("name-elsewhere");
    connect(elsewhere, &QAbstractButton::clicked, this, &NameCard::elsewhereWanted);
    foot->addWidget(elsewhere);
  }
  foot->addStretch();
  foot->addWidget(m_take);
  contentLayout()->addLayout(foot);
  const auto take = [this] {
    if (m_take->isEnabled()) Q_EMIT wanted(m_name->text().trimmed());
  };
  connect(m_name, &QLineEdit::textChanged, this, &NameCard::look);
  connect(m_name, &QLineEdit::returnPressed, this, take);
  connect(m_take, &QAbstractButton::clicked, this, take);
  look();
  setFocusProxy(m_name);
}

void NameCard::look() {
  const QString name = m_name->text().trimmed();
  m_place->setText(m_question.place);
  const QString fault = m_question.fault ? m_question.fault(name) : QString();
  m_take->setEnabled(!name.isEmpty() && fault.isEmpty());
  m_fault->setText(fault);
  m_fault->setVisible(!fault.isEmpty());
  adjustSize();
}

void NameCard::refuse(const QString& sentence) {
  m_fault->setText(sentence);
  m_fault->show();
  adjustSize();
}

}  // namespace loom
