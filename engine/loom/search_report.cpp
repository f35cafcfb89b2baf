#include "engine/loom/search_report.h"

#include <fmt/format.h>

#include <map>

#include "engine/base/words.h"

namespace loom {

std::string refusedText(const Study& study) {
  std::map<std::string, int> reasons;
  for (const auto& each : study.trials)
    for (const RefusedCandidate& refused : each->file().refused) {
      const std::string& why = refused.why;
      const bool built = why.starts_with("cannot be built");
      ++reasons[built ? why : why.substr(0, why.find(':'))];
    }
  if (reasons.empty()) return {};
  std::string text;
  for (const auto& [why, count] : reasons) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, why);
  return fmt::format("{} refused before training: {}", counted(study.refused(), "candidates"), text);
}

std::string reportText(const Study& study, const TrialCostKind& kind) {
  const std::vector<TrialRow> rows = rowsOf(study);
  std::string text =
      fmt::format("search {}, {} of {}, by {}\n", study.plan.name,
                  counted(static_cast<std::int64_t>(rows.size()), "trials"), study.plan.trials, study.plan.strategy);
  text += fmt::format("  {:<6} {:<12} {:>10}", "trial", "state", study.plan.metric);
  for (const TrialCostKind& each : costKinds()) text += fmt::format(" {:>15}", each.label);
  text += "  values\n";
  for (const TrialRow& row : rows) {
    text += fmt::format("  {:<6} {:<12} {:>10}", row.number, toKey(row.state),
                        std::isnan(row.result) ? "none" : resultText(study.plan, row.result));
    for (const TrialCostKind& each : costKinds()) text += fmt::format(" {:>15}", costText(each, row.cost.*each.value));
    for (const std::string& each : settingsOf(study.plan.space, row.point)) text += "  " + each;
    text += "\n";
  }
  for (const CostLimit& each : study.plan.limits)
    text += fmt::format("limit: {} at most {}\n", costKindNamed(each.cost).more,
                        costText(costKindNamed(each.cost), each.most));
  if (const std::string refused = refusedText(study); !refused.empty()) text += refused + "\n";
  return text + frontText(study.plan, rows, kind);
}

}  // namespace loom
