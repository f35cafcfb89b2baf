#pragma once
// Which values of x along one axis the op `resample` adds up to each of y: a sparse matrix, row by row. Padding,
// repeating, reversing, picking and interpolating are such.
#include <cstdint>
#include <vector>

#include "engine/program/attributes.h"

namespace loom {

struct AxisMap {
  std::vector<std::int64_t> starts{0};  // row a has the entries starts[a] to starts[a + 1]
  std::vector<std::int64_t> places;     // along x's axis
  std::vector<double> weights;          // of each entry; none: all 1
  double fill = 0;                      // what a row without entries gives

  std::int64_t length() const { return static_cast<std::int64_t>(starts.size()) - 1; }
  double weight(std::int64_t entry) const { return weights.empty() ? 1 : weights[static_cast<std::size_t>(entry)]; }
  // Closes a row with these entries.
  void addRow(const std::vector<std::int64_t>& from) {
    places.insert(places.end(), from.begin(), from.end());
    starts.push_back(static_cast<std::int64_t>(places.size()));
  }
  // Columns become rows: y's values along the axis to x's, of which there are `length`. It fills with 0.
  AxisMap transposed(std::int64_t length) const;
};

Attributes attributesOf(const AxisMap& map, std::int64_t axis);
// Throws Error(badProject) for a map that is none, or that reaches beyond `extent` values.
AxisMap axisMapOf(const Attributes& attributes, std::int64_t extent);

}  // namespace loom
