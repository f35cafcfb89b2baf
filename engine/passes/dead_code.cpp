#include "engine/passes/passes.h"

namespace loom {

void eliminateDeadCode(Program& program, std::span<const TensorId> alsoKept) {
  std::vector<bool> needed(program.tensors.size(), false);
  for (const NamedResult& result : program.results) needed[static_cast<std::size_t>(result.tensor)] = true;
  for (TensorId id : alsoKept)
    if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
  const auto leadsSomewhere = [&](const Operation& operation) {
    for (TensorId id : operation.outputs)
      if (needed[static_cast<std::size_t>(id)] || program.tensor(id).role == TensorRole::parameterGradient) return true;
    return !operation.op->isPure();
  };
  std::vector<bool> kept(program.operations.size(), false);
  for (std::size_t i = program.operations.size(); i-- > 0;) {
    const Operation& operation = program.operations[i];
    kept[i] = leadsSomewhere(operation);
    if (!kept[i]) continue;
    for (TensorId id : operation.inputs)
      if (id != kNoTensor) needed[static_cast<std::size_t>(id)] = true;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    if (!kept[i]) continue;
    if (next != i) program.operations[next] = std::move(program.operations[i]);
    ++next;
  }
  program.operations.resize(next);
}

}  // namespace loom
