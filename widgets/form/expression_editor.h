#pragma once
// A field that is no number may still follow an argument: where its value is an expression, a line with it stands in
// the place of the field's own control. The context menu of either offers the names; an emptied line gives the control
// back.
#include "widgets/controls/number_field.h"
#include "widgets/form/field_editor.h"

namespace loom {

class SwitchingEditor : public FieldEditor {
  Q_OBJECT

 public:
  SwitchingEditor(const Field& field, const Symbols& symbols, FieldEditor* plain, QWidget* parent);

  void showValue(const Json& value) override;
  void showMixed() override {
    show(false);
    m_plain->showMixed();
  }
  QStringList draft() const override { return m_plain->draft(); }
  void restoreDraft(const QStringList& texts) override { m_plain->restoreDraft(texts); }
  void setMark(FieldMark mark) override;
  void setSymbols(const Symbols& symbols) override;
  QWidget* focusTarget() override { return showsExpression() ? m_line : m_plain->focusTarget(); }
  bool wantsWholeWidth() const override { return m_plain->wantsWholeWidth(); }
  bool showsExpression() const { return !m_line->isHidden(); }
  FieldEditor& plain() const { return *m_plain; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show(bool expression);
  const Field& m_field;
  Symbols m_symbols;
  FieldEditor* m_plain;
  NumberField* m_line;
};

}  // namespace loom
