#pragma once
// The families of cases, one file each, and short ways to write an input.
#include "tests/engine/ops/op_cases.h"

namespace loom::cases {

inline InputCase values(Shape shape, double low = -1, double high = 1) {
  return {std::move(shape), InputKind::values, low, high};
}
inline InputCase state(Shape shape, double low = -1, double high = 1) {
  return {std::move(shape), InputKind::state, low, high};
}
inline InputCase given(Shape shape, double low = -1, double high = 1) {
  return {std::move(shape), InputKind::given, low, high};
}
inline InputCase labels(Shape shape, std::int64_t classes) {
  return {std::move(shape), InputKind::labels, 0, static_cast<double>(classes)};
}
inline InputCase absent() {
  return {{}, InputKind::absent};
}
inline InputCase step() {
  return {{}, InputKind::step};
}
inline InputCase firstSample() {
  return {{}, InputKind::firstSample};
}
inline InputCase squares(std::int64_t tensors, double low, double high) {
  return {{tensors}, InputKind::squares, low, high};
}
inline InputCase learningRate() {
  return {{}, InputKind::learningRate};
}
inline InputCase updateCount() {
  return {{}, InputKind::updateCount};
}
inline InputCase clipNorm() {
  return {{}, InputKind::clipNorm};
}
using Integers = std::vector<std::int64_t>;

std::vector<OpCase> convolutionCases();  // convolutions and pooling
std::vector<OpCase> productCases();      // matmul, bias
std::vector<OpCase> normalizationCases();
std::vector<OpCase> elementwiseCases();  // unary, binary, scale, dropout, random
std::vector<OpCase> shapeCases();        // reductions, broadcasting, concatenate, slice, reshape, transpose, softmax
std::vector<OpCase> sequenceCases();     // embedding, lstm, gru, attention
std::vector<OpCase> lossCases();         // losses and metrics
std::vector<OpCase> updateCases();
std::vector<OpCase> imageCases();  // what an optimizer's step does

}  // namespace loom::cases
