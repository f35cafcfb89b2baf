#pragma once
// For tests that wait until all is done that was started beside the window.

namespace loom {

bool nothingBesideTheWindow(int ms);  // false where that took longer

}  // namespace loom
