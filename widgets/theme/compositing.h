#pragma once

namespace loom {

// Whether windows may be translucent: without a compositor under X11 what should shine through is black.
bool isComposited();

}  // namespace loom
