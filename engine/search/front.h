#pragma once
// Results against what they cost: the trials that no other beats in both (Pareto's front). Pure functions.
#include <span>
#include <string>
#include <vector>

#include "engine/search/study.h"

namespace loom {

// A trial as tables, pictures and files show it.
struct TrialRow {
  int number = 0;
  std::string run;  // name of its folder
  Point point;
  TrialState state = TrialState::running;
  double result = std::numeric_limits<double>::quiet_NaN();  // as it was measured; NaN = none
  double spent = 0;
  TrialCost cost;
};
std::vector<TrialRow> rowsOf(const Study& study);
Json toJson(const TrialRow& row);
TrialRow rowFromJson(const Json& json);  // throws Json::exception
// Whether trials differ in what their drawing costs: where they do not, there is nothing to weigh.
bool differInCost(std::span<const TrialRow> rows);

struct Weighed {
  double cost = 0;   // less is better
  double value = 0;  // more is better
};
// The indices of those that no other beats or equals in both, by rising cost; of equal ones the first. What is not
// finite is never among them. n log n.
std::vector<std::size_t> frontOf(std::span<const Weighed> all);

// The rows of trials that ended with a result, were not given up as weak, and lie on the front.
std::vector<std::size_t> frontOf(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind);

std::string frontText(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind);
// A line a trial of the front: number, run, result, all costs, a column a dimension.
std::string frontCsv(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind);

}  // namespace loom
