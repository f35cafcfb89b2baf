#include "app/pages/training/rate_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/number_field.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRateDigits = 3;

}  // namespace

RateCard::RateCard(double now, QWidget* window)
    : Popover(window),
      m_value(new NumberField(NumberField::Kind::real)),
      m_change(new Button(tr("Change"), ButtonKind::tinted)),
      m_hint(new QLabel),
      m_now(now) {
  setObjectName("rate-card");
  auto* title = new QLabel(tr("Learning rate"));
  title->setProperty("kind", "heading");
  m_value->setObjectName("rate-value");
  m_value->setAccessibleName(tr("New learning rate"));
  // As it is shown: a rate on its way down a schedule has sixteen digits that nobody wants to edit.
  m_value->setValue(QString::number(now, 'g', kRateDigits).toDouble());
  m_value->setLimits(0, {});
  m_value->setFixedWidth(150);
  m_change->setObjectName("rate-change");
  auto* row = new QHBoxLayout;
  row->addWidget(m_value);
  row->addWidget(m_change);
  contentLayout()->addWidget(title);
  contentLayout()->addLayout(row);
  contentLayout()->addWidget(m_hint);
  connect(m_value, &NumberField::valueChanged, this, &RateCard::check);
  connect(m_value, &NumberField::emptied, this, &RateCard::check);
  connect(m_value, &NumberField::invalid, this, &RateCard::check);
  connect(m_value, &QLineEdit::returnPressed, this, &RateCard::accept);
  connect(m_change, &Button::clicked, this, &RateCard::accept);
  check();
}

void RateCard::check() {
  const auto value = m_value->value();
  QString fault = m_value->problem();
  if (fault.isEmpty() && !value) fault = tr("A number is wanted.");
  if (fault.isEmpty() && *value < 0) fault = tr("The rate is %1, but must be 0 or more.").arg(formatRate(*value));
  m_change->setEnabled(fault.isEmpty());
  m_hint->setText(fault.isEmpty() ? tr("Now %1. Holds from the next step on.").arg(formatRate(m_now)) : fault);
  setStyleProperty(m_hint, "kind", fault.isEmpty() ? "hint" : "error");
}

void RateCard::accept() {
  if (!m_change->isEnabled()) return;
  const double rate = *m_value->value();
  close();
  Q_EMIT wanted(rate);
}

}  // namespace loom
