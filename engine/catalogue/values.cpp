#include <fmt/format.h>

#include "engine/base/error.h"
#include "engine/catalogue/entry.h"

namespace loom {
namespace {

const Json kAbsent = nullptr;

[[noreturn]] void throwType(const Entry& entry, std::string_view key, std::string_view wanted, const Json& found) {
  throwError(ErrorCode::badProject, "{}: '{}' is {}, but {} is wanted", entry.id, key, found.dump(-1, ' ', true),
             wanted);
}

std::int64_t toInteger(const Entry& entry, std::string_view key, const Json& value) {
  const bool fits =
      value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX} : value.is_number_integer();
  if (!fits) throwType(entry, key, "a whole number", value);
  return value.get<std::int64_t>();
}

}  // namespace

const Field* Entry::field(std::string_view key) const {
  for (const Field& field : fields)
    if (field.key == key) return &field;
  return nullptr;
}

const Json& Values::json(std::string_view key) const {
  const Field* field = m_entry->field(key);
  if (!field) throwError(ErrorCode::internal, "the entry '{}' has no field '{}'", m_entry->id, key);
  if (m_given && m_given->is_object())
    if (const auto given = m_given->find(std::string(key)); given != m_given->end() && !given->is_null()) return *given;
  return field->defaultValue.is_null() ? kAbsent : field->defaultValue;
}

bool Values::has(std::string_view key) const {
  return !json(key).is_null();
}

std::int64_t Values::integer(std::string_view key) const {
  return toInteger(*m_entry, key, json(key));
}

double Values::real(std::string_view key) const {
  const Json& value = json(key);
  if (!value.is_number()) throwType(*m_entry, key, "a number", value);
  return value.get<double>();
}

bool Values::boolean(std::string_view key) const {
  const Json& value = json(key);
  if (!value.is_boolean()) throwType(*m_entry, key, "true or false", value);
  return value.get<bool>();
}

std::string Values::text(std::string_view key) const {
  const Json& value = json(key);
  if (value.is_null() && m_entry->field(key)->optional) return {};
  if (!value.is_string()) throwType(*m_entry, key, "a text", value);
  return value.get<std::string>();
}

std::vector<std::int64_t> Values::integers(std::string_view key, int count) const {
  const Json& value = json(key);
  const auto wanted = static_cast<std::size_t>(count);
  if (value.is_number()) return std::vector<std::int64_t>(count > 0 ? wanted : 1, toInteger(*m_entry, key, value));
  if (!value.is_array()) throwType(*m_entry, key, "a list of whole numbers", value);
  std::vector<std::int64_t> numbers;
  for (const Json& item : value) numbers.push_back(toInteger(*m_entry, key, item));
  if (count > 0 && numbers.size() != wanted) {
    // A default of 3×3 is meant for every axis, however many the input has; what a person wrote must fit.
    const bool isDefault = &value == &m_entry->field(key)->defaultValue;
    if (!isDefault || numbers.empty())
      throwError(ErrorCode::badProject, "'{}' has {} numbers, but {} {} wanted", key, numbers.size(), wanted,
                 wanted == 1 ? "is" : "are");
    numbers.assign(wanted, numbers.front());
  }
  return numbers;
}

std::vector<double> Values::reals(std::string_view key) const {
  const Json& value = json(key);
  if (!value.is_array()) throwType(*m_entry, key, "a list of numbers", value);
  std::vector<double> numbers;
  for (const Json& item : value) {
    if (!item.is_number()) throwType(*m_entry, key, "a list of numbers", value);
    numbers.push_back(item.get<double>());
  }
  return numbers;
}

std::vector<std::string> Values::texts(std::string_view key) const {
  const Json& value = json(key);
  if (value.is_null() && m_entry->field(key)->optional) return {};
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) throwType(*m_entry, key, "a list of texts", value);
  std::vector<std::string> texts;
  for (const Json& item : value) {
    if (!item.is_string()) throwType(*m_entry, key, "a list of texts", value);
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace loom
