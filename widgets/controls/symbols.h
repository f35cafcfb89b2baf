#pragma once
// The names that a field's expression may use ("channels", "Input[0]"), and what an expression with them comes to.
// Given to fields by whoever knows the drawing; a field without symbols takes numbers alone.
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>

namespace loom {

struct SymbolValue {
  bool named = false;  // an expression of known names: to be kept as it was typed
  QString value;       // what it comes to now: "32", "32, 16"; empty where that is not known yet
  QString problem;     // why it is none
};

struct Symbols {
  QStringList names;  // those to be offered
  std::function<SymbolValue(const QString& expression)> evaluate;

  explicit operator bool() const { return evaluate != nullptr; }
};

}  // namespace loom
