#include "engine/base/json.h"

#include <cmath>
#include <limits>
#include <set>

#include "engine/base/error.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace loom {
namespace {

constexpr int kDeepest = 64;
constexpr std::size_t kWidth = 120;

// Line and column (both from 1) of a byte offset.
std::pair<std::size_t, std::size_t> placeOf(std::string_view text, std::size_t offset) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return {line, column};
}

void format(const Json& value, std::size_t indentation, std::string& out) {
  std::string flat = value.dump(-1, ' ', false);
  const bool nested =
      value.is_structured() && std::any_of(value.begin(), value.end(), [](const Json& child) {
        return child.is_structured() && !child.empty() &&
               std::any_of(child.begin(), child.end(), [](const Json& leaf) { return leaf.is_structured(); });
      });
  if (!value.is_structured() || value.empty() ||
      (!nested && indentation + flat.size() + value.size() * 2 < kWidth && indentation > 0)) {
    // Readable on one line: a blank after each comma and colon that stands outside of a string.
    bool inString = false;
    for (std::size_t i = 0; i < flat.size(); ++i) {
      const char c = flat[i];
      if (c == '"' && (i == 0 || flat[i - 1] != '\\')) inString = !inString;
      out += c;
      if (c == '\\' && inString && i + 1 < flat.size()) {
        out += flat[++i];
        continue;
      }
      if (!inString && (c == ',' || c == ':')) out += ' ';
    }
    return;
  }
  const std::string inner(indentation + 2, ' ');
  out += value.is_object() ? "{\n" : "[\n";
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (!first) out += ",\n";
    first = false;
    out += inner;
    if (value.is_object()) out += Json(item.key()).dump() + ": ";
    format(*item, indentation + 2, out);
  }
  out += "\n" + std::string(indentation, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace

Json parseJson(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  bool tooDeep = false;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kDeepest) tooDeep = true;
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty() && !keys.back().insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return !tooDeep;
  };
  // nlohmann's parser is not recursive, but values that it builds are destroyed and walked recursively: count first.
  int depth = 0;
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inString) {
      if (c == '\\') ++i;
      if (c == '"') inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) {
        const auto [line, column] = placeOf(text, i);
        throwError(ErrorCode::badProject, "{} line {}, column {}: nested deeper than {} levels", name, line, column,
                   kDeepest);
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  try {
    Json value = Json::parse(text, watch);
    if (!duplicate.empty())
      throwError(ErrorCode::badProject, "{}: the key \"{}\" stands twice in one object", name, duplicate);
    return value;
  } catch (const Json::parse_error& fault) {
    const auto [line, column] = placeOf(text, fault.byte > 0 ? fault.byte - 1 : 0);
    std::string reason = fault.what();
    if (const auto at = reason.rfind(": "); at != std::string::npos) reason = reason.substr(at + 2);
    throwError(ErrorCode::badProject, "{} line {}, column {}: not JSON ({})", name, line, column, reason);
  } catch (const Json::exception& fault) {
    throwError(ErrorCode::badProject, "{}: not JSON ({})", name, fault.what());
  }
}

Json numberToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double numberFromJson(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  throwError(ErrorCode::badData, "{} is no number", value.dump());
}

std::string formatJson(const Json& value) {
  std::string out;
  format(value, std::size_t{0}, out);
  out += '\n';
  return out;
}

}  // namespace loom
