#include "launcher/store/setting_values.h"

#include <algorithm>

namespace loom {

SettingIds SettingValues::take(const Json& settings) {
  SettingIds ids;
  ids.reserve(settings.size());
  for (auto each = settings.begin(); each != settings.end(); ++each) {
    // 1 and 1.0 are two: a filter for words sees them written out.
    std::string key = each.key();
    key += '\n';
    key += static_cast<char>('a' + static_cast<int>(each->type()));
    key += each->dump();
    const auto [at, fresh] = m_ids.try_emplace(std::move(key), static_cast<SettingId>(m_values.size()));
    if (fresh) {
      const auto name = m_names.try_emplace(each.key(), static_cast<std::uint32_t>(m_names.size())).first->second;
      m_values.push_back({name, each.key(), *each});
      m_nameOf.push_back(name);
    }
    ids.push_back(at->second);
  }
  return ids;
}

std::uint32_t SettingValues::nameOf(const std::string& setting) const {
  const auto found = m_names.find(setting);
  return found == m_names.end() ? noName : found->second;
}

const SettingId* SettingValues::find(const SettingIds& ids, std::uint32_t name) const {
  const auto found = std::find_if(ids.begin(), ids.end(), [&](SettingId each) { return m_nameOf[each] == name; });
  return found == ids.end() ? nullptr : &*found;
}

}  // namespace loom
