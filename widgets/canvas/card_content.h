#pragma once
// The words and numbers of a card, made from a node, its catalogue entry and what the analysis found.
#include <vector>

#include <QString>
#include <QStringList>

#include "engine/network/analysis.h"

namespace loom {

enum class CostKind { multiplyAdds, parameters, outputValues };
QString costName(CostKind kind);  // "multiply-adds"
double costOf(const NodeFacts& facts, CostKind kind);

struct CardContent {
  QString title;       // the id
  QString type;        // label of the entry
  QString parameters;  // second line
  QString help;        // the entry's summary: third line when zoomed in
  QString category, icon;
  double share = 0;    // of the network's cost
  double bar = 0;      // of the largest node's cost
  QStringList errors, warnings;
  QString spoken;      // for screen readers

  bool operator==(const CardContent&) const = default;
};

CardContent cardContent(const Node& node, const Analysis& analysis, CostKind kind);

// "3×3, 16 channels": the fields that the catalogue marks as important.
QString keyParameters(const Node& node);
// "16×32×32", or "?" when not known.
QString shapeText(const Shape& shape);
// Counts as ui.md section 6 has them: 42,240; 40.8 M.
QString countText(double value);
QString percentText(double share);

}  // namespace loom
