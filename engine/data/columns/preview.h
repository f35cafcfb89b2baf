#pragma once
// Steps of preparation on the rows that an analysis kept: what a page shows before and after, without reading the file.
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"

namespace loom {

struct PreviewColumn {
  std::string name;    // after the steps; of a vector "x__3"
  std::string label;   // the header's text after its colon ("label" of classes); of a vector's element its column
  std::string origin;  // the column of the file that it came of
  bool number = false;
  std::vector<double> numbers;     // of the sample's rows that are left; NaN where it is missing
  std::vector<std::string> texts;  // where it is none
  double low = 0, mean = 0, high = 0, deviation = 0;
  std::vector<std::int64_t> histogram;  // kColumnBins equal bins of [low, high]
};

struct TablePreview {
  std::vector<Json> resolved;         // the steps with what was measured on the sample, to be shown only
  std::vector<std::int64_t> rows;     // of the sample that are left: indices into TableSample::cells
  std::vector<PreviewColumn> before;  // the columns of the file
  std::vector<PreviewColumn> after;   // those of the dataset
  std::vector<Fault> faults;          // of cells and of steps (kind header): what the steps cannot do
  // Those that came of a column of the file; or that have the name.
  std::vector<const PreviewColumn*> of(std::string_view column) const;
};

// Column steps of `prepare` (others are passed over), measured on the rows given. Throws nothing for what steps or
// cells say: that are faults.
TablePreview previewTable(const TableSample& sample, const CsvFormat& format, const std::vector<Json>& prepare);

}  // namespace loom
