#include "app/pages/network/measured_layers.h"

#include "app/measured_step.h"
#include "app/page.h"
#include "app/workspace.h"

namespace loom {

std::map<std::string, double> measuredLayers(const AppContext& context) {
  if (context.workspace == nullptr || context.store == nullptr) return {};
  const QString shown = context.workspace->currentRun();
  if (const auto step = measuredStep(*context.store, shown)) return step->layers;
  const QList<RunRecord> runs = context.workspace->runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->id != shown)
      if (const auto step = measuredStep(*context.store, run->id)) return step->layers;
  return {};
}

}  // namespace loom
