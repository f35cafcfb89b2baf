#pragma once
// The charts of an evaluation.
#include "engine/evaluation/output_evaluator.h"
#include "widgets/evaluation/plot_view.h"

namespace loom {

// Of at most ten classes the curves, those with the least area; `strong` stands out.
Plot rocPlot(const EvaluatedOutput& output, int strong = -1);
Plot precisionRecallPlot(const EvaluatedOutput& output, int strong = -1);
Plot reliabilityPlot(const EvaluatedOutput& output);
// Of each sample the value that is farthest off; `samples` of the points in their order.
Plot truePredictedPlot(const EvaluatedOutput& output, std::vector<std::size_t>* samples = nullptr);
Plot residualPlot(const EvaluatedOutput& output);

}  // namespace loom
