#include "app/pages/network/measured_layers.h"

#include "app/measured_step.h"
#include "app/page.h"
#include "app/workspace.h"
#include "launcher/store/run_store.h"

namespace loom {

MeasuredLayers measuredLayers(const AppContext& context) {
  if (context.workspace == nullptr || context.store == nullptr) return {};
  const auto of = [&](const QString& id) -> MeasuredLayers {
    const auto step = measuredStep(*context.store, id);
    const RunRecord* run = context.store->find(id);
    if (!step || run == nullptr) return {};
    return {step->layers, run->name.toStdString()};
  };
  const QString shown = context.workspace->currentRun();
  if (MeasuredLayers found = of(shown); !found.seconds.empty()) return found;
  const QList<RunRecord> runs = context.workspace->runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->id != shown)
      if (MeasuredLayers found = of(run->id); !found.seconds.empty()) return found;
  return {};
}

}  // namespace loom
