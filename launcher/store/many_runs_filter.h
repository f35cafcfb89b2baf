#pragma once
// A RunFilter over thousands of runs whose settings stand in a SettingValues: what it says of a value is found out
// once, however many runs have it, so that a letter of a filter costs a millisecond or two. Answers as
// RunFilter::holds() does.
#include <memory>
#include <vector>

#include "launcher/store/filter_terms.h"
#include "launcher/store/setting_values.h"

namespace loom {

class ManyRunsFilter {
 public:
  // `values` outlives it, and may grow.
  ManyRunsFilter(const RunFilter& filter, const SettingValues& values);
  bool holds(const RunRecord& run, const SettingIds& settings) { return holds(m_whole, run, settings); }

 private:
  enum class Said : char { nothing, ofOther, no, yes };  // of a value; ofOther: the part asks for another setting
  struct Part {
    const FilterTerm* term = nullptr;
    const RecordField* field = nullptr;  // that is compared
    bool ofTags = false, withoutValue = false;
    std::unique_ptr<SoughtWord> word;
    std::vector<Said> said;  // by value
    std::vector<Part> parts;
  };
  static Part partOf(const FilterTerm& term);
  bool holds(Part& part, const RunRecord& run, const SettingIds& settings);
  bool holdsComparison(Part& part, const RunRecord& run, const SettingIds& settings);
  Said ask(Part& part, SettingId id);

  std::shared_ptr<const FilterTerm> m_term;
  const SettingValues* m_values;
  Part m_whole;
};

}  // namespace loom
