#pragma once
// What the steps of the project do to a column of the file already.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/columns/analysis.h"
#include "engine/data/columns/column_step.h"

namespace loom {

class PreparedColumns {
 public:
  explicit PreparedColumns(const std::vector<Json>& prepare) {
    for (const Json& step : columnStepsOf(prepare)) {
      const Entry& entry = findColumnStep(step)->entry;
      try {
        const Values values(entry, step);
        if (entry.id == "SkipRows") {
          m_faulty |= values.boolean("faulty");
          for (const std::int64_t line : values.integers("lines")) m_lines.insert(line);
          for (const std::string& name : values.texts("missing")) m_steps.emplace("SkipRows", name);
          continue;
        }
        for (const std::string& name : values.texts("variable")) m_steps.emplace(entry.id, name);
      } catch (const std::exception&) {
        // A step that is written wrongly does nothing; the project says so.
      }
    }
    for (const Json& step : sampleStepsOf(prepare))
      m_normalises |= step.is_object() && step.value("step", "") == "Normalise";
  }
  bool has(const std::string& step, const std::string& column) const { return m_steps.contains({step, column}); }
  bool leftOut(const ColumnFacts& column) const {
    return column.header.empty() || column.header[0] == '#' || has("LeaveOut", column.name);
  }
  bool skipsFaulty() const { return m_faulty; }
  bool skipsLine(std::int64_t line) const { return m_lines.contains(line); }
  bool scales(const std::string& column) const {
    return has("Standardise", column) || has("RobustScale", column) || m_normalises;
  }

 private:
  std::set<std::pair<std::string, std::string>> m_steps;
  std::set<std::int64_t> m_lines;
  bool m_faulty = false, m_normalises = false;
};

}  // namespace loom
