#pragma once
// Operators that exporters wrote something out in, joined into one again: a product and a bias, functions such as GELU
// (known by their values, in whatever way they are written), normalisations. Attention is put together while it is
// translated, see translate_attention.cpp.
#include "engine/exchange/onnx/facts.h"

namespace loom::onnx_file {

// New nodes: loom.Linear(x, weight, bias); loom.Function(x) with "layer" and "values"; LayerNormalization(x, gamma,
// beta).
void joinPatterns(OnnxGraph& graph, Facts& facts, ImportReport& report);

// The layer whose values these are at the places where the function was tried, with its fields; nothing where none is.
struct KnownFunction {
  std::string layer;
  std::string values;  // JSON
};
std::vector<double> triedPlaces();
std::optional<KnownFunction> functionOf(const std::vector<double>& values);

}  // namespace loom::onnx_file
