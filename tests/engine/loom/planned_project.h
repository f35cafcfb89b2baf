#pragma once
// A workload of `loom bench` as a project that can be planned.
#include <string>
#include <utility>

#include "engine/base/json.h"
#include "engine/loom/bench/workloads.h"

namespace loom {

// `settings`: of training; the batch is the workload's where they name none.
inline Project projectOf(Workload workload, Json settings) {
  Project project;
  workload.update.network = workload.network.name;
  project.networks = {std::move(workload.network)};
  project.training.updates = {workload.update};
  settings["batch"] = settings.value("batch", workload.batch);
  project.training.settings = std::move(settings);
  return project;
}

}  // namespace loom
