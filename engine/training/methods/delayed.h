#pragma once

namespace loom {

// Slot of gradients, and of what running statistics become, that wait for the next step.
inline constexpr const char* kDelayedSlot = "delayed";

}  // namespace loom
