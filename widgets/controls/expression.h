#pragma once
// What a person may type where a number is wanted: "0.1*32", "6.4e0", "2^10", "(1+2)/3", "45_000", "45,000", "32 k".
#include <QString>
#include <functional>
#include <optional>

namespace loom {

struct ExpressionResult {
  std::optional<double> value;  // absent when the text is no expression
  bool plain = false;           // a number alone: nothing to compute
  QString problem;              // what is wrong, empty when there is a value
};

// The formulas of engine/base/expression.h, in which a drawing's fields are written too. A word is asked of `variable`;
// nan and inf are numbers only where `variable` says so. Division by zero is a problem.
ExpressionResult evaluateExpression(const QString& text,
                                    const std::function<std::optional<double>(const QString&)>& variable = {});

// The next number of the series ... 0.5 1 2 5 10 20 50 ... above (up > 0) or below; through 0 to the negative ones.
// `factor10` multiplies or divides by ten instead. Integers below ten go by one.
double stepped(double value, int up, bool factor10, bool integer);

// As short as exact: 6.4, 0.008, 1e-4, 45000.
QString shortestNumber(double value);

}  // namespace loom
