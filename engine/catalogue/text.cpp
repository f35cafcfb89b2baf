#include "engine/catalogue/text.h"

#include <fmt/format.h>

#include <cmath>

namespace loom {

std::string clipped(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string shown(const Json& value) {
  if (value.is_array() && value.size() <= 8 &&
      std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); })) {
    std::string text;
    for (const Json& item : value) text += (text.empty() ? "" : ", ") + shown(item);
    return "[" + text + "]";
  }
  if (value.is_number_float()) return shown(value.get<double>());
  // A hostile file may hold megabytes in one value, and a text from elsewhere may be no UTF-8.
  return clipped(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string shown(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

std::string folded(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

}  // namespace loom
