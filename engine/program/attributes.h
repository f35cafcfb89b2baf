#pragma once
// The constants of one operation, decided before the first step: strides, axes, an epsilon. Read at compile time only.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace loom {

class Attributes {
 public:
  using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Value>> values) : m_values(values) {}

  Attributes& set(std::string key, Value value);
  bool has(std::string_view key) const { return m_values.find(key) != m_values.end(); }
  // Each throws Error(internal) naming the key when it is absent or of another type; the two-argument forms answer a
  // default.
  bool boolean(std::string_view key) const;
  bool boolean(std::string_view key, bool otherwise) const;
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double real(std::string_view key) const;
  double real(std::string_view key, double otherwise) const;
  const std::string& text(std::string_view key) const;
  const std::vector<std::int64_t>& integers(std::string_view key) const;
  const std::vector<double>& reals(std::string_view key) const;
  bool operator==(const Attributes&) const = default;
  auto begin() const { return m_values.begin(); }
  auto end() const { return m_values.end(); }

 private:
  std::map<std::string, Value, std::less<>> m_values;
};

}  // namespace loom
