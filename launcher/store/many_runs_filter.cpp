#include "launcher/store/many_runs_filter.h"

#include <algorithm>

namespace loom {

ManyRunsFilter::ManyRunsFilter(const RunFilter& filter, const SettingValues& values)
    : m_term(std::make_shared<const FilterTerm>(filter.term())), m_values(&values), m_whole(partOf(*m_term)) {}

ManyRunsFilter::Part ManyRunsFilter::partOf(const FilterTerm& term) {
  Part part;
  part.term = &term;
  if (term.kind == FilterTerm::Kind::word) part.word = std::make_unique<SoughtWord>(term.value);
  if (term.kind == FilterTerm::Kind::comparison) {
    part.ofTags = term.key == kTagKey;
    part.field = recordField(term.key);
    part.withoutValue = holdsForValue(term, nullptr);
  }
  for (const FilterTerm& each : term.parts) part.parts.push_back(partOf(each));
  return part;
}

ManyRunsFilter::Said ManyRunsFilter::ask(Part& part, SettingId id) {
  if (id >= part.said.size()) part.said.resize(m_values->size(), Said::nothing);
  Said& said = part.said[id];
  if (said != Said::nothing) return said;
  const SettingValues::Value& setting = (*m_values)[id];
  if (part.word)
    said = part.word->isInValue(setting.value) ? Said::yes : Said::no;
  else if (!isCalled(setting.words, part.term->key))
    said = Said::ofOther;
  else
    said = holdsForValue(*part.term, &setting.value) ? Said::yes : Said::no;
  return said;
}

bool ManyRunsFilter::holdsComparison(Part& part, const RunRecord& run, const SettingIds& settings) {
  if (part.ofTags) return holdsForTags(*part.term, run);
  if (part.field) return holdsForField(*part.term, *part.field, run);
  for (const SettingId id : settings)
    if (const Said said = ask(part, id); said != Said::ofOther) return said == Said::yes;
  return part.withoutValue;
}

bool ManyRunsFilter::holds(Part& part, const RunRecord& run, const SettingIds& settings) {
  const auto one = [&](Part& each) { return holds(each, run, settings); };
  switch (part.term->kind) {
    case FilterTerm::Kind::nothing:
      return true;
    case FilterTerm::Kind::word:
      return std::any_of(settings.begin(), settings.end(), [&](SettingId id) { return ask(part, id) == Said::yes; }) ||
             part.word->isInRecord(run);
    case FilterTerm::Kind::comparison:
      return holdsComparison(part, run, settings);
    case FilterTerm::Kind::all:
      return std::all_of(part.parts.begin(), part.parts.end(), one);
    case FilterTerm::Kind::anyOf:
    case FilterTerm::Kind::either:
      return std::any_of(part.parts.begin(), part.parts.end(), one);
    case FilterTerm::Kind::negation:
      return !one(part.parts.front());
  }
  return true;
}

}  // namespace loom
