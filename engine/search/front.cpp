#include "engine/search/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/words.h"

namespace loom {
namespace {

std::string csvCell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + '"';
}

std::string plainText(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::vector<TrialRow> rowsOf(const Study& study) {
  std::vector<TrialRow> rows;
  for (const auto& each : study.trials) {
    const Trial& trial = each->trial();
    const double score = trial.score();
    TrialRow row{.number = trial.number,
                 .run = each->folder().filename().string(),
                 .point = trial.point,
                 .state = trial.state,
                 .result = study.plan.higher ? score : -score,
                 .spent = trial.spent,
                 .cost = each->file().cost};
    row.cost.measured = each->stepSeconds();
    rows.push_back(std::move(row));
  }
  return rows;
}

Json toJson(const TrialRow& row) {
  Json json{{"number", row.number},      {"run", row.run},     {"values", row.point},
            {"state", toKey(row.state)}, {"spent", row.spent}, {"cost", toJson(row.cost)}};
  if (!std::isnan(row.result)) json["result"] = row.result;
  return json;
}

TrialRow rowFromJson(const Json& json) {
  TrialRow row{.number = json.at("number"),
               .run = json.at("run"),
               .point = json.at("values"),
               .state = TrialState::failed,
               .spent = json.at("spent"),
               .cost = costFromJson(json.value("cost", Json::object()))};
  const std::string state = json.at("state");
  for (const TrialState each : {TrialState::running, TrialState::interrupted, TrialState::done, TrialState::weak})
    if (state == toKey(each)) row.state = each;
  if (json.contains("result")) row.result = json["result"].get<double>();
  return row;
}

bool differInCost(std::span<const TrialRow> rows) {
  for (const auto value : {&TrialCost::multiplyAdds, &TrialCost::parameters})
    for (const TrialRow& each : rows)
      if (std::isfinite(each.cost.*value) && std::isfinite(rows.front().cost.*value) &&
          each.cost.*value != rows.front().cost.*value)
        return true;
  return false;
}

std::vector<std::size_t> frontOf(std::span<const Weighed> all) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::isfinite(all[i].cost) && std::isfinite(all[i].value)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return all[a].cost != all[b].cost ? all[a].cost < all[b].cost : all[a].value > all[b].value;
  });
  std::vector<std::size_t> front;
  for (const std::size_t each : order)
    if (front.empty() || all[each].value > all[front.back()].value) front.push_back(each);
  return front;
}

std::vector<std::size_t> frontOf(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind) {
  std::vector<Weighed> weighed;
  for (const TrialRow& row : rows) {
    const bool counts = row.state == TrialState::done;
    weighed.push_back({row.cost.*kind.value, !counts ? std::nan("") : plan.higher ? row.result : -row.result});
  }
  return frontOf(weighed);
}

std::string frontText(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind) {
  const std::vector<std::size_t> front = frontOf(plan, rows, kind);
  std::string text = fmt::format("front of {} against {}: {} of {}\n", plan.metric, kind.more, front.size(),
                                 counted(static_cast<std::int64_t>(rows.size()), "trials"));
  for (const std::size_t each : front) {
    const TrialRow& row = rows[each];
    std::string values;
    for (const std::string& setting : settingsOf(plan.space, row.point)) values += "  " + setting;
    text += fmt::format("  {:>10}  {:>10}  trial {:<4}{}\n", costText(kind, row.cost.*kind.value),
                        resultText(plan, row.result), row.number, values);
  }
  return text;
}

std::string frontCsv(const SearchPlan& plan, std::span<const TrialRow> rows, const TrialCostKind& kind) {
  std::string text = "trial,run," + csvCell(plan.metric);
  for (const TrialCostKind& each : costKinds()) text += std::string(",") + each.key;
  for (const Dimension& each : plan.space) text += "," + csvCell(each.key);
  text += "\n";
  for (const std::size_t each : frontOf(plan, rows, kind)) {
    const TrialRow& row = rows[each];
    text += fmt::format("{},{},{}", row.number, csvCell(row.run), row.result);
    for (const TrialCostKind& cost : costKinds())
      text += std::isnan(row.cost.*cost.value) ? "," : fmt::format(",{}", row.cost.*cost.value);
    for (const Json& value : row.point) text += "," + csvCell(plainText(value));
    text += "\n";
  }
  return text;
}

}  // namespace loom
