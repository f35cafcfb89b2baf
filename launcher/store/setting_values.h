#pragma once
// The settings of thousands of runs, each value once: who asks something of all runs asks it of each value. Grows with
// what is different, and forgets nothing.
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/json.h"

namespace loom {

using SettingId = std::uint32_t;  // of a name with a value
using SettingIds = std::vector<SettingId>;

class SettingValues {
 public:
  struct Value {
    std::uint32_t name = 0;  // of settings with the same name the same number
    std::string words;       // the name: "optimizer.learning_rate"
    Json value;
  };
  // Of a run's settings, flat as a record has them, in their order.
  SettingIds take(const Json& settings);
  std::size_t size() const { return m_values.size(); }
  const Value& operator[](SettingId id) const { return m_values[id]; }
  // The number of a name; noName where no run has it.
  static constexpr std::uint32_t noName = ~0u;
  std::uint32_t nameOf(const std::string& setting) const;
  // A run's setting of this name; null: it has none.
  const SettingId* find(const SettingIds& ids, std::uint32_t name) const;

 private:
  std::deque<Value> m_values;
  std::vector<std::uint32_t> m_nameOf;               // by id: Value::name
  std::unordered_map<std::string, SettingId> m_ids;  // by name, kind and text
  std::unordered_map<std::string, std::uint32_t> m_names;
};

}  // namespace loom
