#pragma once
// What a formula may hold: operators and functions, told to muParser. Of expression.cpp alone.
#include <muParserBase.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/base/expression.h"

namespace loom::formula {

inline double divide(double a, double b) {
  if (b == 0) throw ExpressionError("division by zero", 0);
  return a / b;
}
inline double floorDivide(double a, double b) {
  return std::floor(divide(a, b));
}
inline double remainderOf(double a, double b) {
  return a - b * floorDivide(a, b);
}

inline bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// A number where muParser looks for one: not by a locale.
inline int numberAt(const char* text, int* position, double* value) {
  const char* const end = text + std::char_traits<char>::length(text);
  const auto [behind, fault] = std::from_chars(text, end, *value);
  if (fault != std::errc() || !isDigit(text[0])) return 0;
  *position += static_cast<int>(behind - text);
  return 1;
}

// muParser with operators of ours in the place of its own: a division by zero is told, nothing is assigned.
class Grammar : public mu::ParserBase {
 public:
  Grammar() {
    EnableBuiltInOprt(false);
    AddValIdent(numberAt);
    InitCharSets();
    InitFun();
    InitOprt();
  }

 protected:
  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*/^%<>=!&|");
    DefineInfixOprtChars("+-!");
  }
  void InitFun() override {
    const auto least = [](const double* values, int count) { return *std::min_element(values, values + count); };
    const auto greatest = [](const double* values, int count) { return *std::max_element(values, values + count); };
    DefineFun("min", static_cast<mu::multfun_type>(least), false);
    DefineFun("max", static_cast<mu::multfun_type>(greatest), false);
    const auto one = [this](const char* name, mu::fun_type1 function) { DefineFun(name, function, false); };
    one("abs", [](double x) { return std::abs(x); });
    one("sign", [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; });
    one("floor", [](double x) { return std::floor(x); });
    one("ceil", [](double x) { return std::ceil(x); });
    one("round", [](double x) { return std::round(x); });
    one("sqrt", [](double x) { return std::sqrt(x); });
    one("exp", [](double x) { return std::exp(x); });
    one("log", [](double x) { return std::log(x); });
    one("log2", [](double x) { return std::log2(x); });
    one("log10", [](double x) { return std::log10(x); });
  }
  void InitConst() override {}
  void InitOprt() override {
    const auto two = [this](const char* name, mu::fun_type2 function, unsigned priority,
                            mu::EOprtAssociativity side = mu::oaLEFT) {
      DefineOprt(name, function, priority, side, false);
    };
    two(
        "||", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }, mu::prLOR);
    two(
        "&&", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }, mu::prLAND);
    two(
        "==", [](double a, double b) { return a == b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        "!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        "<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        ">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        "<", [](double a, double b) { return a < b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        ">", [](double a, double b) { return a > b ? 1.0 : 0.0; }, mu::prCMP);
    two(
        "+", [](double a, double b) { return a + b; }, mu::prADD_SUB);
    two(
        "-", [](double a, double b) { return a - b; }, mu::prADD_SUB);
    two(
        "*", [](double a, double b) { return a * b; }, mu::prMUL_DIV);
    two("/", divide, mu::prMUL_DIV);
    two("//", floorDivide, mu::prMUL_DIV);
    two("%", remainderOf, mu::prMUL_DIV);
    two(
        "^", [](double a, double b) { return std::pow(a, b); }, mu::prPOW, mu::oaRIGHT);
    DefineInfixOprt(
        "-", [](double a) { return -a; }, mu::prINFIX, false);
    DefineInfixOprt(
        "+", [](double a) { return a; }, mu::prINFIX, false);
    DefineInfixOprt(
        "!", [](double a) { return a == 0 ? 1.0 : 0.0; }, mu::prINFIX, false);
  }
};

constexpr std::string_view kFunctions[] = {"min",   "max",  "abs", "sign", "floor", "ceil",
                                           "round", "sqrt", "exp", "log",  "log2",  "log10"};

}  // namespace loom::formula
