#pragma once
// The one evaluator of formulas that a person types: fields of a drawing ("channels*4", "Input[0]/2"), number fields
// ("0.1*32", "45_000", "32 k"), the runs filter. The grammar and the arithmetic are muParser's; reading names, numbers
// and what is wrong is ours.
//
// + - * / // ^ % (remainder; behind a number that nothing follows: a hundredth), brackets, comparisons, && ||, a ? b :
// c, functions (min max abs sign floor ceil round sqrt exp log log2 log10), suffixes k M G, digit groups 45_000 and
// (outside of a function) 45,000. ^ binds tightest and to the right, -2^2 is -4; ** is ^, // rounds down, the remainder
// has the sign of the divisor. Numbers are doubles: whole ones are exact up to 2^53.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace loom {

// What is wrong with a formula, and where: bytes of the text from 0.
class ExpressionError : public Error {
 public:
  ExpressionError(std::string message, std::size_t position)
      : Error(ErrorCode::badArgument, std::move(message)), m_position(position) {}
  std::size_t position() const { return m_position; }

 private:
  std::size_t m_position;
};

class Expression {
 public:
  // A name in the text, or with an index an extent of a shape: "channels", "Input[0]".
  struct Name {
    std::string name;
    std::optional<std::int64_t> index;
    std::size_t position = 0;  // where it stands first
    bool operator==(const Name& other) const { return name == other.name && index == other.index; }
  };

  // Throws ExpressionError. At most 500 bytes are a formula.
  explicit Expression(std::string_view text);
  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  const std::vector<Name>& names() const { return m_names; }  // each once, in the order of the text
  bool isNumber() const { return m_isNumber; }                // one number, with its sign: nothing to compute
  bool isName() const { return m_isName; }                    // one name alone
  // `values`: of names(), one for one. Throws ExpressionError for a division by zero and for a result that is not
  // finite. One thread at a time.
  double evaluate(std::span<const double> values = {}) const;

 private:
  struct Parser;
  std::vector<Name> m_names;
  bool m_isNumber = false, m_isName = false;
  std::unique_ptr<Parser> m_parser;
};

// The whole number that a result is meant to be: within 1e-9 of itself, up to 2^53. Empty when it is none.
std::optional<std::int64_t> wholeNumber(double value);

}  // namespace loom
