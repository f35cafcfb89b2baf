#include "app/differences.h"

#include <fmt/format.h>

#include <algorithm>

namespace loom {

std::string comparableText(const Json& value) {
  return value.is_number() ? fmt::format("{}", value.get<double>()) : value.dump();
}

void Differences::add(const NamedValues& values) {
  ++m_owners;
  for (const NamedValue& each : values) {
    const auto [at, fresh] = m_known.try_emplace(each.name);
    Known& known = at->second;
    if (fresh) known.order = m_next++;
    ++known.owners;
    known.given += each.isGiven;
    known.words += !each.isNumber;
    ++known.texts[each.text];
  }
}

void Differences::remove(const NamedValues& values) {
  --m_owners;
  for (const NamedValue& each : values) {
    const auto at = m_known.find(each.name);
    if (at == m_known.end()) continue;
    Known& known = at->second;
    known.given -= each.isGiven;
    known.words -= !each.isNumber;
    if (--known.texts[each.text] <= 0) known.texts.erase(each.text);
    if (--known.owners <= 0) m_known.erase(at);
  }
}

void Differences::clear() {
  m_known.clear();
  m_owners = 0;
}

bool Differences::differs(const Known& known) const {
  return known.given > 0 && (known.texts.size() > 1 || known.owners < m_owners);
}

bool Differences::differs(const std::string& name) const {
  const auto at = m_known.find(name);
  return at != m_known.end() && differs(at->second);
}

bool Differences::isMissingSomewhere(const std::string& name) const {
  const auto at = m_known.find(name);
  return at != m_known.end() && at->second.owners < m_owners;
}

bool Differences::isNumber(const std::string& name) const {
  const auto at = m_known.find(name);
  return at != m_known.end() && at->second.words == 0;
}

std::vector<std::string> Differences::names() const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const auto& [name, known] : m_known)
    if (differs(known)) found.emplace_back(known.order, name);
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [order, name] : found) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> Differences::all() const {
  std::vector<std::string> names;
  for (const auto& [name, known] : m_known) names.push_back(name);
  return names;
}

std::vector<std::string> Differences::texts(const std::string& name) const {
  std::vector<std::string> texts;
  if (const auto at = m_known.find(name); at != m_known.end())
    for (const auto& [text, count] : at->second.texts) texts.push_back(text);
  return texts;
}

}  // namespace loom
