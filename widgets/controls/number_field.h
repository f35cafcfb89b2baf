#pragma once
// A number as a person types it. The text stays exactly as typed, also while it is no number or out of range: nothing
// is lost, nothing is corrected behind one's back. Up and Down step by 1-2-5, with Shift by ten; expressions are
// computed as one types and the result stands quietly at the right end, as does the unit.
#include <QLineEdit>
#include <functional>
#include <optional>

#include "widgets/controls/symbols.h"

namespace loom {

class NumberField : public QLineEdit {
  Q_OBJECT

 public:
  enum class Kind { real, integer };
  explicit NumberField(Kind kind, QWidget* parent = nullptr);

  // Shows `value`, unless the text already means it.
  void setValue(double value);
  void clearValue();  // empties the field: "as the help says"
  std::optional<double> value() const { return m_value; }
  // What stands here uses names of setSymbols(), as it was typed, without the '=': "channels*4". Empty for a number.
  QString expression() const { return m_expression; }
  void setExpression(const QString& expression);
  QString problem() const { return m_problem; }  // why there is no value; empty for an empty field

  void setUnit(const QString& unit);
  void setLimits(std::optional<double> low, std::optional<double> high);  // for stepping alone: typing may exceed them
  void setGrouped(bool grouped);                                          // "4,096" while nobody types in it
  void setSteppers(bool steppers);  // two small buttons at the right end do what Up and Down do
  void setVariables(std::function<std::optional<double>(const QString&)> variable);
  // Words that are no number are asked of them; what the symbols know is kept as an expression.
  void setSymbols(const Symbols& symbols);
  QSize sizeHint() const override;

 Q_SIGNALS:
  void expressionChanged(const QString& expression);
  void valueChanged(double value);  // each keystroke that makes a number, and each step
  void emptied();
  void invalid(const QString& problem);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void read();
  void step(int up, bool factor10);
  void reserve();
  QString suffix() const;

  Kind m_kind;
  QString m_unit;
  QString m_computed;
  QString m_problem;
  QString m_expression;
  Symbols m_symbols;
  std::optional<double> m_value;
  std::optional<double> m_low, m_high;
  std::function<std::optional<double>(const QString&)> m_variable;
  bool m_setting = false;
  bool m_grouped = false;
  void group(bool grouped);
  QWidget* m_steppers = nullptr;
};

}  // namespace loom
