#pragma once
// What a candidate of a search takes of a machine, as `loom plan` says it.
#include <string>

#include "engine/search/candidate.h"

namespace loom {

// `device` and `threads` as of `loom plan --device` and `loom train --threads`. Throws Error(badArgument, device) for a
// device that it cannot plan for. The planner may be called on one thread at a time.
CandidateScreen::Planner candidatePlanner(const std::string& device, int threads);

}  // namespace loom
