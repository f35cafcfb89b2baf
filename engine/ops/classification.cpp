#include "engine/ops/classification.h"

namespace loom::ops {

void needLabels(const TensorSpec& logits, const TensorSpec& labels) {
  needFloat("the logits", logits);
  needIndices("the labels", labels);
  needRank("the logits", logits, 2, 8);
  std::vector<std::int64_t> rows = logits.shape.extents();
  rows.pop_back();
  std::vector<std::int64_t> column = rows;
  column.push_back(1);
  if (labels.shape.extents() != rows && labels.shape.extents() != column)
    throwError(ErrorCode::badProject, "the labels are {}, but logits of {} need one label a row: {}",
               labels.shape.toString(), logits.shape.toString(), Shape(rows).toString());
  if (logits.shape[-1] < 2)
    throwError(ErrorCode::badProject, "the logits {} have {} class, but at least 2 are needed", logits.shape.toString(),
               logits.shape[-1]);
}

std::int64_t labelAt(const ReferenceTensor& labels, std::int64_t row, std::int64_t classes) {
  const auto label = static_cast<std::int64_t>(labels.values[static_cast<std::size_t>(row)]);
  if (label < 0 || label >= classes)
    throwError(ErrorCode::badData,
               "row {} of the batch has the label {}, but there are {} classes: labels must be 0 to {}", row, label,
               classes, classes - 1);
  return label;
}

}  // namespace loom::ops
