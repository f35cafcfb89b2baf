#pragma once
// Editors of boolean (a switch), choice (a list, or segments where labels are few and short) and texts (chips).
#include <QLineEdit>
#include <vector>

#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/form/field_editor.h"

class QHBoxLayout;

namespace loom {

class Chip;
class FlowLayout;

class BooleanEditor : public FieldEditor {
  Q_OBJECT

 public:
  BooleanEditor(const Field& field, QWidget* parent);
  void showValue(const Json& value) override;
  void showMixed() override { m_switch->setMixed(true); }
  void setMark(FieldMark) override {}
  QWidget* focusTarget() override { return m_switch; }

 private:
  Switch* m_switch;
};

class ChoiceEditor : public FieldEditor {
  Q_OBJECT

 public:
  ChoiceEditor(const Field& field, bool segments, QWidget* parent);
  void showValue(const Json& value) override;
  void showMixed() override;
  void setMark(FieldMark mark) override;
  QWidget* focusTarget() override;
  bool wantsWholeWidth() const override { return m_segments != nullptr; }

 private:
  int indexOf(const std::string& id) const;
  const Field& m_field;
  ChoiceField* m_list = nullptr;
  SegmentedControl* m_segments = nullptr;
  bool m_showing = false;
};

// Chips that can be taken away and a place to type another; Enter or a comma adds it.
class TextsEditor : public FieldEditor {
  Q_OBJECT

 public:
  TextsEditor(const Field& field, QWidget* parent);
  void showValue(const Json& value) override;
  void showMixed() override;
  QStringList draft() const override;
  void restoreDraft(const QStringList& texts) override { m_line->setText(texts.value(0)); }
  void setMark(FieldMark mark) override;
  QWidget* focusTarget() override { return m_line; }
  bool wantsWholeWidth() const override { return true; }

 private:
  void add(const QString& text);
  void rebuild();
  void send();
  QStringList m_texts;
  std::vector<Chip*> m_chips;
  FlowLayout* m_flow;
  QLineEdit* m_line;
};

}  // namespace loom
