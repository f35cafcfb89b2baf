#pragma once
// Runs a program op by op on its double-precision references: the measure for every backend. Slow and plain; one
// thread.
#include <map>
#include <string>
#include <vector>

#include "engine/program/program.h"

namespace loom {

class Evaluator {
 public:
  // Throws Error(internal) where an op has no reference.
  explicit Evaluator(Program program);

  const Program& program() const { return m_program; }
  // The value of any tensor, row-major in double: written by the caller for inputs, scalars, parameters and states
  // before run(), read after it. Scalars are those of StepOptions at first; all else is 0.
  ReferenceTensor& value(TensorId id) { return m_values[static_cast<std::size_t>(id)]; }
  const ReferenceTensor& value(TensorId id) const { return m_values[static_cast<std::size_t>(id)]; }
  ReferenceTensor& value(std::string_view name, TensorRole role);
  // The number of a rank-0 result. Throws Error(internal) for a name that the program lacks.
  double result(std::string_view name) const;

  // What operations update is changed in `value`. Errors gain the layer they came from.
  void run();

 private:
  void run(const Operation& operation);
  Program m_program;
  std::vector<ReferenceTensor> m_values;
};

}  // namespace loom
