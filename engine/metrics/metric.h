#pragma once
// Which way a result is better: what "best" means for a checkpoint, and how a table sorts.
#include <string_view>

namespace loom {

enum class Goal { lower, higher };

// Of a layer's result by its catalogue id: accuracies are better higher, losses and errors lower.
Goal goalOf(std::string_view layer);

}  // namespace loom
