#pragma once
// The window as a person walks through it, in one program.

namespace loom {

// The text size, changed while the window is open (text_size_test.cpp).
int testTextSize(int argc, char** argv);

}  // namespace loom
