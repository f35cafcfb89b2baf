#pragma once
// What `loom plan` prints.
#include <filesystem>

#include "engine/base/json.h"
#include "engine/planner/plan.h"

namespace loom {

inline std::string planText(const Project& project, const std::filesystem::path& /*folder*/, bool asJson) {
  const ProjectPlan plan = planTraining(project);
  return asJson ? formatJson(toJson(plan)) : toText(plan);
}

}  // namespace loom
