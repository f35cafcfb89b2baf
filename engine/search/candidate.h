#pragma once
// A candidate of a search before it trains: whether its drawing can be built, what it costs, and whether it is within
// the limits. Any thread.
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/search/space.h"

namespace loom {

// NaN = not known.
struct TrialCost {
  double multiplyAdds = std::numeric_limits<double>::quiet_NaN();  // of one sample, forward, over all networks
  double parameters = std::numeric_limits<double>::quiet_NaN();    // elements, shared ones once
  double step = std::numeric_limits<double>::quiet_NaN();          // seconds, predicted
  double memory = std::numeric_limits<double>::quiet_NaN();        // bytes, predicted
  double measured = std::numeric_limits<double>::quiet_NaN();      // seconds of a step as it was trained
};

// What may be limited and what results are weighed against: a row a cost.
struct TrialCostKind {
  const char* key;    // "multiply_adds": in files and on the command line
  const char* label;  // "Multiply-adds"
  const char* more;   // "has more multiply-adds than the limit": of a candidate, for a sentence
  double TrialCost::*value;
  enum class Unit { count, seconds, bytes } unit;
  bool isPlanned;   // a planner says it, which compiles the candidate
  bool isMeasured;  // known when it was trained
};
std::span<const TrialCostKind> costKinds();
// Throws Error(badArgument) with the names that there are.
const TrialCostKind& costKindNamed(const std::string& key);
// "2.4 M", "3.1 ms", "12 MiB"; "unknown".
std::string costText(const TrialCostKind& kind, double value);

struct CostLimit {
  std::string cost;  // key of a kind
  double most = 0;
  bool operator==(const CostLimit&) const = default;
};
// "multiply_adds=2M", "parameters=60000", "step=5ms", "memory=512MiB". Throws Error(badArgument) with the remedy.
CostLimit parseLimit(const std::string& text);
std::string toText(const CostLimit& limit);  // parseLimit() reads it back

Json toJson(const TrialCost& cost);  // what is known of it
TrialCost costFromJson(const Json& json);

struct SearchPlan;

class CandidateScreen {
 public:
  // Fills in step and memory of a project that can be trained. Throws Error where it cannot say.
  using Planner = std::function<void(const Json& project, TrialCost& cost)>;
  // Without a planner only what follows from the drawing is known; the plan's limits must ask no more.
  CandidateScreen(Json project, const SearchPlan& plan, Planner planner = {});

  struct Answer {
    std::string refusal;  // empty: it may train
    TrialCost cost;
    std::string drawing;  // equal ones are the same project
  };
  Answer look(const Point& point) const;

 private:
  Json m_project;
  Space m_space;
  std::vector<std::string> m_settings;
  std::vector<CostLimit> m_limits;
  Planner m_planner;
};

// Whether a key changes what is drawn, not how it is trained.
bool isOfDrawing(const Json& project, const Dimension& dimension);
// Whether a limit asks what a planner alone knows, and whether a planner is worth its time: what is drawn is searched.
bool needsPlanner(const SearchPlan& plan);
bool wantsPlanner(const Json& project, const SearchPlan& plan);

}  // namespace loom
