#include "engine/planner/drawn_places.h"

#include <algorithm>

namespace loom {
namespace {

// Whether the innermost unit around this use's nodes is the last of `through`, the one around that the one before, and
// so on. A repeat of a group is no use of a unit: it is passed over.
bool leadsThrough(const FlatNetwork& flat, std::size_t use, const std::vector<StepPlan::Use>& through) {
  for (auto wanted = through.rbegin(); wanted != through.rend(); ++wanted) {
    while (use != 0 && flat.uses[use].node < 0) use = flat.uses[use].parent;
    if (use == 0) return false;
    const DrawingUse& one = flat.uses[use];
    const Network& around = *flat.uses[one.parent].drawing;
    if (StepPlan::Use{around.name, around.nodes[static_cast<std::size_t>(one.node)].id} != *wanted) return false;
    use = one.parent;
  }
  return true;
}

}  // namespace

std::string drawnPlace(const FlatNetwork& flat, std::size_t node, const std::string& drawing,
                       const std::vector<StepPlan::Use>& through) {
  const DrawnNode& origin = flat.origins[node];
  if (!origin.drawing) return {};
  if (origin.drawing->name == drawing) return leadsThrough(flat, origin.use, through) ? origin->id : std::string();
  for (std::size_t use = origin.use; use != 0; use = flat.uses[use].parent) {
    const DrawingUse& one = flat.uses[use];
    if (one.node < 0) continue;
    const Network& around = *flat.uses[one.parent].drawing;
    if (around.name == drawing)
      return leadsThrough(flat, one.parent, through) ? around.nodes[static_cast<std::size_t>(one.node)].id
                                                     : std::string();
  }
  return {};
}

const Network* networkAround(const Project& project, const std::string& drawing) {
  if (const Network* const network = project.network(drawing)) return network;
  for (const Network& network : project.networks) {
    const FlatNetwork flat = flatten(project, network);
    const bool uses = std::any_of(flat.uses.begin(), flat.uses.end(),
                                  [&](const DrawingUse& use) { return use.node >= 0 && use.drawing->name == drawing; });
    if (uses) return &network;
  }
  return nullptr;
}

}  // namespace loom
