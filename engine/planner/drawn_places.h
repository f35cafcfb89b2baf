#pragma once
// Where in a drawing a node of the flat network stands. Pure functions, any thread.
#include <string>
#include <vector>

#include "engine/planner/node_costs.h"

namespace loom {

// The node of the drawing that a flat node is, or in whose unit it stands; empty: it stands elsewhere. `through`: only
// what runs in these uses, as StepPlan::of().
std::string drawnPlace(const FlatNetwork& flat, std::size_t node, const std::string& drawing,
                       const std::vector<StepPlan::Use>& through = {});

// The network through which a drawing runs: itself, or of a unit the first network that uses it; null: none.
const Network* networkAround(const Project& project, const std::string& drawing);

}  // namespace loom
