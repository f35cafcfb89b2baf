#pragma once
// How each op of a program is said in ONNX: one function an op, in one table.
#include <functional>
#include <string>
#include <vector>

#include "engine/exchange/onnx/graph_writer.h"
#include "engine/program/program.h"

namespace loom::onnx_file {

struct OpExport {
  GraphWriter& graph;
  const Program& program;
  const Operation& operation;
  std::function<std::vector<float>(TensorId)> weight;  // values of a parameter
  std::function<std::string(const Extents&)> shape;    // a shape as a value, with the batch as it will be
  std::function<std::string(TensorId)> name;           // of a value

  bool has(std::size_t input) const { return input < operation.inputs.size() && operation.inputs[input] != kNoTensor; }
  bool isWeight(std::size_t input) const;
  // The name of an input; "" where it is left out.
  std::string at(std::size_t input) const { return has(input) ? name(operation.inputs[input]) : std::string(); }
  std::vector<float> values(std::size_t input) const { return weight(operation.inputs[input]); }
  const Shape& of(std::size_t input) const { return program.tensor(operation.inputs[input]).shape; }
  const Shape& made(std::size_t output = 0) const { return program.tensor(operation.outputs[output]).shape; }
};

// Answers the names of its outputs (as many as are needed). Null: the op has no counterpart.
using OpWriter = std::vector<std::string> (*)(const OpExport& given);
OpWriter opWriter(const std::string& op);

}  // namespace loom::onnx_file
