#include "engine/passes/precision.h"

#include <algorithm>

namespace loom {

void keepInSixteenBits(Program& program, DataType type, const std::function<SixteenBits(const Operation&)>& may) {
  std::vector<bool> kept(program.tensors.size(), false), written(program.tensors.size(), false);
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    kept[i] = program.tensors[i].role == TensorRole::intermediate && program.tensors[i].type == DataType::f32;
  const auto keep = [&](TensorId id, bool possible) {
    if (id != kNoTensor && !possible) kept[static_cast<std::size_t>(id)] = false;
  };
  for (const Operation& operation : program.operations) {
    const SixteenBits places = may(operation);
    for (std::size_t k = 0; k < operation.inputs.size(); ++k)
      keep(operation.inputs[k],
           std::find(places.inputs.begin(), places.inputs.end(), static_cast<int>(k)) != places.inputs.end());
    for (std::size_t k = 0; k < operation.outputs.size(); ++k) {
      keep(operation.outputs[k], static_cast<int>(k) < places.outputs);
      if (operation.outputs[k] != kNoTensor) written[static_cast<std::size_t>(operation.outputs[k])] = true;
    }
  }
  for (const NamedResult& result : program.results) keep(result.tensor, false);
  const auto isKept = [&](TensorId id) { return id == kNoTensor || kept[static_cast<std::size_t>(id)]; };
  for (const Operation& operation : program.operations) {  // what an operation reads was decided before it
    const SixteenBits places = may(operation);
    if (places.like >= 0) keep(operation.outputs[0], isKept(operation.inputs[static_cast<std::size_t>(places.like)]));
    if (places.promotes)
      keep(operation.outputs[0], std::all_of(operation.inputs.begin(), operation.inputs.end(), isKept));
  }
  for (std::size_t i = 0; i < program.tensors.size(); ++i)
    if (kept[i] && written[i]) program.tensors[i].type = type;
}

}  // namespace loom
