#include "engine/base/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "engine/base/expression_grammar.h"

namespace loom {
namespace formula {

constexpr std::size_t kLongestFormula = 500;
constexpr std::size_t kDeepestBrackets = 64;

inline bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The first letters of a text, whole ones.
inline std::string_view beginning(std::string_view text) {
  std::size_t size = std::min<std::size_t>(text.size(), 12);
  while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

// Reads names and numbers, and writes the formula as muParser takes it: names as v0, v1 ..., numbers without groups and
// suffixes.
class Reader {
 public:
  explicit Reader(std::string_view text) : m_text(text) {}

  void read() {
    if (m_text.size() > kLongestFormula)
      throw ExpressionError(fmt::format("a formula has at most {} letters", kLongestFormula), kLongestFormula);
    for (skip(); m_at < m_text.size(); skip()) {
      ++m_tokens;
      m_signs += m_tokens == m_signs + 1 && isSign(m_text.substr(m_at)) ? 1 : 0;
      if (isDigit(m_text[m_at]) || (m_text[m_at] == '.' && isDigit(at(1)))) {
        takeOperand();
        number();
      } else if (isLetter(m_text[m_at])) {
        takeOperand();
        word();
      } else {
        sign();
        continue;
      }
      m_unary = '\0';
    }
    if (m_tokens == 0) throw ExpressionError("a number is missing", 0);
    if (!m_brackets.empty()) throw ExpressionError("a closing bracket is missing", m_text.size());
  }

  // Where in the text a place of the written formula came from.
  std::size_t source(std::size_t place) const { return place < m_sources.size() ? m_sources[place] : m_text.size(); }

  std::string written;
  std::vector<Expression::Name> names;
  bool hasNumberAlone() const { return m_tokens == m_signs + 1 && m_plainNumbers == 1; }
  bool hasNameAlone() const { return m_tokens == 1 && names.size() == 1; }

 private:
  static bool isSign(std::string_view rest) { return rest[0] == '+' || rest[0] == '-' || rest.starts_with("−"); }
  char at(std::size_t ahead) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }
  void skip() {
    while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\t')) ++m_at;
  }
  void write(std::string_view piece, std::size_t from) {
    written += piece;
    m_sources.resize(written.size(), from);
  }

  void takeOperand() {
    if (!m_isOperandNext)
      throw ExpressionError(fmt::format("a sign is missing before '{}', such as *", beginning(m_text.substr(m_at))),
                            m_at);
    m_isOperandNext = false;
  }

  void number() {
    const std::size_t start = m_at;
    std::string digits;
    const bool inFunction = std::find(m_brackets.begin(), m_brackets.end(), 'f') != m_brackets.end();
    for (; m_at < m_text.size(); ++m_at) {
      const char c = m_text[m_at];
      const bool groups = (c == '_' || (c == ',' && !inFunction)) && isDigit(at(1)) && isDigit(at(2)) &&
                          isDigit(at(3)) && !isDigit(at(4)) && !digits.empty() && digits.find('.') == std::string::npos;
      if (isDigit(c) || c == '.')
        digits += c;
      else if (!groups)
        break;
    }
    if (at(0) == 'e' || at(0) == 'E') {
      const std::size_t sign = at(1) == '+' || at(1) == '-' ? 1 : 0;
      if (isDigit(at(1 + sign))) {
        digits += 'e';
        if (at(1) == '-') digits += '-';
        for (m_at += 1 + sign; isDigit(at(0)); ++m_at) digits += m_text[m_at];
      }
    }
    double value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc() || end != digits.data() + digits.size())
      throw ExpressionError(fault == std::errc::result_out_of_range
                                ? fmt::format("'{}' is too large or too small for a number", digits)
                                : fmt::format("'{}' is not a number", digits),
                            start);
    const double scaled = value * suffix();
    m_plainNumbers += scaled == value ? 1 : 0;
    write(fmt::format("{:.17g}", scaled), start);
  }

  // "32 k"; 1 when there is none.
  double suffix() {
    const std::size_t before = m_at;
    skip();
    const char c = at(0);
    const double factor = c == 'k' ? 1e3 : c == 'M' ? 1e6 : c == 'G' ? 1e9 : c == '%' ? 0.01 : 1;
    if (factor != 1) {
      ++m_at;
      const std::size_t behind = m_at;
      if (c == '%') skip();  // "5 % 3" is a remainder
      const bool goesOn = isDigit(at(0)) || isLetter(at(0)) || (c == '%' && at(0) == '(');
      m_at = behind;
      if (!goesOn) return factor;
    }
    m_at = before;
    return 1;
  }

