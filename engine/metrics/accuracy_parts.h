#pragma once
// Accuracy, TopKAccuracy and Error share their ports and their op.
#include "engine/layers/layer.h"

namespace loom {

// The ports of a metric over class scores.
void addClassPorts(Entry& entry, std::string resultLabel);
// The share of samples whose label is among the k largest scores.
TensorId topKShare(const LowerArguments& arguments, std::int64_t k);
std::vector<Shape> classMetricShapes(const ShapeArguments& arguments);

}  // namespace loom
