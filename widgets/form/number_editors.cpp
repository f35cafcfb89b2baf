#include "widgets/form/number_editors.h"

#include <QHBoxLayout>
#include <QLabel>
#include <cmath>

#include "widgets/form/form_row.h"
#include "widgets/theme/theme.h"

namespace loom {

NumbersEditor::NumbersEditor(const Field& field, QWidget* parent) : FieldEditor(parent), m_field(field) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(6);
  const int count = single() ? 1 : field.count;
  for (int i = 0; i < count; ++i) {
    if (i > 0) {
      auto* times = new QLabel(field.type == FieldType::integers ? QStringLiteral("×") : QStringLiteral(","), this);
      times->setProperty("kind", "hint");
      layout->addWidget(times);
    }
    auto* number = new NumberField(whole() ? NumberField::Kind::integer : NumberField::Kind::real, this);
    if (i + 1 == count) number->setUnit(QString::fromStdString(field.unit));
    if (field.hard) number->setLimits(field.hard->low, field.hard->high);
    number->setMinimumWidth(36);
    if (count > 1) number->setAlignment(Qt::AlignCenter);
    number->setAccessibleName(count == 1
                                  ? QString::fromStdString(field.label)
                                  : tr("%1, %2 of %3").arg(QString::fromStdString(field.label)).arg(i + 1).arg(count));
    layout->addWidget(number, 1);
    connect(number, &NumberField::valueChanged, this, &NumbersEditor::read);
    connect(number, &NumberField::expressionChanged, this, &NumbersEditor::read);
    connect(number, &NumberField::emptied, this, &NumbersEditor::read);
    connect(number, &NumberField::invalid, this, &NumbersEditor::read);
    m_numbers.push_back(number);
  }
  setMixed(false);
}

void NumbersEditor::setMixed(bool mixed) {
  m_mixed = mixed;
  const QString absent = m_field.optional && m_field.defaultValue.is_null() ? readable(m_field, nullptr) : QString();
  for (NumberField* number : m_numbers) number->setPlaceholderText(mixed ? mixedWord() : absent);
}

void NumbersEditor::showMixed() {
  showValue(nullptr);
  setMixed(true);
}

void NumbersEditor::showValue(const Json& value) {
  if (m_mixed) setMixed(false);
  m_showing = true;
  for (std::size_t i = 0; i < m_numbers.size(); ++i) {
    const Json* item = value.is_array() ? (i < value.size() ? &value[i] : nullptr) : &value;
    if (item && item->is_number())
      m_numbers[i]->setValue(item->get<double>());
    else if (item && item->is_string() && item->get_ref<const std::string&>().starts_with('='))
      m_numbers[i]->setExpression(QString::fromStdString(item->get<std::string>()).mid(1));
    else
      m_numbers[i]->clearValue();
  }
  m_showing = false;
}

void NumbersEditor::read() {
  if (m_showing) return;
  Json values = Json::array();
  int empty = 0;
  for (const NumberField* number : m_numbers) {
    if (!number->problem().isEmpty()) {
      Q_EMIT invalid(number->problem());
      return;
    }
    if (!number->expression().isEmpty())
      values.push_back("=" + number->expression().toStdString());
    else if (!number->value())
      ++empty;
    else if (whole())
      values.push_back(static_cast<std::int64_t>(*number->value()));
    else
      values.push_back(*number->value());
  }
  if (empty == static_cast<int>(m_numbers.size())) {
    if (m_mixed) return Q_EMIT invalid({});  // what was typed is gone again: each keeps its own
    // Empty means absent where that is allowed; a field that has a default keeps the last value until it has one again.
    if (m_field.optional)
      Q_EMIT edited(Json());
    else
      Q_EMIT invalid(tr("a number is missing"));
  } else if (empty > 0) {
    Q_EMIT invalid(tr("%1 numbers are wanted, %2 stand there")
                       .arg(m_numbers.size())
                       .arg(m_numbers.size() - static_cast<std::size_t>(empty)));
  } else {
    if (m_mixed) setMixed(false);
    Q_EMIT edited(single() ? values[0] : values);
  }
}

QStringList NumbersEditor::draft() const {
  QStringList texts;
  bool valid = true;
  for (const NumberField* number : m_numbers) {
    texts << number->text();
    if (!number->problem().isEmpty() || (number->text().isEmpty() && !m_field.optional)) valid = false;
  }
  return valid ? QStringList() : texts;
}

void NumbersEditor::restoreDraft(const QStringList& texts) {
  m_showing = true;
  for (std::size_t i = 0; i < m_numbers.size() && static_cast<qsizetype>(i) < texts.size(); ++i) {
    m_numbers[i]->setText(texts[static_cast<qsizetype>(i)]);
  }
  m_showing = false;
  read();
}

void NumbersEditor::setSymbols(const Symbols& symbols) {
  for (NumberField* number : m_numbers) number->setSymbols(symbols);
}

void NumbersEditor::setMark(FieldMark mark) {
  for (NumberField* number : m_numbers) {
    setStyleProperty(number, "problem",
                     mark == FieldMark::error     ? "error"
                     : mark == FieldMark::warning ? "warning"
                                                  : "");
  }
}

}  // namespace loom
