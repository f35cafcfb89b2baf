#include "engine/program/builder.h"

#include "engine/base/error.h"

namespace loom {
namespace {

TensorId append(Program& program, Tensor tensor) {
  program.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(program.tensors.size() - 1);
}

// The tensor of that name and role where there is one; its shape must agree.
TensorId findAgreeing(const Program& program, const std::string& name, TensorRole role, const Shape& shape,
                      DataType type) {
  const TensorId id = program.findTensor(name, role);
  if (id == kNoTensor) return id;
  const Tensor& tensor = program.tensor(id);
  if (tensor.shape != shape || tensor.type != type)
    throwError(ErrorCode::badProject, "'{}' is used as {} {} here, but as {} {} elsewhere: what is shared must agree",
               name, toString(type), shape.toString(), toString(tensor.type), tensor.shape.toString());
  return id;
}

}  // namespace

ProgramBuilder::ProgramBuilder(std::int64_t batch, std::uint64_t seed, bool training) {
  m_program.batch = batch;
  m_program.seed = seed;
  m_program.training = training;
}

void ProgramBuilder::setOrigin(std::string origin) {
  m_origin = std::move(origin);
}

TensorId ProgramBuilder::input(const std::string& name, Shape shapeWithBatch, DataType type) {
  const TensorId id = findAgreeing(m_program, name, TensorRole::input, shapeWithBatch, type);
  if (id != kNoTensor) return id;
  return append(m_program, {name, std::move(shapeWithBatch), type, TensorRole::input});
}

TensorId ProgramBuilder::scalar(const std::string& name) {
  const TensorId id = m_program.findTensor(name, TensorRole::scalar);
  if (id != kNoTensor) return id;
  // Exact beyond 2^24; a bound of norms, which are summed in f64.
  const bool counts = name == kStepScalar || name == kFirstSampleScalar || name == kUpdateCountScalar;
  const DataType type = counts ? DataType::i64 : name == kClipNormScalar ? DataType::f64 : DataType::f32;
  return append(m_program, {name, {}, type, TensorRole::scalar});
}

TensorId ProgramBuilder::constant(double value, Shape shape) {
  for (std::size_t id = 0; id < m_program.tensors.size(); ++id) {
    const Tensor& tensor = m_program.tensors[id];
    if (tensor.role == TensorRole::constant && tensor.value == value && tensor.shape == shape)
      return static_cast<TensorId>(id);
  }
  return append(m_program, {"constant", std::move(shape), DataType::f32, TensorRole::constant, value});
}

TensorId ProgramBuilder::parameter(Parameter parameter) {
  if (parameter.isState) return state(std::move(parameter));
  const TensorId id = findAgreeing(m_program, parameter.name, TensorRole::parameter, parameter.shape, DataType::f32);
  if (id != kNoTensor) return id;
  const TensorId made = append(m_program, {parameter.name, parameter.shape, DataType::f32, TensorRole::parameter});
  m_program.parameters.push_back(std::move(parameter));
  return made;
}

TensorId ProgramBuilder::state(Parameter parameter) {
  parameter.isState = true;
  const TensorId id = findAgreeing(m_program, parameter.name, TensorRole::state, parameter.shape, DataType::f32);
  if (id != kNoTensor) return id;
  const TensorId made = append(m_program, {parameter.name, parameter.shape, DataType::f32, TensorRole::state});
  m_program.parameters.push_back(std::move(parameter));
  return made;
}

TensorId ProgramBuilder::gradient(const Parameter& parameter) {
  constexpr TensorRole kRole = TensorRole::parameterGradient;
  const TensorId id = findAgreeing(m_program, parameter.name, kRole, parameter.shape, DataType::f32);
  return id != kNoTensor ? id : append(m_program, {parameter.name, parameter.shape, DataType::f32, kRole});
}

TensorId ProgramBuilder::slot(const Parameter& parameter, std::string_view slot) {
  const std::string name = slotName(parameter.name, slot);
  const TensorId id = findAgreeing(m_program, name, TensorRole::slot, parameter.shape, DataType::f32);
  return id != kNoTensor ? id : append(m_program, {name, parameter.shape, DataType::f32, TensorRole::slot});
}

std::vector<TensorId> ProgramBuilder::emit(std::string_view name, std::vector<TensorId> inputs,
                                           Attributes attributes) try {
  const OpDefinition& op = findOp(name);
  const std::vector<TensorSpec> specs = completeInputs(op, m_program.specs(inputs));
  inputs.resize(specs.size(), kNoTensor);
  const std::vector<TensorSpec> outputSpecs = op.infer(specs, attributes);

  Operation operation{.op = &op,
                      .inputs = std::move(inputs),
                      .attributes = std::move(attributes),
                      .origin = m_origin,
                      .backward = m_backward};
  for (const TensorSpec& spec : outputSpecs)
    operation.outputs.push_back(append(m_program, {m_origin + (m_backward ? ".gradient" : ""), spec.shape, spec.type}));
  m_program.operations.push_back(std::move(operation));
  return m_program.operations.back().outputs;
} catch (Error& error) {
  if (!m_origin.empty()) error.addContext("in layer '" + m_origin + "'");
  throw;
}

TensorId ProgramBuilder::add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes) {
  return emit(op, std::move(inputs), std::move(attributes)).front();
}

void ProgramBuilder::result(std::string name, ResultKind kind, TensorId tensor, const ResultSums* sums) {
  m_program.results.push_back({.name = std::move(name), .kind = kind, .tensor = tensor, .sums = sums});
}

}  // namespace loom
