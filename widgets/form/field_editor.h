#pragma once
// The control for one field of a catalogue entry, chosen by the field's type. It speaks JSON values as the file has
// them.
#include <QStringList>
#include <QWidget>
#include <memory>

#include "engine/catalogue/entry.h"
#include "widgets/controls/symbols.h"

namespace loom {

enum class FieldMark { none, warning, error };

struct EditorOptions {
  bool segments = false;  // choices with few short labels as a segmented control
  QString baseFolder;     // against which a file's path is relative
  Symbols symbols;        // what expressions in this field may name; none = values alone
};

class FieldEditor : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;

  // Shows a value of the field's type; null = absent. Emits nothing; leaves a text alone that already means the value.
  virtual void showValue(const Json& value) = 0;
  // Several things with different values are edited at once: none of them is shown, the word "mixed" stands there until
  // one is given. Emits nothing; showValue() ends it.
  virtual void showMixed() = 0;
  // Text that means no value, so that it can be kept when the form goes to another entry and comes back; empty = none.
  virtual QStringList draft() const { return {}; }
  virtual void restoreDraft(const QStringList&) {}
  virtual void setMark(FieldMark mark) = 0;
  // Where the keyboard goes and what a screen reader calls it.
  virtual QWidget* focusTarget() = 0;
  // Other names, or other values of them: what stands in the field stays.
  virtual void setSymbols(const Symbols&) {}
  // Stretches over the column rather than keeping the width of one field.
  virtual bool wantsWholeWidth() const { return false; }

 Q_SIGNALS:
  void edited(const loom::Json& value);  // each keystroke that gives a value; null = absent
  // What stands there is no value; the last valid one still holds. Empty: nothing stands there any more, and that is
  // right.
  void invalid(const QString& problem);
};

QString mixedWord();  // "mixed"

// Never null. `field` must outlive the editor.
FieldEditor* makeFieldEditor(const Field& field, const EditorOptions& options, QWidget* parent);

// Whether two values of a field mean the same: 3 and [3, 3] do for a pair, 1 and 1.0 do for a number.
bool sameFieldValue(const Field& field, const Json& one, const Json& other);

}  // namespace loom
