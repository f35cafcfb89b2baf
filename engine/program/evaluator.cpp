#include "engine/program/evaluator.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/program/backend.h"

namespace loom {

Evaluator::Evaluator(Program program) : m_program(std::move(program)) {
  m_values.resize(m_program.tensors.size());
  for (std::size_t id = 0; id < m_values.size(); ++id) {
    const Tensor& tensor = m_program.tensors[id];
    m_values[id].shape = tensor.shape;
    m_values[id].values.assign(static_cast<std::size_t>(tensor.shape.elements()),
                               tensor.role == TensorRole::scalar ? scalarOf({}, tensor.name) : tensor.value);
  }
  for (const Operation& operation : m_program.operations)
    if (!operation.op->reference) throwError(ErrorCode::internal, "the op '{}' has no reference", operation.op->name);
}

ReferenceTensor& Evaluator::value(std::string_view name, TensorRole role) {
  const TensorId id = m_program.findTensor(name, role);
  if (id == kNoTensor) throwError(ErrorCode::internal, "the program has no tensor '{}' of that role", name);
  return value(id);
}

double Evaluator::result(std::string_view name) const {
  for (const NamedResult& result : m_program.results)
    if (result.name == name) return value(result.tensor).values.at(0);
  throwError(ErrorCode::internal, "the program has no result '{}'", name);
}

void Evaluator::run() {
  for (const Operation& operation : m_program.operations) {
    try {
      run(operation);
    } catch (Error& error) {
      if (!operation.origin.empty()) error.addContext("in layer '" + operation.origin + "'");
      throw;
    }
  }
}

void Evaluator::run(const Operation& operation) {
  std::vector<const ReferenceTensor*> inputs;
  for (TensorId id : operation.inputs) inputs.push_back(id == kNoTensor ? nullptr : &value(id));

  std::vector<ReferenceTensor> outputs;
  for (TensorId id : operation.outputs) {
    const Shape& shape = m_program.tensor(id).shape;
    outputs.push_back({shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), 0.0)});
  }
  const std::vector<int> updates = updatedInputs(*operation.op, inputs.size(), operation.attributes);
  for (int updated : updates) outputs.push_back(*inputs[static_cast<std::size_t>(updated)]);

  operation.op->reference(inputs, outputs, operation.attributes);

  for (std::size_t i = 0; i < operation.outputs.size(); ++i) value(operation.outputs[i]) = std::move(outputs[i]);
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const TensorId updated = operation.inputs[static_cast<std::size_t>(updates[i])];
    value(updated) = std::move(outputs[operation.outputs.size() + i]);
  }
}

}  // namespace loom
