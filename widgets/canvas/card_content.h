#pragma once
// The words and numbers of a card, made from a node, its catalogue entry and what the analysis found.
#include <QString>
#include <QStringList>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/layers/layer.h"
#include "engine/network/analysis.h"
#include "engine/network/project.h"
#include "engine/planner/node_costs.h"

namespace loom {

// The first three follow from the analysis, of one sample; those up to measuredTime are of a step in training
// (engine/planner); the last four a run recorded (recorded_figures.h).
enum class CostKind {
  multiplyAdds,
  parameters,
  outputValues,
  activations,
  memory,
  time,
  measuredTime,
  gradientNorm,
  updateRatio,
  deadUnits,
  activationRange
};
// Those that add up over a network.
inline constexpr CostKind kCostKinds[] = {CostKind::multiplyAdds, CostKind::parameters, CostKind::outputValues,
                                          CostKind::activations,  CostKind::memory,     CostKind::time,
                                          CostKind::measuredTime};
QString costName(CostKind kind);                                             // "multiply-adds"
double costOf(const NodeFacts& facts, const NodeCost& cost, CostKind kind);  // 0 of what a run recorded

struct CardContent {
  QString title;       // the id
  QString type;        // label of the entry
  QString parameters;  // second line
  QString help;        // the entry's summary: third line when zoomed in
  QString category, icon;
  LayerRole role = LayerRole::layer;
  double share = 0;         // of the network's cost
  double bar = 0;           // of the largest node's cost
  std::optional<int> step;  // of the scale of colours (CostScale); none: the kind of cost has bars
  QString cost;             // as it is written on a coloured card: "6.0 ms"
  QStringList errors, warnings;
  enum class Form { layer, unit, group, port } form = Form::layer;
  QString repeat;      // "×3"
  QString tint;        // of a folded group
  QStringList inside;  // of a folded group: icon and category of what it holds, one after the other

  bool operator==(const CardContent&) const = default;
};

// Costs and faults of a whole network, gathered once for all its cards. Refers to the analysis and the costs.
struct CardFigures {
  struct Faults {
    QStringList errors, warnings;
  };
  CardFigures(const Project& project, const Network& drawing, const Analysis& analysis, const NetworkCosts& costs,
              CostKind kind);
  double share(double cost) const { return total > 0 ? cost / total : 0; }
  double bar(double cost) const { return largest > 0 ? cost / largest : 0; }
  double costOf(const std::string& node, const NodeFacts& facts) const;
  double costOf(const std::string& node) const;  // 0 for one that the analysis does not know

  const Analysis& analysis;
  const NetworkCosts& costs;
  CostKind kind;
  double total = 0, largest = 0;
  std::map<std::string, Faults> faults;  // by node
};

// The words; what the analysis says is added by the scene.
CardContent cardContent(const Project& project, const Node& node);
// A folded group; cost and faults of all that it hides are the scene's to add.
CardContent groupContent(const Network& network, const Group& group);
// "×3", "×depth"; empty for once.
QString repeatText(const Json& repeat);
// "conv, Convolution, 16 channels, gives 16×8×8" and the faults.
QString spokenText(const CardContent& content, const Analysis& analysis, const std::string& node);

// "3×3, 16 channels": the fields that the catalogue marks as important.
QString keyParameters(const Entry& entry, const Json& values);
QString keyParameters(const Node& node);  // of a layer
// "16×32×32", or "?" when not known.
QString shapeText(const Shape& shape);
// Counts in groups of three up to 999,999, then k, M, G with three digits: 42,240; 40.8 M.
QString countText(double value);
QString percentText(double share);

}  // namespace loom