  void word() {
    const std::size_t start = m_at;
    while (isLetter(at(0)) || isDigit(at(0))) ++m_at;
    const std::string name(m_text.substr(start, m_at - start));
    const std::size_t behind = m_at;
    skip();
    if (at(0) == '(') {
      if (std::find(std::begin(kFunctions), std::end(kFunctions), name) == std::end(kFunctions))
        throw ExpressionError(fmt::format("there is no function '{}'; there are {}", name, fmt::join(kFunctions, ", ")),
                              start);
      write(name, start);
      m_isFunction = true;
      return;
    }
    Expression::Name found{name, std::nullopt, start};
    if (at(0) == '[')
      found.index = index();
    else
      m_at = behind;
    const auto known = std::find(names.begin(), names.end(), found);
    const std::size_t place = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) names.push_back(std::move(found));
    write(fmt::format("v{}", place), start);
  }

  std::int64_t index() {
    const std::size_t start = m_at++;
    skip();
    const bool negative = at(0) == '-';
    if (negative) ++m_at;
    const std::size_t first = m_at;
    while (isDigit(at(0))) ++m_at;
    const std::string_view digits = m_text.substr(first, m_at - first);
    skip();
    std::int64_t value = 0;
    if (digits.empty() || digits.size() > 6 || at(0) != ']')
      throw ExpressionError(
          "in the brackets stands the number of an axis from 0, such as Input[0], or from the end, such as Input[-1]",
          start);
    ++m_at;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return negative ? -value : value;
  }

  void sign() {
    static constexpr std::pair<std::string_view, std::string_view> signs[] = {
        {"×", "*"},   {"·", "*"},   {"−", "-"},   {"÷", "/"},   {"≤", "<="},  {"≥", ">="},  {"≠", "!="},  {"**", "^"},
        {"//", "//"}, {"<=", "<="}, {">=", ">="}, {"==", "=="}, {"!=", "!="}, {"&&", "&&"}, {"||", "||"}, {"+", "+"},
        {"-", "-"},   {"*", "*"},   {"/", "/"},   {"^", "^"},   {"%", "%"},   {"<", "<"},   {">", ">"},   {"!", "!"},
        {"(", "("},   {")", ")"},   {",", ","},   {"?", "?"},   {":", ":"}};
    const std::string_view rest = m_text.substr(m_at);
    for (const auto& [shown, meant] : signs) {
      if (!rest.starts_with(shown)) continue;
      const bool isUnary = m_isOperandNext && (meant == "+" || meant == "-");
      if (isUnary && m_unary != '\0') {
        // muParser takes one sign before a number: two are made one.
        m_unary = meant[0] == m_unary ? '+' : '-';
        written[written.size() - 2] = m_unary;
        m_at += shown.size();
        return;
      }
      m_unary = isUnary ? meant[0] : '\0';
      if (meant == "(" && !m_isFunction) takeOperand();
      if (m_isOperandNext && !isUnary && meant != "!")
        throw ExpressionError(fmt::format("a number is missing before '{}'", shown), m_at);
      m_isOperandNext = meant != ")";
      if (meant == "(") open();
      if (meant == ")") close();
      if (meant == "," && (m_brackets.empty() || m_brackets.back() != 'f'))
        throw ExpressionError(
            fmt::format("'{}' is not understood: a comma parts the numbers of a function, and a decimal point is '.'",
                        beginning(rest)),
            m_at);
      write(meant, m_at);
      // Else "2 - -1" would be read as an operator "--".
      if (meant != "(" && meant != ")") write(" ", m_at);
      m_at += shown.size();
      return;
    }
    if (rest[0] == '=') throw ExpressionError("'=' is not understood: == compares", m_at);
    throw ExpressionError(fmt::format("'{}' is not understood", firstLetter(rest)), m_at);
  }

