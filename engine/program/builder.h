#pragma once
// Builds a Program: layers lower through it, gradients are emitted through it. Shapes come from each op's rule at once,
// so a fault is thrown where it is made. Errors gain "in layer 'conv2'" from the current origin.
#include <initializer_list>

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
  // What the store holds beside a parameter: its gradient as other programs left it, and an optimizer's slot.
  TensorId gradient(const Parameter& parameter);
  TensorId slot(const Parameter& parameter, std::string_view slot);

  // Emits an operation and answers its outputs.
  std::vector<TensorId> emit(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});
  // The same for an op with one output (or whose first is wanted).
  TensorId add(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {});

  void result(std::string name, ResultKind kind, TensorId tensor, const ResultSums* sums = nullptr);
  const Tensor& tensor(TensorId id) const { return m_program.tensor(id); }
  const Shape& shape(TensorId id) const { return tensor(id).shape; }

  Program& program() { return m_program; }
  Program take() { return std::move(m_program); }

 private:
  Program m_program;
  std::string m_origin;
  bool m_backward = false;
};

}  // namespace loom
