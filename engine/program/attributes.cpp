#include "engine/program/attributes.h"

#include "engine/base/error.h"

namespace loom {
namespace {

template <class T>
constexpr std::string_view nameOf() {
  if constexpr (std::is_same_v<T, bool>)
    return "a boolean";
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return "an integer";
  else if constexpr (std::is_same_v<T, double>)
    return "a number";
  else if constexpr (std::is_same_v<T, std::string>)
    return "a text";
  else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
    return "a list of integers";
  else
    return "a list of numbers";
}

template <class T, class Map>
const T* find(const Map& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) return nullptr;
  if (const T* value = std::get_if<T>(&found->second)) return value;
  const std::string_view is =
      std::visit([](const auto& value) { return nameOf<std::decay_t<decltype(value)>>(); }, found->second);
  throwError(ErrorCode::internal, "the attribute '{}' is {}, but {} is needed", key, is, nameOf<T>());
}

template <class T, class Map>
const T& need(const Map& values, std::string_view key) {
  if (const T* value = find<T>(values, key)) return *value;
  throwError(ErrorCode::internal, "the attribute '{}' ({}) is missing", key, nameOf<T>());
}

// A whole number stands for a real one too: `set("alpha", std::int64_t{1})` is meant as 1.0.
template <class Map>
const double* findReal(const Map& values, std::string_view key, double& converted) {
  const auto found = values.find(key);
  if (found != values.end())
    if (const std::int64_t* integer = std::get_if<std::int64_t>(&found->second))
      return &(converted = static_cast<double>(*integer));
  return find<double>(values, key);
}

}  // namespace

Attributes& Attributes::set(std::string key, Value value) {
  m_values.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

bool Attributes::boolean(std::string_view key) const {
  return need<bool>(m_values, key);
}
bool Attributes::boolean(std::string_view key, bool otherwise) const {
  const bool* value = find<bool>(m_values, key);
  return value ? *value : otherwise;
}

std::int64_t Attributes::integer(std::string_view key) const {
  return need<std::int64_t>(m_values, key);
}
std::int64_t Attributes::integer(std::string_view key, std::int64_t otherwise) const {
  const std::int64_t* value = find<std::int64_t>(m_values, key);
  return value ? *value : otherwise;
}

double Attributes::real(std::string_view key) const {
  double converted = 0;
  if (const double* value = findReal(m_values, key, converted)) return *value;
  return need<double>(m_values, key);
}
double Attributes::real(std::string_view key, double otherwise) const {
  double converted = 0;
  const double* value = findReal(m_values, key, converted);
  return value ? *value : otherwise;
}

const std::string& Attributes::text(std::string_view key) const {
  return need<std::string>(m_values, key);
}
const std::vector<std::int64_t>& Attributes::integers(std::string_view key) const {
  return need<std::vector<std::int64_t>>(m_values, key);
}
const std::vector<double>& Attributes::reals(std::string_view key) const {
  return need<std::vector<double>>(m_values, key);
}

}  // namespace loom
