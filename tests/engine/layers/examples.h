#pragma once
// At least one use of every layer of the catalogue, on odd shapes: what the tests over the whole table run.
#include <string>
#include <vector>

#include "engine/layers/layer.h"

namespace loom {

struct LayerExample {
  std::string layer;
  std::string values = "{}";   // JSON of the fields
  std::vector<Shape> inputs;   // of one sample, by port; rank 0 = not wired
  std::vector<Shape> outputs;  // what must come out
  std::int64_t labels = 0;     // of the last input: 0 = it is values, else labels below this number
  bool flat = false;           // nothing flows back to some input
  double low = -1, high = 1;   // of the inputs' values
};

const std::vector<LayerExample>& layerExamples();

// The example alone in a program of `batch` samples; inputs are called "0", "1", ...
struct LoweredExample {
  Program program;
  std::vector<Shape> shapes;  // of one sample, by the layer's shape rule
  std::vector<TensorId> outputs;
};
LoweredExample lowerExample(const LayerExample& example, std::int64_t batch, bool training);

}  // namespace loom
