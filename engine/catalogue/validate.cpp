#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/catalogue/entry.h"
#include "engine/catalogue/nulls.h"
#include "engine/catalogue/text.h"

namespace loom {
namespace {

using Severity = FieldProblem::Severity;

bool isWhole(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
  return value.is_number_integer();
}

std::string_view wantedType(const Field& field) {
  switch (field.type) {
    case FieldType::integer:
      return "a whole number";
    case FieldType::real:
      return "a number";
    case FieldType::boolean:
      return "true or false";
    case FieldType::text:
      return "a text";
    case FieldType::choice:
      return "one of its choices";
    case FieldType::integers:
      return "a whole number or a list of whole numbers";
    case FieldType::reals:
      return "a list of numbers";
    case FieldType::texts:
      return "a list of texts";
    case FieldType::shape:
      return "a list of extents such as [1, 28, 28]";
    case FieldType::file:
      return "a path";
  }
  return "something else";
}

// Whether the JSON type is that of the field.
bool fits(const Field& field, const Json& value) {
  const auto all = [&](auto&& test) { return value.is_array() && std::all_of(value.begin(), value.end(), test); };
  switch (field.type) {
    case FieldType::integer:
      return isWhole(value);
    case FieldType::real:
      return value.is_number() && std::isfinite(value.get<double>());
    case FieldType::boolean:
      return value.is_boolean();
    case FieldType::text:
    case FieldType::choice:
    case FieldType::file:
      return value.is_string();
    case FieldType::integers:
      return isWhole(value) || (all(isWhole) && !value.empty());
    case FieldType::shape:
      return all(isWhole) && !value.empty();
    case FieldType::reals:
      return all([](const Json& item) { return item.is_number() && std::isfinite(item.get<double>()); });
    case FieldType::texts:
      return value.is_string() || all([](const Json& item) { return item.is_string(); });
  }
  return false;
}

// The nearest value of the right type, where it is plain what was meant: "3" for 3, 1 for true, 3 for [3].
std::optional<Json> converted(const Field& field, const Json& value) {
  if (value.is_string() &&
      (field.type == FieldType::integer || field.type == FieldType::real || field.type == FieldType::boolean)) {
    const Json parsed = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
    if (!parsed.is_discarded() && fits(field, parsed)) return parsed;
  }
  if (value.is_number_float() && std::abs(value.get<double>()) < 9e15) {
    const Json rounded = static_cast<std::int64_t>(std::llround(value.get<double>()));
    if (fits(field, rounded)) return rounded;
  }
  if (field.type == FieldType::boolean && isWhole(value) && (value == 0 || value == 1)) return Json(value == 1);
  if (value.is_array() && value.size() == 1 && fits(field, value[0])) return value[0];
  if (field.type == FieldType::shape && isWhole(value)) return Json::array({value});
  if (field.type == FieldType::reals && value.is_number()) return Json::array({value});
  return std::nullopt;
}

Json inside(const Json& value, const Range& range) {
  const double clamped = std::clamp(value.get<double>(), range.low, range.high);
  if (value.is_number_float() || clamped != std::floor(clamped)) return clamped;  // 0 of a real field may become 0.01
  return static_cast<std::int64_t>(clamped);
}

void checkRange(const Field& field, const Json& value, std::vector<FieldProblem>& problems) {
  const auto outside = [](const Json& number, const std::optional<Range>& range) {
    return range && (number.get<double>() < range->low || number.get<double>() > range->high);
  };
  const auto report = [&](const Range& range, const Json& number, Severity severity) {
    const std::string unit = field.unit.empty() ? "" : " " + field.unit;
    const std::string bounds = std::isinf(range.high)  ? fmt::format("at least {}", shown(range.low))
                               : std::isinf(range.low) ? fmt::format("at most {}", shown(range.high))
                                                       : fmt::format("{} to {}", shown(range.low), shown(range.high));
    Json remedy = value;
    if (value.is_array()) {
      for (Json& item : remedy)
        if (outside(item, range)) item = inside(item, range);
    } else {
      remedy = inside(value, range);
    }
    const std::string message =
        severity == Severity::error
            ? fmt::format("'{}' is {}, but {}{} is possible", field.key, shown(number), bounds, unit)
            : fmt::format("'{}' is {}; usual is {}{}", field.key, shown(number), bounds, unit);
    problems.push_back({severity, field.key, message, std::move(remedy)});
  };
  std::vector<Json> single;
  if (!value.is_array()) single.push_back(value);
  const auto begin = value.is_array() ? value.begin() : Json::const_iterator{};
  const std::size_t count = value.is_array() ? value.size() : 1;
  const auto at = [&](std::size_t i) -> const Json& {
    return value.is_array() ? *(begin + static_cast<std::ptrdiff_t>(i)) : single[0];
  };
  for (std::size_t i = 0; i < count; ++i)
    if (outside(at(i), field.hard)) return report(*field.hard, at(i), Severity::error);
  for (std::size_t i = 0; i < count; ++i)
    if (outside(at(i), field.comfortable)) return report(*field.comfortable, at(i), Severity::warning);
}

void checkChoice(const Field& field, const Json& value, std::vector<FieldProblem>& problems) {
  std::vector<std::string> ids;
  for (const Choice& choice : field.choices) ids.push_back(choice.id);
  const std::string& text = value.get_ref<const std::string&>();
  if (std::find(ids.begin(), ids.end(), text) != ids.end()) return;
  const std::string near = nearest(text, ids);
  problems.push_back(
      {Severity::error, field.key,
       fmt::format("'{}' is \"{}\", but it is one of {}", field.key, clipped(text), fmt::join(ids, ", ")),
       near.empty() ? field.defaultValue.is_null() ? std::nullopt : std::optional<Json>(field.defaultValue)
                    : std::optional<Json>(near)});
}

// Whether `onlyWhen` holds; another field's value as text stands after '='.
bool applies(const Entry& entry, const Field& field, const Json& given, std::string& otherKey,
             std::string& otherValue) {
  const auto equals = field.onlyWhen.find('=');
  if (field.onlyWhen.empty() || equals == std::string::npos) return true;
  otherKey = field.onlyWhen.substr(0, equals);
  if (!entry.field(otherKey)) return true;
  const std::string wanted = field.onlyWhen.substr(equals + 1);
  const Json& other = Values(entry, given).json(otherKey);
  otherValue = other.is_string() ? other.get<std::string>() : shown(other);
  return otherValue == wanted;
}

// A null where a value is wanted: neither absent, which an optional field may be, nor anything else.
bool meansNothing(const Field& field, const Json& given) {
  if (!given.is_object() || field.optional || field.defaultValue.is_null()) return false;
  const auto found = given.find(field.key);
  return found != given.end() && found->is_null();
}

}  // namespace

bool isRead(const Entry& entry, const Field& field, const Json& given) {
  std::string key, value;
  return applies(entry, field, given, key, value);
}

std::vector<FieldProblem> validate(const Entry& entry, const Json& given, const std::vector<std::string>& ignored) {
  std::vector<FieldProblem> problems;
  if (!given.is_object() && !given.is_null()) {
    problems.push_back({Severity::error, "",
                        fmt::format("{} is {}, but an object of fields is wanted", entry.id, shown(given)),
                        std::nullopt});
    return problems;
  }
  std::vector<std::string> keys;
  for (const Field& field : entry.fields) keys.push_back(field.key);
  for (const auto& [key, value] : given.items()) {
    if (entry.field(key) || std::find(ignored.begin(), ignored.end(), key) != ignored.end()) continue;
    problems.push_back({Severity::error, key,
                        keys.empty() ? fmt::format("unknown key '{}': {} has no fields", clipped(key), entry.id)
                                     : unknownKey(key, keys),
                        std::nullopt});
  }
  for (const Field& field : entry.fields) {
    const auto found = given.is_object() ? given.find(field.key) : given.end();
    const bool present = given.is_object() && found != given.end() && !found->is_null();
    std::string otherKey, otherValue;
    const bool read = applies(entry, field, given, otherKey, otherValue);
    if (meansNothing(field, given)) {
      problems.push_back({Severity::error, field.key,
                          fmt::format("'{}' is null, but {} is wanted; without the key it is {}", field.key,
                                      wantedType(field), shown(field.defaultValue)),
                          field.defaultValue});
      continue;
    }
    if (!present) {
      if (field.defaultValue.is_null() && !field.optional && read)
        problems.push_back(
            {Severity::error, field.key, fmt::format("'{}' is missing: {}", field.key, field.help), std::nullopt});
      continue;
    }
    const Json& value = *found;
    if (!fits(field, value)) {
      problems.push_back({Severity::error, field.key,
                          fmt::format("'{}' is {}, but {} is wanted", field.key, shown(value), wantedType(field)),
                          converted(field, value)});
      continue;
    }
    if (field.count > 0 && value.is_array() && value.size() != static_cast<std::size_t>(field.count)) {
      problems.push_back({Severity::error, field.key,
                          fmt::format("'{}' has {} numbers, but {} are wanted", field.key, value.size(), field.count),
                          std::nullopt});
      continue;
    }
    if (field.type == FieldType::choice) checkChoice(field, value, problems);
    if (field.type == FieldType::shape && value.size() > 8) {
      problems.push_back({Severity::error, field.key,
                          fmt::format("'{}' has {} extents, but at most 8 are possible", field.key, value.size()),
                          std::nullopt});
      continue;
    }
    if (value.is_number() || (value.is_array() && field.type != FieldType::texts)) checkRange(field, value, problems);
    if (!read)
      problems.push_back({Severity::warning, field.key,
                          fmt::format("'{}' is not used while '{}' is {}", field.key, otherKey, otherValue),
                          std::nullopt});
  }
  return problems;
}

std::string inLabels(std::string message, std::span<const Field> fields) {
  for (const Field& field : fields) {
    const std::string key = "'" + field.key + "'";
    for (std::size_t at = message.find(key); at != std::string::npos; at = message.find(key, at + field.label.size()))
      message.replace(at, key.size(), field.label);
  }
  return message;
}

Json withoutDefaults(const Entry& entry, const Json& given) {
  Json result = Json::object();
  if (!given.is_object()) return result;
  const auto isDefault = [](const Field& field, const Json& value) {
    if (value.is_null()) return true;
    if (value == field.defaultValue) return value.type() == field.defaultValue.type() || value.is_number();
    return field.type == FieldType::integers && value.is_number_integer() && field.defaultValue.is_array() &&
           std::all_of(field.defaultValue.begin(), field.defaultValue.end(),
                       [&](const Json& item) { return item == value; });
  };
  for (const Field& field : entry.fields) {
    const auto found = given.find(field.key);
    if (found != given.end() && !isDefault(field, *found)) result[field.key] = *found;
  }
  // What the entry does not know is kept, so that saving loses nothing; validate() speaks about it.
  for (const auto& [key, value] : given.items())
    if (!entry.field(key)) result[key] = value;
  return result;
}

Json withoutDefaultsButNulls(const Entry& entry, const Json& given) {
  Json result = withoutDefaults(entry, given);
  for (const Field& field : entry.fields)
    if (meansNothing(field, given)) result[field.key] = nullptr;
  return result;
}

}  // namespace loom
