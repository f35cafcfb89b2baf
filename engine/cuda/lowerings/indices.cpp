#include "engine/cuda/lowerings/indices.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "engine/base/error.h"

namespace loom::cuda {
namespace {

// Where each number of a tensor comes from: a tensor of role input or constant, and a place in it.
struct Origins {
  std::vector<TensorId> tensors;
  std::vector<std::int64_t> places;
};

const Operation* producerOf(const Program& program, TensorId id) {
  for (const Operation& operation : program.operations)
    if (std::find(operation.outputs.begin(), operation.outputs.end(), id) != operation.outputs.end()) return &operation;
  return nullptr;
}

bool movesOnly(const Operation& operation) {
  constexpr std::array kMoves{"reshape", "transpose", "slice", "concatenate"};
  return operation.op->isView || std::find(kMoves.begin(), kMoves.end(), operation.op->name) != kMoves.end();
}

// Ops that move numbers tell by their references what they do: they are asked once with numbers that say where they
// stand, which doubles hold exactly.
Origins originsOf(const Program& program, TensorId id) {
  Origins origins;
  const Tensor& tensor = program.tensor(id);
  const Operation* const producer = producerOf(program, id);
  if (producer == nullptr) {
    origins.tensors.assign(static_cast<std::size_t>(tensor.shape.elements()), id);
    for (std::int64_t k = 0; k < tensor.shape.elements(); ++k) origins.places.push_back(k);
    return origins;
  }
  if (!movesOnly(*producer))
    throwError(
        ErrorCode::badProject,
        "indices and labels must come from the data, but '{}' is computed by '{}' during a step, where a GPU does "
        "not check them: train on the CPU, or put them into the dataset",
        tensor.name, producer->op->name);
  std::vector<Origins> before;
  std::vector<ReferenceTensor> numbered;
  double next = 0;
  for (const TensorId input : producer->inputs) {
    before.push_back(originsOf(program, input));
    numbered.push_back({program.tensor(input).shape, {}});
    for (std::size_t k = 0; k < before.back().places.size(); ++k) numbered.back().values.push_back(next++);
  }
  std::vector<const ReferenceTensor*> inputs;
  for (const ReferenceTensor& one : numbered) inputs.push_back(&one);
  std::vector<ReferenceTensor> outputs{
      {tensor.shape, std::vector<double>(static_cast<std::size_t>(tensor.shape.elements()))}};
  producer->op->reference(inputs, outputs, producer->attributes);
  for (const double number : outputs[0].values) {
    auto place = static_cast<std::size_t>(number);
    std::size_t k = 0;
    while (place >= before[k].places.size()) place -= before[k++].places.size();
    origins.tensors.push_back(before[k].tensors[place]);
    origins.places.push_back(before[k].places[place]);
  }
  return origins;
}

// The tensor that `id` is only another shape of.
TensorId viewedBy(const Program& program, TensorId id) {
  for (const Operation* producer = producerOf(program, id); producer != nullptr && producer->op->isView;
       producer = producerOf(program, id))
    id = producer->inputs[0];
  return id;
}

}  // namespace

void checkIndices(Plan& plan, TensorId id, std::int64_t limit, const std::string& what) {
  const Shape& shape = plan.shape(id);
  const std::int64_t rows = std::max<std::int64_t>(shape.rank() == 0 ? 1 : shape[0], 1), each = shape.elements() / rows;
  const std::string layer = plan.origin().empty() ? "" : "in layer '" + plan.origin() + "'";
  const auto check = [=](std::int64_t at, std::int64_t value) {
    if (value >= 0 && value < limit) return;
    const std::string where = each > 1 ? fmt::format("row {} of the batch, place {},", at / each, at % each)
                                       : fmt::format("row {} of the batch", at);
    Error error(ErrorCode::badData, fmt::format("{} has the {} {}, but there are {}: it must be 0 to {}", where, what,
                                                value, limit, limit - 1));
    if (!layer.empty()) error.addContext(layer);
    throw error;
  };
  if (const TensorId source = viewedBy(plan.program(), id); plan.isInput(source)) {  // in their own order, and many
    plan.guard(source, [check, limit, count = shape.elements()](std::span<const std::byte> bytes) {
      const auto* const values = reinterpret_cast<const std::int32_t*>(bytes.data());
      bool right = true;
      for (std::int64_t k = 0; k < count; ++k) right &= values[k] >= 0 && values[k] < limit;
      for (std::int64_t k = 0; !right && k < count; ++k) check(k, values[k]);
    });
    return;
  }
  const Origins origins = originsOf(plan.program(), id);
  std::map<TensorId, std::vector<std::pair<std::int64_t, std::int64_t>>> places;  // place in the input, in the tensor
  for (std::size_t k = 0; k < origins.tensors.size(); ++k) {
    const Tensor& source = plan.tensor(origins.tensors[k]);
    if (source.role == TensorRole::constant)
      check(static_cast<std::int64_t>(k), static_cast<std::int64_t>(source.value));
    else
      places[origins.tensors[k]].emplace_back(origins.places[k], static_cast<std::int64_t>(k));
  }
  for (const auto& [input, list] : places) {
    plan.guard(input, [check, list = list](std::span<const std::byte> bytes) {
      const auto* const values = reinterpret_cast<const std::int32_t*>(bytes.data());
      for (const auto& [place, at] : list) check(at, values[place]);
    });
  }
}

}  // namespace loom::cuda
