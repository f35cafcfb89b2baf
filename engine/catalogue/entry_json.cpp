#include <cmath>

#include "engine/catalogue/entry.h"

namespace loom {
namespace {

std::string_view nameOf(FieldType type) {
  constexpr std::string_view names[] = {"integer",  "real",  "boolean", "text",  "choice",
                                        "integers", "reals", "texts",   "shape", "file"};
  return names[static_cast<int>(type)];
}

std::string_view nameOf(PortType type) {
  constexpr std::string_view names[] = {"values", "labels", "indices"};
  return names[static_cast<int>(type)];
}

Json toJson(const Range& range) {
  const auto bound = [](double value) -> Json {
    if (std::isinf(value)) return nullptr;
    if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
    return value;
  };
  return Json::array({bound(range.low), bound(range.high)});
}

Json toJson(const Field& field) {
  Json json{{"key", field.key}, {"label", field.label}, {"type", nameOf(field.type)}, {"default", field.defaultValue}};
  if (field.optional) json["optional"] = true;
  if (field.hard) json["range"] = toJson(*field.hard);
  if (field.comfortable) json["usual"] = toJson(*field.comfortable);
  if (!field.unit.empty()) json["unit"] = field.unit;
  if (field.count > 0) json["count"] = field.count;
  if (!field.absent.empty()) json["absent"] = field.absent;
  if (!field.onlyWhen.empty()) json["only_when"] = field.onlyWhen;
  if (field.important) json["important"] = true;
  for (const Choice& choice : field.choices)
    json["choices"].push_back({{"id", choice.id}, {"label", choice.label}, {"help", choice.help}});
  json["help"] = field.help;
  return json;
}

Json toJson(const Port& port) {
  Json json{{"key", port.key}, {"label", port.label}, {"type", nameOf(port.type)}};
  if (port.several) json["several"] = true;
  if (port.optional) json["optional"] = true;
  json["help"] = port.help;
  return json;
}

template <class T>
Json list(const std::vector<T>& items) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(toJson(item));
  return result;
}

}  // namespace

Json toJson(const Entry& entry) {
  return {{"id", entry.id},
          {"label", entry.label},
          {"category", entry.category},
          {"icon", entry.icon},
          {"aliases", Json(entry.aliases)},
          {"summary", entry.summary},
          {"help", entry.help},
          {"inputs", list(entry.inputs)},
          {"outputs", list(entry.outputs)},
          {"fields", list(entry.fields)}};
}

}  // namespace loom
