#pragma once
// What a candidate of a search would take, asked of `loom plan` in a process of its own. Any thread that may wait.
#include "engine/search/candidate.h"

namespace loom {

// `device` as of `loom plan --device`; empty = this machine's processor. The planner throws Error (missingFile,
// internal) where nothing can be asked or answered.
CandidateScreen::Planner askedPlanner(const std::string& device);

}  // namespace loom
