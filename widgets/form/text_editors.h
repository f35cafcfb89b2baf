#pragma once
// Editors that are one line of text: text, file (with a folder button), and lists that are read from text: shape
// ("3 × 32 × 32"), integers and reals without a count ("0.9, 0.999").
#include <QLineEdit>
#include <optional>

#include "widgets/form/field_editor.h"

namespace loom {

class TextEditor : public FieldEditor {
  Q_OBJECT

 public:
  TextEditor(const Field& field, const EditorOptions& options, QWidget* parent);

  void showValue(const Json& value) override;
  void showMixed() override;
  QStringList draft() const override;
  void restoreDraft(const QStringList& texts) override;
  void setMark(FieldMark mark) override;
  void setSymbols(const Symbols& symbols) override { m_options.symbols = symbols; }
  QWidget* focusTarget() override { return m_line; }

 private:
  void read();
  void browse();
  const Field& m_field;
  EditorOptions m_options;
  QLineEdit* m_line;
  QString m_problem;
  QString m_absent;  // what stands in the empty field
  bool m_showing = false, m_mixed = false;
};

// A list as a person types it: numbers between spaces, commas, ×, x or *; with brackets or without. The problem names
// the part that is no number.
struct ListText {
  std::optional<Json> value;
  QString problem;
};
// With symbols a part that is no number may be an expression of theirs: "=channels".
ListText readNumberList(const QString& text, bool whole, int count = 0, const Symbols& symbols = {});
QString writeNumberList(const Json& values, const QString& between);

}  // namespace loom
