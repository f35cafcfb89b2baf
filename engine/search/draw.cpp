#include "engine/search/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/base/words.h"

namespace loom {
namespace {

// "184 with Multiply-adds above 2 M (the least 2.31 M), 16 cannot be built (add: ...)": reasons by how many have them.
std::string endingOf(const SearchPlan& plan, const std::vector<RefusedCandidate>& refused) {
  struct Reason {
    int count = 0;
    std::string text;
    double least = std::numeric_limits<double>::infinity();
  };
  std::map<std::string, Reason> reasons;
  for (const RefusedCandidate& each : refused) {
    std::string key = each.why;
    double value = 0;
    for (const CostLimit& limit : plan.limits) {
      const TrialCostKind& kind = costKindNamed(limit.cost);
      if (!each.why.starts_with(std::string(kind.label) + ":")) continue;
      key = kind.key;
      value = each.cost.*kind.value;
    }
    Reason& reason = reasons[key == each.why ? each.why.substr(0, each.why.find(':')) : key];
    ++reason.count;
    if (value > 0 && value < reason.least) reason.least = value;
    if (reason.text.empty()) reason.text = each.why;
  }
  std::string text;
  for (const auto& [key, reason] : reasons) {
    text += text.empty() ? "" : "; ";
    const bool limited = std::isfinite(reason.least);
    if (limited)
      for (const CostLimit& limit : plan.limits)
        if (limit.cost == key) {
          const TrialCostKind& kind = costKindNamed(key);
          text += fmt::format("{} above the limit of {} {} (the least has {})", reason.count,
                              costText(kind, limit.most), kind.more, costText(kind, reason.least));
        }
    if (!limited) text += fmt::format("{}: {}", reason.count, reason.text);
  }
  return text;
}

}  // namespace

DrawnCandidate drawCandidate(const DrawQuestion& question, const SearchStrategy& strategy,
                             const CandidateScreen* screen, const std::atomic<bool>& outdated) {
  DrawnCandidate drawn;
  std::vector<Point> refused = question.refused;
  drawn.refused = question.drawn;
  for (const RefusedCandidate& each : drawn.refused) refused.push_back(each.point);
  const auto remedy = [&](const std::string& begin) {
    return fmt::format("{}: {}. Raise a limit, or change the ranges", begin, endingOf(question.plan, drawn.refused));
  };
  while (!outdated) {
    const int redraw = static_cast<int>(drawn.refused.size());
    if (redraw == kMostDraws) {
      drawn.ending = remedy(fmt::format("none of {} candidates can be the next trial", redraw));
      return drawn;
    }
    const std::optional<Point> point = strategy.next({.space = question.plan.space,
                                                      .trials = question.trials,
                                                      .planned = question.plan.trials,
                                                      .seed = question.plan.seed,
                                                      .refused = refused,
                                                      .redraw = redraw});
    if (!point) {
      if (redraw > 0)
        drawn.ending = remedy(
            fmt::format("no further trial fits; of what was left, {} cannot be one", counted(redraw, "candidates")));
      else if (!question.refused.empty())
        drawn.ending = fmt::format("the space is gone through; {} of it cannot be trials",
                                   counted(static_cast<std::int64_t>(question.refused.size()), "candidates"));
      return drawn;
    }
    CandidateScreen::Answer answer = screen ? screen->look(*point) : CandidateScreen::Answer{};
    if (answer.refusal.empty() && question.drawings.count(answer.drawing))
      answer.refusal = "the same drawing: a trial has it already";
    if (answer.refusal.empty()) {
      drawn.point = point;
      drawn.cost = answer.cost;
      drawn.drawing = answer.drawing;
      return drawn;
    }
    drawn.refused.push_back({*point, answer.refusal, answer.cost});
    refused.push_back(*point);
  }
  return drawn;
}

}  // namespace loom