  void open() {
    m_brackets.push_back(std::exchange(m_isFunction, false) ? 'f' : '(');
    if (m_brackets.size() > kDeepestBrackets)
      throw ExpressionError(fmt::format("brackets nest deeper than {}", kDeepestBrackets), m_at);
  }
  void close() {
    if (m_brackets.empty()) throw ExpressionError("the bracket ) has no opening one", m_at);
    m_brackets.pop_back();
  }

  static std::string_view firstLetter(std::string_view text) {
    std::size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
    return text.substr(0, size);
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::size_t m_tokens = 0, m_signs = 0, m_plainNumbers = 0;  // m_signs: at the beginning
  std::string m_brackets;                                     // of each that is open: 'f' of a function, else '('
  bool m_isFunction = false;
  bool m_isOperandNext = true;  // a sign here belongs to the number behind it
  char m_unary = '\0';          // such a sign that was just written
  std::vector<std::size_t> m_sources;
};

// `behind`: the text from the place of the fault.
inline std::string sentence(const mu::ParserError& error, std::string_view behind) {
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_EOF:
    case mu::ecEMPTY_EXPRESSION:
      return "a number is missing at the end";
    case mu::ecUNEXPECTED_OPERATOR:
      return "a number is missing before this sign";
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return fmt::format("a sign is missing before '{}', such as *", beginning(behind));
    case mu::ecUNEXPECTED_PARENS:
      return "a bracket does not belong here: a number or a sign is missing before it";
    case mu::ecMISSING_PARENS:
      return "a closing bracket is missing";
    case mu::ecUNEXPECTED_ARG_SEP:
      return "a number is missing before this comma";
    case mu::ecTOO_MANY_PARAMS:
      return "the function takes fewer numbers";
    case mu::ecTOO_FEW_PARAMS:
      return "the function takes more numbers";
    case mu::ecUNEXPECTED_CONDITIONAL:
    case mu::ecMISSING_ELSE_CLAUSE:
    case mu::ecMISPLACED_COLON:
      return "a choice is written as a ? b : c";
    default:
      return fmt::format("it is not understood ({})", error.GetMsg());
  }
}

}  // namespace formula

struct Expression::Parser {
  formula::Grammar grammar;
  std::unique_ptr<double[]> values;
};

Expression::Expression(std::string_view text) : m_parser(std::make_unique<Parser>()) {
  formula::Reader reader(text);
  reader.read();
  m_names = std::move(reader.names);
  m_isNumber = reader.hasNumberAlone();
  m_isName = reader.written == "v0";
  m_parser->values = std::make_unique<double[]>(std::max<std::size_t>(m_names.size(), 1));
  try {
    for (std::size_t i = 0; i < m_names.size(); ++i) {
      m_parser->values[i] = 1;
      m_parser->grammar.DefineVar(fmt::format("v{}", i), &m_parser->values[i]);
    }
    m_parser->grammar.SetExpr(reader.written);
    m_parser->grammar.Eval();  // compiles it; the values of names are not known yet
  } catch (const ExpressionError&) {
    return;  // a division by zero with the values put in for the names; evaluate() tells of the real ones
  } catch (const mu::ParserError& error) {
    const std::size_t place =
        std::min(text.size(), reader.source(error.GetPos() < 0 ? 0 : static_cast<std::size_t>(error.GetPos())));
    throw ExpressionError(formula::sentence(error, text.substr(place)), place);
  }
}

Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;

double Expression::evaluate(std::span<const double> values) const {
  if (values.size() != m_names.size())
    throwError(ErrorCode::internal, "a formula of {} names got {} values", m_names.size(), values.size());
  std::copy(values.begin(), values.end(), m_parser->values.get());
  double result = 0;
  try {
    result = m_parser->grammar.Eval();
  } catch (const mu::ParserError& error) {
    throw ExpressionError(formula::sentence(error, {}), 0);
  }
  if (!std::isfinite(result))
    throw ExpressionError(
        std::isnan(result) ? "the result is not a finite number" : "the result is not finite: it is too large", 0);
  return result;
}

std::optional<std::int64_t> wholeNumber(double value) {
  constexpr double kMost = 9007199254740992.0;
  const double rounded = std::round(value);
  if (!(std::abs(rounded) <= kMost) || std::abs(value - rounded) > 1e-9 * std::max(1.0, std::abs(value)))
    return std::nullopt;
  return static_cast<std::int64_t>(rounded);
}

}  // namespace loom
