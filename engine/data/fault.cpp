#include <fmt/core.h>

#include "engine/catalogue/text.h"
#include "engine/data/check.h"

namespace loom {

std::string_view toString(FaultKind kind) {
  constexpr std::string_view names[] = {
      "unreadable",  "header",       "first row",   "given name",    "index gap",       "ragged row",
      "empty cell",  "not a number", "not finite",  "missing file",  "broken file",     "mixed shapes",
      "mixed kinds", "label",        "duplicate",   "shared sample", "constant column", "imbalance",
      "blank line",  "lone class",   "text column", "unlike scales"};
  static_assert(std::size(names) == kFaultKinds);
  return names[static_cast<std::size_t>(kind)];
}

std::string_view toString(FaultSeverity severity) {
  constexpr std::string_view names[] = {"error", "warning", "info"};
  return names[static_cast<std::size_t>(severity)];
}

// What is no CSV may hold its whole first line as a name.
constexpr std::size_t kMostOfAName = 40;

std::string Fault::message() const {
  std::string where = line > 0 ? fmt::format("line {}", line) : "";
  if (!column.empty()) where += (where.empty() ? "column " : ", column ") + clipped(column, kMostOfAName);
  std::string text = where.empty() ? found : where + ": " + found;
  if (!wanted.empty()) text += ", but " + wanted;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

Json CheckReport::toJson() const {
  Json json = {{"rows", rows}, {"errors", errors}, {"warnings", warnings}};
  Json byKind = Json::object();
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    if (counts[kind] > 0) byKind[std::string(toString(static_cast<FaultKind>(kind)))] = counts[kind];
  }
  json["counts"] = std::move(byKind);
  Json list = Json::array();
  for (const Fault& fault : faults) {
    list.push_back({{"kind", toString(fault.kind)},
                    {"severity", toString(fault.severity)},
                    {"line", fault.line},
                    {"column", fault.column},
                    {"found", fault.found},
                    {"wanted", fault.wanted},
                    {"remedy", fault.remedy}});
    if (!fault.variables.empty()) list.back()["variables"] = fault.variables;
  }
  json["faults"] = std::move(list);
  return json;
}

}  // namespace loom
