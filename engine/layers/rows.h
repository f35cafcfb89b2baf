#pragma once
// Layers that differ in a word: a file writes one row for each and shares the rules.
#include <algorithm>
#include <span>

#include "engine/layers/layer.h"

// The function that loom_add(Layer ID) in CMakeLists.txt asks for, out of the row of this id. Behind `lower` the role
// may follow.
#define LOOM_ROW_LAYER(ID, rows, shapes, lower, ...)                                                              \
  const LayerDefinition& define##ID##Layer() {                                                                    \
    static const LayerDefinition definition{::loom::parts::rowOf(rows(), #ID).entry, shapes, lower, __VA_ARGS__}; \
    return definition;                                                                                            \
  }

namespace loom::parts {

// The row whose entry is called so; one must be.
template <class Row>
const Row& rowOf(const std::vector<Row>& rows, std::string_view id) {
  return *std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.entry.id == id; });
}
// The row of the layer that is asked.
template <class Row>
const Row& rowOf(const std::vector<Row>& rows, const Values& values) {
  return rowOf(rows, values.entry().id);
}

}  // namespace loom::parts
