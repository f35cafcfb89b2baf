#include "widgets/form/field_editor.h"

#include "widgets/form/choice_editors.h"
#include "widgets/form/expression_editor.h"
#include "widgets/form/number_editors.h"
#include "widgets/form/text_editors.h"

namespace loom {
namespace {

constexpr std::size_t kMostSegments = 3;
constexpr std::size_t kLongestSegments = 34;  // letters over all segments

bool fitsSegments(const Field& field) {
  std::size_t letters = 0;
  for (const Choice& choice : field.choices) letters += choice.label.size();
  return field.choices.size() >= 2 && field.choices.size() <= kMostSegments && letters <= kLongestSegments;
}

bool sameNumber(const Json& one, const Json& other) {
  return one.is_number() && other.is_number() && one.get<double>() == other.get<double>();
}

}  // namespace

namespace {

FieldEditor* makePlainEditor(const Field& field, const EditorOptions& options, QWidget* parent) {
  switch (field.type) {
    case FieldType::integer:
    case FieldType::real:
      return new NumbersEditor(field, parent);
    case FieldType::integers:
    case FieldType::reals:
      if (field.count >= 1 && field.count <= 3) return new NumbersEditor(field, parent);
      return new TextEditor(field, options, parent);
    case FieldType::boolean:
      return new BooleanEditor(field, parent);
    case FieldType::choice:
      return new ChoiceEditor(field, options.segments && fitsSegments(field), parent);
    case FieldType::texts:
      return new TextsEditor(field, parent);
    case FieldType::text:
    case FieldType::shape:
    case FieldType::file:
      return new TextEditor(field, options, parent);
  }
  return new TextEditor(field, options, parent);
}

}  // namespace

QString mixedWord() {
  return FieldEditor::tr("mixed");
}

FieldEditor* makeFieldEditor(const Field& field, const EditorOptions& options, QWidget* parent) {
  FieldEditor* plain = makePlainEditor(field, options, parent);
  // In a text every sign means itself; numbers take expressions where they stand.
  const bool asTyped = field.type == FieldType::text || field.type == FieldType::texts || field.type == FieldType::file;
  const bool numbers = qobject_cast<NumbersEditor*>(plain) != nullptr;
  if (!options.symbols || asTyped) return plain;
  if (numbers) {
    plain->setSymbols(options.symbols);
    return plain;
  }
  return new SwitchingEditor(field, options.symbols, plain, parent);
}

bool sameFieldValue(const Field& field, const Json& one, const Json& other) {
  if (one == other || sameNumber(one, other)) return true;
  const bool list =
      field.type == FieldType::integers || field.type == FieldType::reals || field.type == FieldType::shape;
  if (!list || one.is_null() || other.is_null()) return false;
  // A single number stands for the same at every place.
  const std::size_t size = std::max(one.is_array() ? one.size() : 1, other.is_array() ? other.size() : 1);
  const auto at = [](const Json& value, std::size_t i) -> const Json* {
    if (!value.is_array()) return &value;
    return i < value.size() ? &value[i] : nullptr;
  };
  for (std::size_t i = 0; i < size; ++i) {
    const Json* a = at(one, i);
    const Json* b = at(other, i);
    if (!a || !b || !(*a == *b || sameNumber(*a, *b))) return false;
  }
  return true;
}

}  // namespace loom
