#include "widgets/controls/number_field.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QRegularExpression>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/controls/button.h"
#include "widgets/controls/expression.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr double kLargestInteger = 9007199254740992.0;  // 2^53: every integer up to here is a double
}

NumberField::NumberField(Kind kind, QWidget* parent) : QLineEdit(parent), m_kind(kind) {
  setProperty("number", true);
  connect(this, &QLineEdit::textChanged, this, &NumberField::read);
}

void NumberField::setValue(double value) {
  if (m_value && *m_value == value && m_expression.isEmpty()) return;
  m_setting = true;
  setText(shortestNumber(value));
  group(!hasFocus());
  if (!hasFocus()) setCursorPosition(0);  // of what is longer than the field its first digits count
  m_setting = false;
}

void NumberField::clearValue() {
  if (text().isEmpty()) return;
  m_setting = true;
  clear();
  m_setting = false;
}

void NumberField::setUnit(const QString& unit) {
  m_unit = unit;
  reserve();
}

void NumberField::setLimits(std::optional<double> low, std::optional<double> high) {
  m_low = low;
  m_high = high;
}

void NumberField::setGrouped(bool grouped) {
  m_grouped = grouped;
  group(grouped && !hasFocus());
}

// The number stays; only how its digits stand changes.
void NumberField::group(bool grouped) {
  if (!m_grouped || !m_value || m_kind != Kind::integer || !m_computed.isEmpty()) return;
  const bool before = std::exchange(m_setting, true);
  setText(grouped ? QLocale(QLocale::English).toString(static_cast<qlonglong>(*m_value)) : shortestNumber(*m_value));
  m_setting = before;
}

void NumberField::setSteppers(bool steppers) {
  delete std::exchange(m_steppers, nullptr);
  if (steppers) {
    m_steppers = new QWidget(this);
    auto* column = new QVBoxLayout(m_steppers);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (const int up : {1, -1}) {
      Button* button = iconButton(up > 0 ? QStringLiteral("chevron-up") : QStringLiteral("chevron-down"),
                                  up > 0 ? tr("More") : tr("Less"));
      // Two of them stand in one field: lower than the sheet's buttons.
      button->setStyleSheet(QStringLiteral(
          "min-width: 22px; max-width: 22px; min-height: 14px; max-height: 14px; padding: 0; border: none;"));
      button->setIconSize({12, 12});
      button->setFocusPolicy(Qt::NoFocus);  // the keys Up and Down do the same
      button->setCursor(Qt::ArrowCursor);
      connect(button, &QPushButton::clicked, this, [this, up] {
        setFocus(Qt::MouseFocusReason);
        step(up, QApplication::keyboardModifiers() & Qt::ShiftModifier);
      });
      column->addWidget(button);
    }
  }
  reserve();
}

void NumberField::focusInEvent(QFocusEvent* event) {
  group(false);
  QLineEdit::focusInEvent(event);
}

void NumberField::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  group(true);
}

void NumberField::resizeEvent(QResizeEvent* event) {
  QLineEdit::resizeEvent(event);
  if (m_steppers) m_steppers->setGeometry(width() - 26, (height() - 28) / 2, 22, 28);
}

void NumberField::setVariables(std::function<std::optional<double>(const QString&)> variable) {
  m_variable = std::move(variable);
  read();
}

void NumberField::setSymbols(const Symbols& symbols) {
  m_symbols = symbols;
  const bool before = std::exchange(m_setting, true);  // what stands here has not changed, what it comes to may have
  read();
  m_setting = before;
}

void NumberField::setExpression(const QString& expression) {
  if (m_expression == expression.trimmed() && !m_expression.isEmpty()) return;
  m_setting = true;
  setText(expression);
  if (!hasFocus()) setCursorPosition(0);
  m_setting = false;
}

