#pragma once
// What softmax_cross_entropy and top_k_accuracy share: rows of logits, one label a row.
#include "engine/ops/support.h"

namespace loom::ops {

// Logits N x K or N x T x K; labels have the same leading extents, with or without a last extent of 1.
void needLabels(const TensorSpec& logits, const TensorSpec& labels);
// What label smoothing makes of the truth: q of the label's class and of each other one (softmax_cross_entropy.cpp).
struct Smoothing {
  double label, other;
};
inline Smoothing smoothingOf(const Attributes& attributes, std::int64_t classes) {
  const double e = attributes.real("smoothing", 0.0), count = static_cast<double>(classes);
  if (attributes.has("definition") && attributes.text("definition") == "sony") return {1 - e, e / (count - 1)};
  return {1 - e + e / count, e / count};
}
// The label of a row. Throws Error(badData) naming the row when it is not in [0, classes).
std::int64_t labelAt(const ReferenceTensor& labels, std::int64_t row, std::int64_t classes);

}  // namespace loom::ops
