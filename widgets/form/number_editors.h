#pragma once
// Editors of integer, real, integers and reals with a count: one number field each, × between them.
#include <vector>

#include "widgets/controls/number_field.h"
#include "widgets/form/field_editor.h"

namespace loom {

class NumbersEditor : public FieldEditor {
  Q_OBJECT

 public:
  NumbersEditor(const Field& field, QWidget* parent);

  void showValue(const Json& value) override;
  void showMixed() override;
  QStringList draft() const override;
  void restoreDraft(const QStringList& texts) override;
  void setMark(FieldMark mark) override;
  void setSymbols(const Symbols& symbols) override;
  QWidget* focusTarget() override { return m_numbers.front(); }

 private:
  void read();
  void setMixed(bool mixed);
  bool single() const { return m_field.type == FieldType::integer || m_field.type == FieldType::real; }
  bool whole() const { return m_field.type == FieldType::integer || m_field.type == FieldType::integers; }
  const Field& m_field;
  std::vector<NumberField*> m_numbers;
  bool m_showing = false, m_mixed = false;
};

}  // namespace loom
