#include "widgets/document/expression_names.h"

#include <cctype>

namespace loom {

namespace {

bool begins(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool goesOn(char c) {
  return begins(c) || std::isdigit(static_cast<unsigned char>(c));
}

template <class Value, class Visit>
void forExpressions(Value& value, const Visit& visit) {
  if (isExpression(value)) return visit(value);
  if (value.is_structured())
    for (auto& each : value) forExpressions(each, visit);
}

}  // namespace

std::string replaceNames(const std::string& text, const std::function<std::string(const std::string&)>& replace) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    // Digits first: the e of "2e3" is no name.
    if (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.') {
      while (at < text.size() && (goesOn(text[at]) || text[at] == '.')) made += text[at++];
      continue;
    }
    if (!begins(text[at])) {
      made += text[at++];
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && goesOn(text[end])) ++end;
    std::size_t next = end;
    while (next < text.size() && text[next] == ' ') ++next;
    const std::string name = text.substr(at, end - at);
    made += next < text.size() && (text[next] == '(' || text[next] == '[') ? name : replace(name);
    at = end;
  }
  return made;
}

std::set<std::string> namesUsed(const Json& value) {
  std::set<std::string> names;
  forExpressions(value, [&](const Json& expression) {
    replaceNames(expression.get_ref<const std::string&>().substr(1), [&](const std::string& name) {
      names.insert(name);
      return name;
    });
  });
  return names;
}

std::set<std::string> namesUsed(const Node& node) {
  std::set<std::string> names = namesUsed(node.values);
  names.merge(namesUsed(node.repeat));
  return names;
}

void renameIn(Json& value, const std::string& from, const std::string& to) {
  forExpressions(value, [&](Json& expression) {
    expression =
        replaceNames(expression.get<std::string>(), [&](const std::string& name) { return name == from ? to : name; });
  });
}

void substituteIn(Json& value, const Json& given) {
  forExpressions(value, [&](Json& expression) {
    const std::string text = expression.get<std::string>();
    if (const auto whole = given.find(text.substr(1)); whole != given.end()) {
      expression = *whole;
      return;
    }
    expression = replaceNames(text, [&](const std::string& name) -> std::string {
      const auto found = given.find(name);
      if (found == given.end()) return name;
      if (isExpression(*found)) return "(" + found->get_ref<const std::string&>().substr(1) + ")";
      return found->is_boolean()  ? (found->get<bool>() ? "1" : "0")
             : found->is_string() ? found->get<std::string>()
                                  : found->dump();
    });
  });
}

}  // namespace loom
