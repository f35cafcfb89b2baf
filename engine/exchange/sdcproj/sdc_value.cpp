#include "engine/exchange/sdcproj/sdc_value.h"

#include <algorithm>

namespace loom::sdc {
namespace {

constexpr std::size_t kLongest = 500;  // characters of an expression: more is none that a person wrote
constexpr int kDeepest = 4;            // properties that name properties

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// Rewrites an expression name by name. A star before a name, where none could multiply, marks it as a macro and falls
// away.
class Rewriter {
 public:
  Rewriter(std::string_view text, const Names& names, int depth) : m_text(text), m_names(names), m_depth(depth) {}

  std::optional<std::string> run() {
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      if (c == ' ' || c == '\t') {
        ++m_at;
      } else if (isLetter(c)) {
        if (!m_wantsOperand || !name()) return {};
      } else if (isDigit(c) || c == '.') {
        if (!m_wantsOperand) return {};
        number();
      } else if (!symbol(c)) {
        return {};
      }
    }
    if (m_wantsOperand || m_open != 0) return {};
    return m_out;
  }

 private:
  bool symbol(char c) {
    ++m_at;
    if (c == '*' && m_wantsOperand) return m_at < m_text.size() && isLetter(m_text[m_at]);
    if (c == '(') {
      ++m_open;
      m_out += c;
      return m_wantsOperand;
    }
    if (c == ')') {
      m_out += c;
      return !m_wantsOperand && m_open-- > 0;
    }
    if (c == '+' || c == '-' || ((c == '*' || c == '/') && !m_wantsOperand)) {
      m_out += c;
      m_wantsOperand = true;
      return true;
    }
    return false;
  }

  void number() {
    while (m_at < m_text.size() && (isDigit(m_text[m_at]) || m_text[m_at] == '.')) m_out += m_text[m_at++];
    m_wantsOperand = false;
  }

  bool name() {
    std::string word;
    while (m_at < m_text.size() && (isLetter(m_text[m_at]) || isDigit(m_text[m_at]))) word += m_text[m_at++];
    std::string index;
    if (m_at < m_text.size() && m_text[m_at] == '[') {
      const std::size_t close = m_text.find(']', m_at);
      if (close == m_text.npos) return false;
      index = trimmed(m_text.substr(m_at + 1, close - m_at - 1));
      if (index.empty() || index.size() > 4 || !std::all_of(index.begin(), index.end(), isDigit)) return false;
      m_at = close + 1;
    }
    m_wantsOperand = false;
    if (const auto argument = m_names.arguments.find(word); argument != m_names.arguments.end()) {
      return argumentValue(argument->second, index);
    }
    if (word == "Input" && !index.empty()) {
      m_out += "Input[" + index + "]";
      return true;
    }
    return property(word, index);
  }

  // Of a unit a name; of a network, whose arguments are never given, the text of the value.
  bool argumentValue(const std::string& meaning, const std::string& index) {
    if (isLetter(meaning[0])) {
      m_out += meaning;
      if (!index.empty()) m_out += "[" + index + "]";
      return true;
    }
    const std::vector<std::string> parts = splitList(meaning);
    const std::size_t at = index.empty() ? 0 : static_cast<std::size_t>(std::stoi(index));
    if (at >= parts.size() || !numberOf(parts[at])) return false;
    m_out += parts[at];
    return true;
  }

  // Another property of the same layer: its value takes its place.
  bool property(const std::string& word, const std::string& index) {
    const std::string* value = m_names.layer ? m_names.layer->property(word) : nullptr;
    if (!value || m_depth >= kDeepest || value->size() > kLongest) return false;
    std::string text = *value;
    if (!index.empty()) {
      const std::vector<std::string> parts = splitList(text);
      const auto at = static_cast<std::size_t>(std::stoi(index));
      if (at >= parts.size()) return false;
      text = parts[at];
    }
    const auto inner = Rewriter(text, m_names, m_depth + 1).run();
    if (!inner) return false;
    m_out += numberOf(*inner) ? *inner : "(" + *inner + ")";
    return m_out.size() <= 4 * kLongest;
  }

  std::string_view m_text;
  const Names& m_names;
  int m_depth;
  std::size_t m_at = 0;
  int m_open = 0;
  bool m_wantsOperand = true;
  std::string m_out;
};

}  // namespace

std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    open += (c == '(' || c == '[') - (c == ')' || c == ']');
    if (c == ',' && open <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

std::optional<Json> numberValue(std::string_view text, const Names& names) {
  if (const auto whole = integerOf(text)) return Json(*whole);
  if (const auto number = numberOf(text)) return Json(*number);
  if (text.size() > kLongest) return {};
  const auto expression = Rewriter(text, names, 0).run();
  if (!expression) return {};
  if (const auto whole = integerOf(*expression)) return Json(*whole);
  return Json("=" + *expression);
}

std::optional<Json> listValue(std::string_view text, const Names& names) {
  const std::vector<std::string> parts = splitList(text);
  if (parts.empty() || parts.size() > 64) return {};
  if (parts.size() == 1 && !numberOf(parts[0])) {
    const std::string word = parts[0].starts_with('*') ? parts[0].substr(1) : parts[0];
    if (const auto argument = names.arguments.find(word); argument != names.arguments.end())
      return isLetter(argument->second[0]) ? Json("=" + argument->second) : listValue(argument->second, {});
    // A property that is a list, such as the kernel in a pooling's strides.
    if (const std::string* value = names.layer ? names.layer->property(word) : nullptr;
        value && *value != text && !value->starts_with('*'))
      return listValue(*value, {.layer = nullptr, .arguments = names.arguments});
  }
  Json list = Json::array();
  for (const std::string& part : parts) {
    const auto value = numberValue(part, names);
    if (!value) return {};
    list.push_back(*value);
  }
  return list;
}

}  // namespace loom::sdc
