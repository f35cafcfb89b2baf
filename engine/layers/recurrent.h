#pragma once
// LSTM and GRU: the same fields, directions and outputs around another cell.
#include "engine/layers/layer.h"

namespace loom {

std::vector<Field> recurrentFields();
std::vector<Shape> recurrentShapes(const ShapeArguments& arguments);

// Emits the cell over the whole sequence in one direction: x N x T x C -> N x T x H. `suffix` is "" or "_backward", for
// parameter names.
using RunCell = TensorId (*)(const LowerArguments& arguments, std::int64_t units, bool reverse,
                             const std::string& suffix);
std::vector<TensorId> lowerRecurrent(const LowerArguments& arguments, RunCell run);

}  // namespace loom