void NumberField::read() {
  m_computed.clear();
  m_problem.clear();
  m_expression.clear();
  m_value.reset();
  if (!text().trimmed().isEmpty()) {
    static const QRegularExpression kGroups(QStringLiteral("^\\s*\\d{1,3}(,\\d{3})+\\s*$"));
    QString typed = text();
    if (m_grouped && kGroups.match(typed).hasMatch()) typed.remove(QLatin1Char(','));
    const ExpressionResult result = evaluateExpression(typed, m_variable);
    QString bare = typed.trimmed();
    if (bare.startsWith(QLatin1Char('='))) bare = bare.mid(1).trimmed();
    const SymbolValue named = !result.value && m_symbols ? m_symbols.evaluate(bare) : SymbolValue{};
    if (named.named) {
      m_expression = bare;
      m_problem = named.problem;
      m_computed = QStringLiteral("= ") + (named.value.isEmpty() ? QStringLiteral("?") : named.value);
    } else if (!result.value) {
      m_problem = named.problem.isEmpty() ? result.problem : named.problem;
    } else if (m_kind == Kind::integer && *result.value != std::trunc(*result.value)) {
      m_problem = tr("%1 is not a whole number").arg(shortestNumber(*result.value));
    } else if (m_kind == Kind::integer && std::abs(*result.value) > kLargestInteger) {
      m_problem = tr("%1 is larger than 2^53").arg(shortestNumber(*result.value));
    } else {
      m_value = result.value;
    }
    if (m_value && !result.plain) m_computed = QStringLiteral("= ") + shortestNumber(*m_value);
  }
  reserve();
  if (m_setting) return;
  if (!m_expression.isEmpty())
    Q_EMIT expressionChanged(m_expression);
  else if (m_value)
    Q_EMIT valueChanged(*m_value);
  else if (m_problem.isEmpty())
    Q_EMIT emptied();
  else
    Q_EMIT invalid(m_problem);
}

void NumberField::step(int up, bool factor10) {
  const double from = m_value.value_or(0);
  double to = stepped(from, up, factor10, m_kind == Kind::integer);
  if (m_low) to = std::max(to, *m_low);
  if (m_high) to = std::min(to, *m_high);
  // A limit may lie on the other side of what stands there: stepping up never goes down.
  if ((up > 0 && to <= from) || (up < 0 && to >= from)) return;
  setText(shortestNumber(to));
  selectAll();
}

QString NumberField::suffix() const {
  if (!m_computed.isEmpty()) return m_computed;
  return m_value == 1 ? singular(m_unit) : m_unit;
}

void NumberField::reserve() {
  const Theme& theme = Theme::of(this);
  const QFontMetrics metrics(m_computed.isEmpty() ? theme.font(FontRole::label) : theme.numberFont(FontRole::label));
  setTextMargins(0, 0, (suffix().isEmpty() ? 0 : metrics.horizontalAdvance(suffix()) + 8) + (m_steppers ? 24 : 0), 0);
  update();
}

QSize NumberField::sizeHint() const {
  return {96, Theme::of(this).size(Size::field)};
}

void NumberField::paintEvent(QPaintEvent* event) {
  QLineEdit::paintEvent(event);
  if (suffix().isEmpty()) return;
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setFont(m_computed.isEmpty() ? theme.font(FontRole::label) : theme.numberFont(FontRole::label));
  painter.setPen(theme.colour(isEnabled() ? Colour::text3 : Colour::disabled));
  painter.drawText(QRectF(rect()).adjusted(0, 0, m_steppers ? -33 : -9, 0), Qt::AlignVCenter | Qt::AlignRight,
                   suffix());
}

void NumberField::keyPressEvent(QKeyEvent* event) {
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  if (isReadOnly())
    QLineEdit::keyPressEvent(event);
  else if (event->key() == Qt::Key_Up)
    step(1, shift);
  else if (event->key() == Qt::Key_Down)
    step(-1, shift);
  else
    QLineEdit::keyPressEvent(event);
}

void NumberField::wheelEvent(QWheelEvent* event) {
  event->ignore();
}

}  // namespace loom
