#include "app/pages/network/measured_layers.h"

#include "app/page.h"
#include "app/workspace.h"

namespace loom {

std::map<std::string, double> measuredLayers(const AppContext& context) {
  std::map<std::string, double> seconds;
  if (context.workspace == nullptr || context.store == nullptr) return seconds;
  const QList<RunRecord> runs = context.workspace->runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const std::vector<Event> events = context.store->events(run->id);
    for (auto event = events.rbegin(); event != events.rend(); ++event) {
      if (event->kind != "layers") continue;
      // What a folder from elsewhere says is looked at before it is believed.
      const auto layers = event->body.find("ms");
      if (layers == event->body.end() || !layers->is_object()) continue;
      for (const auto& [layer, ms] : layers->items())
        if (ms.is_number() && ms.get<double>() >= 0) seconds[layer] = ms.get<double>() / 1e3;
      return seconds;
    }
  }
  return seconds;
}

}  // namespace loom
