#pragma once
// What happens around a project's rules (engine/training/methods), where it cannot be as the settings say.
#include <optional>

#include "engine/network/project.h"
#include "engine/training/methods/method.h"

namespace loom {

// The first reason why the methods of `training` cannot be, together or with its rules; none: they can. Never throws
// for what the settings say.
std::optional<MethodRefusal> refusedMethods(const Project& project);

// What a rule that averages its own steps says to a rate that falls by a schedule; empty: nothing.
std::string scheduleAdvice(const UpdateSpec& update);

}  // namespace loom
