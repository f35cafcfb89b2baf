#include "engine/training/user_units.h"

#include <algorithm>
#include <cmath>

#include "engine/data/columns/target_meaning.h"
#include "engine/network/analysis.h"
#include "engine/training/feed.h"

namespace loom {
namespace {

// What one of the network's numbers is in the unit of the file; 0 where it is the same, or no straight line leads
// there.
double factorOf(const OpenedDataset& dataset, const std::string& variable, std::string& column) {
  const Variable* const found = dataset.data->schema().find(variable);
  if (!found || found->kind != VariableKind::scalar) return 0;
  const std::vector<TargetMeaning> meanings = meaningOf(dataset.prepare, variable);
  if (meanings.size() != 1 || meanings[0].links.empty() || !meanings[0].classes.empty()) return 0;
  column = meanings[0].column;
  double factor = 1;
  for (const TargetMeaning::Link& link : meanings[0].links) {
    if (link.kind != TargetMeaning::Link::Kind::linear) return 0;
    factor *= std::abs(link.by);
  }
  return factor;
}

// A name that filters and series can hold.
std::string plainName(std::string name) {
  for (char& c : name)
    if (c == '.' || c == '/' || c == ' ') c = '_';
  return name;
}

}  // namespace

std::vector<UnitMetric> unitMetrics(const Network& flat, const OpenedDataset& dataset) {
  std::vector<UnitMetric> metrics;
  for (const Node& node : flat.nodes) {
    const bool squares = node.layer == "MeanSquaredError";
    if (!squares && node.layer != "AbsoluteError") continue;
    const double weight = Values(findLayer(node.layer)->entry, node.values).real("weight");
    for (const Edge& edge : flat.edges) {
      const Node* const input = edge.to == Endpoint{node.id, "target"} ? flat.find(edge.from.node) : nullptr;
      if (!input || input->layer != "Input" || !(weight > 0)) continue;
      std::string column;
      const double factor = factorOf(dataset, Feed::variableOf(flat, input->id), column);
      const std::string name = (squares ? "RMSE_" : "MAE_") + plainName(column);
      const bool taken = flat.find(name) || std::any_of(metrics.begin(), metrics.end(),
                                                        [&](const UnitMetric& other) { return other.name == name; });
      if (factor > 0 && !taken) metrics.push_back({name, node.id, squares, weight, factor});
    }
  }
  return metrics;
}

Measured inUnits(Measured measured, const std::vector<UnitMetric>& metrics) {
  for (const UnitMetric& each : metrics) {
    // A single loss is told without its name.
    const auto own = std::find_if(measured.metrics.begin(), measured.metrics.end(),
                                  [&](const auto& metric) { return metric.first == each.loss; });
    const double loss = (own == measured.metrics.end() ? measured.loss : own->second) / each.weight;
    measured.metrics.emplace_back(each.name, each.factor * (each.root ? std::sqrt(loss) : loss));
  }
  return measured;
}

}  // namespace loom
