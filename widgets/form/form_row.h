#pragma once
// One field in a form: the dot before what differs from the default, label, editor, what it computes to, and under it
// the problem with its remedy and, when asked for, the help.
#include <QLabel>
#include <QWidget>

#include "widgets/form/field_editor.h"

class QVBoxLayout;

namespace loom {

class Button;

struct RowLayout {
  int labelWidth = 130;
  int fieldWidth = 0;  // 0 = whatever is left
  bool segments = false;
  QString baseFolder;
  Symbols symbols;
};

class FormRow : public QWidget {
  Q_OBJECT

 public:
  FormRow(const Field& field, const RowLayout& layout, QWidget* parent);

  const Field& field() const { return m_field; }
  FieldEditor* editor() const { return m_editor; }
  void showValue(const Json& value) { m_editor->showValue(value); }
  void setChanged(bool changed);
  bool isChanged() const { return m_changed; }
  // The struck-through default beside a changed value.
  void setShowDefault(bool show);
  void setHint(const QString& hint, const QString& action);
  void setProblems(const std::vector<FieldProblem>& problems);
  bool helpShown() const;
  void setHelpShown(bool shown);

 Q_SIGNALS:
  void resetRequested();
  void remedyChosen(const loom::Json& value);
  void hintActionTriggered();

 protected:
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* problemLine(const FieldProblem& problem);
  void refreshHelpButton();
  const Field& m_field;
  RowLayout m_layout;
  QVBoxLayout* m_column;
  QWidget* m_dot;
  Button* m_help;
  FieldEditor* m_editor;
  QLabel* m_default;
  QLabel* m_hint;
  Button* m_hintAction;
  QWidget* m_problems = nullptr;
  QLabel* m_helpText = nullptr;
  bool m_changed = false;
  bool m_showDefault = false;
  bool m_hovered = false;
};

// A value as a person reads it: "He normal", "3 × 3", "on", "none".
QString readable(const Field& field, const Json& value);

}  // namespace loom
