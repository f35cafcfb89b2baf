#pragma once
// Cases of the op table in programs whose forward part can be computed again: what passes and backends make of that.
#include <optional>

#include "engine/passes/fusion.h"
#include "tests/engine/ops/op_cases.h"

namespace loom::cases {

// The case with squares behind it, whose gradients read the op's output; "loss" is its only result. Empty where nothing
// flows back through the op.
std::optional<Program> learnedProgramOf(const OpCase& opCase);
// With all computed again that can be; `joinsOf` as of the backend that will run it.
Program withEverythingAgain(const Program& program, const std::function<Joins(const Operation&)>& joinsOf);

}  // namespace loom::cases
