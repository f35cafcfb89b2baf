#pragma once
// Builds a Program: layers lower through it, gradients are emitted through it. Shapes come from each op's rule at once,
// so a fault is thrown where it is made. Errors gain "in layer 'conv2'" from the current origin.
#include <functional>
#include <initializer_list>
#include <span>

#include "engine/program/program.h"

namespace loom {

class ProgramBuilder {
 public:
  ProgramBuilder(std::int64_t batch, std::uint64_t seed, bool training);
  // Goes on with a program that stands.
  explicit ProgramBuilder(Program program) : m_program(std::move(program)) {}

  std::int64_t batch() const { return m_program.batch; }
  std::uint64_t seed() const { return m_program.seed; }
  // Layers behave as in training (dropout drops, batch statistics) or as in evaluation.
  bool training() const { return m_program.training; }

  // What follows belongs to this node.
  void setOrigin(std::string origin);
  const std::string& origin() const { return m_origin; }
  void setBackward(bool backward) { m_backward = backward; }

  TensorId input(const std::string& name, Shape shapeWithBatch, DataType type);
  TensorId scalar(const std::string& name);
  TensorId constant(double value, Shape shape = {});
  // The same name twice answers the same tensor and must agree in shape (shared weights).
  TensorId parameter(Parameter parameter);
  TensorId state(Parameter parameter);

  // Emits an operation and answers its outputs.
  std::vector<TensorId> emit(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});
  // The same for an op with one output (or whose first is wanted).
  TensorId add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});

  void result(std::string name, std::string kind, TensorId tensor);
  const Tensor& tensor(TensorId id) const { return m_program.tensor(id); }
  const Shape& shape(TensorId id) const { return tensor(id).shape; }

  Program& program() { return m_program; }
  Program take() { return std::move(m_program); }

 private:
  Program m_program;
  std::string m_origin;
  bool m_backward = false;
};

// d(sum of results of kind "loss") / d(each target), each times the scalar kLossScaleScalar; kNoTensor where nothing
// flows. Computes only what leads to a target. Contributions are summed in a fixed order: that of the reversed program.
std::vector<TensorId> gradientsOf(ProgramBuilder& builder, std::span<const TensorId> targets);

// Appends the backward part for d(sum of results of kind "loss") / d(parameters chosen by `wanted`), each times the
// scalar kLossScaleScalar; every wanted parameter that takes part gets a tensor of role parameterGradient. `wanted`
// null = all that are no state. No operation reads a parameterGradient, so a backend may add to it in place. Removes
// dead code at the end (passes.h); tensor ids stay as they are.
void differentiate(ProgramBuilder& builder, const std::function<bool(const Parameter&)>& wanted = {});

}  // namespace loom
