#include "engine/search/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/network/flatten.h"
#include "engine/network/node_analysis.h"
#include "engine/network/project_arguments.h"
#include "engine/network/structure_settings.h"
#include "engine/search/study.h"

namespace loom {
namespace {

using Unit = TrialCostKind::Unit;

struct Scale {
  const char* word;
  double factor;
};
constexpr std::array kCounts{Scale{"", 1}, Scale{"k", 1e3}, Scale{"M", 1e6}, Scale{"G", 1e9}, Scale{"T", 1e12}};
constexpr std::array kSeconds{Scale{"", 1}, Scale{"us", 1e-6}, Scale{"ms", 1e-3}, Scale{"s", 1}};
constexpr std::array kBytes{Scale{"", 1},         Scale{"B", 1},    Scale{"KiB", 1024.0}, Scale{"MiB", 0x1p20},
                            Scale{"GiB", 0x1p30}, Scale{"kB", 1e3}, Scale{"MB", 1e6},     Scale{"GB", 1e9}};

std::span<const Scale> scalesOf(Unit unit) {
  if (unit == Unit::count) return kCounts;
  if (unit == Unit::seconds) return kSeconds;
  return kBytes;
}

std::string bareWord(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// With three digits: "2.4 M", "812 k", "96".
std::string scaledBy(double value, std::span<const Scale> scales) {
  const Scale* best = &scales.front();
  for (const Scale& each : scales)
    if (value >= each.factor && each.factor >= best->factor) best = &each;
  return fmt::format("{:.4g}{}{}", value / best->factor, *best->word ? " " : "", best->word);
}

// A sentence of an error without the list below it.
std::string firstLine(const std::string& text) {
  const auto list = text.find("\n  - ");
  if (list == std::string::npos) return text;
  const auto begin = list + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TrialCost drawnCost(const Project& project) {
  TrialCost cost{.multiplyAdds = 0, .parameters = 0};
  std::set<std::string> seen;
  ParameterUses uses;
  for (const UpdateSpec& update : project.training.updates) {
    if (!seen.insert(update.network).second) continue;
    cost.multiplyAdds += analyse(flatNetwork(project, update.network), uses).multiplyAdds;
  }
  for (const auto& [name, use] : uses)
    if (!use.isState) cost.parameters += static_cast<double>(use.shape.elements());
  return cost;
}

std::string refusalOf(const CostLimit& limit, const TrialCost& cost) {
  const TrialCostKind& kind = costKindNamed(limit.cost);
  const double value = cost.*kind.value;
  if (value <= limit.most) return {};
  return std::isnan(value)
             ? fmt::format("its {} is not known", kind.key)
             : fmt::format("{}: {} is above {}", kind.label, costText(kind, value), costText(kind, limit.most));
}

}  // namespace

std::span<const TrialCostKind> costKinds() {
  static constexpr std::array rows{
      TrialCostKind{"multiply_adds", "Multiply-adds", "multiply-adds of a sample", &TrialCost::multiplyAdds,
                    Unit::count, false, false},
      TrialCostKind{"parameters", "Parameters", "parameters", &TrialCost::parameters, Unit::count, false, false},
      TrialCostKind{"step", "Predicted step", "predicted time of a step", &TrialCost::step, Unit::seconds, true, false},
      TrialCostKind{"memory", "Memory", "predicted memory", &TrialCost::memory, Unit::bytes, true, false},
      TrialCostKind{"measured", "Measured step", "measured time of a step", &TrialCost::measured, Unit::seconds, false,
                    true}};
  return rows;
}

const TrialCostKind& costKindNamed(const std::string& key) {
  std::string known;
  for (const TrialCostKind& each : costKinds()) {
    if (key == each.key) return each;
    known += (known.empty() ? "" : ", ") + std::string(each.key);
  }
  throwError(ErrorCode::badArgument, "there is no cost '{}': choose one of {}", key, known);
}

std::string costText(const TrialCostKind& kind, double value) {
  if (std::isnan(value)) return "unknown";
  if (kind.unit == Unit::count) return scaledBy(value, kCounts);
  return kind.unit == Unit::seconds ? scaledBy(value, std::span(kSeconds).subspan(1))
                                    : scaledBy(value, std::span(kBytes).subspan(1, 4));
}

CostLimit parseLimit(const std::string& text) {
  const auto refuse = [&](const std::string& what) {
    throwError(ErrorCode::badArgument,
               "--limit {}: {}; a limit is written as multiply_adds=2M, parameters=60k, step=5ms or memory=512MiB",
               text, what);
  };
  const auto equals = text.find('=');
  if (equals == std::string::npos) refuse("no '='");
  CostLimit limit{.cost = bareWord(text.substr(0, equals))};
  const TrialCostKind* kind = nullptr;
  for (const TrialCostKind& each : costKinds())
    if (limit.cost == each.key && !each.isMeasured) kind = &each;
  if (!kind) refuse(fmt::format("there is no cost '{}' to limit", limit.cost));
  const std::string value = bareWord(text.substr(equals + 1));
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), limit.most);
  const std::string unit = bareWord(std::string(end, value.data() + value.size()));
  if (fault != std::errc() || !std::isfinite(limit.most)) refuse(fmt::format("'{}' is no number", value));
  double factor = 0;
  for (const Scale& each : scalesOf(kind->unit))
    if (unit == each.word) factor = each.factor;
  if (factor == 0) {
    std::string known;
    for (const Scale& each : scalesOf(kind->unit).subspan(1))
      known += (known.empty() ? "" : ", ") + std::string(each.word);
    refuse(fmt::format("'{}' is none of the units {}", unit, known));
  }
  limit.most *= factor;
  if (limit.most <= 0) refuse("a limit is above 0");
  return limit;
}

std::string toText(const CostLimit& limit) {
  return fmt::format("{}={}", limit.cost, limit.most);
}

Json toJson(const TrialCost& cost) {
  Json json = Json::object();
  for (const TrialCostKind& kind : costKinds())
    if (std::isfinite(cost.*kind.value)) json[kind.key] = cost.*kind.value;
  return json;
}

TrialCost costFromJson(const Json& json) {
  TrialCost cost;
  if (!json.is_object()) return cost;
  for (const TrialCostKind& kind : costKinds())
    if (const auto found = json.find(kind.key); found != json.end() && found->is_number())
      cost.*kind.value = found->get<double>();
  return cost;
}

bool isOfDrawing(const Json& project, const Dimension& dimension) {
  const std::vector<std::string> path = settingPath(project, singleKeys(dimension.key).front());
  return path.size() == 5 && (path[0] == "networks" || path[0] == "units");
}

bool needsPlanner(const SearchPlan& plan) {
  return std::any_of(plan.limits.begin(), plan.limits.end(),
                     [](const CostLimit& each) { return costKindNamed(each.cost).isPlanned; });
}

bool wantsPlanner(const Json& project, const SearchPlan& plan) {
  return needsPlanner(plan) || std::any_of(plan.space.begin(), plan.space.end(),
                                           [&](const Dimension& each) { return isOfDrawing(project, each); });
}

CandidateScreen::CandidateScreen(Json project, const SearchPlan& plan, Planner planner)
    : m_project(std::move(project)),
      m_space(plan.space),
      m_settings(plan.settings),
      m_limits(plan.limits),
      m_planner(std::move(planner)) {}

CandidateScreen::Answer CandidateScreen::look(const Point& point) const {
  Answer answer;
  const auto within = [&](bool planned) {
    for (const CostLimit& each : m_limits)
      if (answer.refusal.empty() && costKindNamed(each.cost).isPlanned == planned)
        answer.refusal = refusalOf(each, answer.cost);
    return answer.refusal.empty();
  };
  try {
    std::vector<std::string> settings = m_settings;
    for (std::string& each : settingsOf(m_space, point)) settings.push_back(std::move(each));
    Json candidate = m_project;
    applySettings(candidate, settings);
    answer.drawing = hashOf(candidate);
    answer.cost = drawnCost(checkedProject(candidate, "the candidate", {}).project);
    if (!within(false) || !m_planner) return answer;
    try {
      m_planner(candidate, answer.cost);
    } catch (const Error&) {
      // What the planner cannot say is unknown: it matters where it is limited.
    }
    within(true);
  } catch (const Error& error) {
    answer.refusal = "cannot be built: " + firstLine(error.message());
  }
  return answer;
}

}  // namespace loom
