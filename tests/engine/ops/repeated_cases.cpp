#include "tests/engine/ops/repeated_cases.h"

#include <algorithm>

#include "engine/passes/differentiate.h"
#include "engine/passes/repetition.h"
#include "engine/program/builder.h"

namespace loom::cases {

std::optional<Program> learnedProgramOf(const OpCase& opCase) {
  ProgramBuilder builder(programOf(opCase, false));
  const TensorId y = builder.program().results[0].tensor;
  if (builder.tensor(y).type != DataType::f32) return std::nullopt;
  builder.program().results.clear();
  TensorId squared = y;
  for (int times = 0; times < 2; ++times) squared = builder.add("unary", {squared}, {{"function", "square"}});
  const TensorId projection = builder.input("projection", builder.shape(y), DataType::f32);
  const TensorId product = builder.add("binary", {squared, projection}, {{"function", "multiply"}});
  builder.result("loss", ResultKind::loss, builder.add("reduce", {product}, {{"function", "sum"}}));
  differentiate(builder);
  Program program = builder.take();
  if (std::ranges::none_of(program.operations, [](const Operation& one) { return one.backward; })) return std::nullopt;
  return program;
}

Program withEverythingAgain(const Program& program, const std::function<Joins(const Operation&)>& joinsOf) {
  const Repetition repetition(program, planFusion(program, joinsOf));
  return repetition.rewritten(Repetition::Chosen(repetition.units().size(), true));
}

}  // namespace loom::cases
