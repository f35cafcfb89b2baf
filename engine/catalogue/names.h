#pragma once
// From a name that a person wrote to what is meant: an entry's id, then its aliases, whatever their letter case.
#include <span>
#include <string>
#include <string_view>

#include "engine/catalogue/entry.h"
#include "engine/catalogue/text.h"

namespace loom {

// "LARC is LARS with ...", where `name` is a relative of the entry; empty otherwise.
std::string adviceOf(const Entry& entry, std::string_view name);
bool hasAlias(const Entry& entry, std::string_view name);

inline const Entry& entryOf(const Entry& entry) {
  return entry;
}
template <class Definition>
const Entry& entryOf(const Definition& definition) {
  return definition.entry;
}

// Null where nothing in the table is called so.
template <class Definition>
const Definition* findNamed(std::span<const Definition* const> table, std::string_view name) {
  const std::string wanted = folded(name);
  for (const Definition* one : table)
    if (folded(entryOf(*one).id) == wanted) return one;
  for (const Definition* one : table)
    if (hasAlias(entryOf(*one), name)) return one;
  return nullptr;
}

template <class Definition>
std::string adviceOn(std::span<const Definition* const> table, std::string_view name) {
  for (const Definition* one : table)
    if (std::string advice = adviceOf(entryOf(*one), name); !advice.empty()) return advice;
  return {};
}

template <class Definition>
std::vector<std::string> idsOf(std::span<const Definition* const> table) {
  std::vector<std::string> ids;
  for (const Definition* one : table) ids.push_back(entryOf(*one).id);
  return ids;
}

// What follows "unknown optimizer 'Adm'": ": LARC is LARS with ...", "; did you mean 'Adam'?", or nothing.
template <class Definition>
std::string hintOn(std::span<const Definition* const> table, std::string_view name) {
  if (const std::string advice = adviceOn(table, name); !advice.empty()) return ": " + advice;
  const std::string near = nearest(name, idsOf(table));
  return near.empty() ? std::string() : "; did you mean '" + near + "'?";
}

}  // namespace loom
