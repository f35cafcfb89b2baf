#include "app/pages/network/measured_layers.h"

#include <algorithm>
#include <vector>

#include "app/measured_step.h"
#include "app/page.h"
#include "app/workspace.h"
#include "launcher/store/run_store.h"

namespace loom {
namespace {

constexpr std::size_t kMostAsked = 64;  // runs, the newest: each is a question to the database on the window's thread

}  // namespace

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
  std::vector<QString> runs;
  context.workspace->forEachRun([&](const RunRecord& run) {
    if (run.id != shown) runs.push_back(run.id);
  });
  const std::size_t asked = std::min(runs.size(), kMostAsked);
  for (auto run = runs.rbegin(); run != runs.rbegin() + static_cast<std::ptrdiff_t>(asked); ++run)
    if (MeasuredLayers found = of(*run); !found.seconds.empty()) return found;
  return {};
}

}  // namespace loom
