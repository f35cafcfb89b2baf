#pragma once
// An evaluation as a terminal shows it.
#include <string>

#include "engine/evaluation/report.h"

namespace loom {

// Figures of all outputs, each on a line of its own, and what stands out.
std::string evaluationText(const EvaluationReport& report);

}  // namespace loom
