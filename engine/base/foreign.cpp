#include "engine/base/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/base/json.h"

namespace loom {
namespace {

constexpr int kDeepestShown = 64;

// The bytes of the character at the beginning of `text`; 0 where there is none in UTF-8.
std::size_t characterOf(std::string_view text, char32_t& character) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const std::size_t bytes = first < 0x80                    ? 1
                            : first >= 0xC2 && first < 0xE0 ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  character = bytes == 1 ? first : first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && character < 0x800) || (bytes == 4 && character < 0x10000);
  const bool none = (character >= 0xD800 && character < 0xE000) || character > 0x10FFFF;
  return overlong || none ? 0 : bytes;
}

bool commands(char32_t character) {
  return character < 0x20 || (character >= 0x7F && character < 0xA0) ||  // what terminals obey
         (character >= 0x2028 && character < 0x202F) ||                  // ends of lines, directions of writing
         (character >= 0x2066 && character < 0x206A);
}

void makeShowableFrom(Json& value, int depth) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    text = shownText(text);
  } else if (value.is_structured() && depth >= kDeepestShown) {
    value = nullptr;
  } else if (value.is_array()) {
    for (Json& each : value) makeShowableFrom(each, depth + 1);
  } else if (value.is_object()) {
    bool renamed = false;
    for (auto& [name, each] : value.items()) {
      makeShowableFrom(each, depth + 1);
      renamed |= shownText(name) != name;
    }
    if (!renamed) return;
    Json shown = Json::object();
    for (auto& [name, each] : value.items()) shown[shownText(name)] = std::move(each);
    value = std::move(shown);
  }
}

}  // namespace

std::string shownText(std::string_view text, std::size_t limit, ShownLines lines) {
  std::string shown;
  std::size_t at = 0;
  while (at < text.size()) {
    char32_t character = 0;
    const std::size_t bytes = characterOf(text.substr(at), character);
    if (at + std::max<std::size_t>(bytes, 1) > limit) return shown + "...";
    const bool layout = character == '\n' || character == '\t';
    if (bytes == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else if (!commands(character) || (layout && lines == ShownLines::several))
      shown += text.substr(at, bytes);
    else if (layout)
      shown += character == '\n' ? "\\n" : "\\t";
    else
      shown += character < 0x80 ? fmt::format("\\x{:02x}", static_cast<unsigned>(character))
                                : fmt::format("\\u{:04x}", static_cast<unsigned>(character));
    at += std::max<std::size_t>(bytes, 1);
  }
  return shown;
}

double numberIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_number() || *found == "inf" || *found == "-inf"))
    return std::numeric_limits<double>::quiet_NaN();
  return numberFromJson(*found);
}

std::int64_t wholeIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string textIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void makeShowable(Json& value) {
  makeShowableFrom(value, 0);
}

}  // namespace loom
