#pragma once
// Samples by index. A dataset is safe to read from many threads.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/base/json.h"
#include "engine/base/shape.h"
#include "engine/data/csv_format.h"
#include "engine/data/row_choice.h"

namespace loom {

enum class VariableKind { image, scalar, vector, matrix, wave };
std::string_view toString(VariableKind kind);

struct Variable {
  std::string name;   // "x"
  std::string label;  // "image", as the header's text after the colon; of a vector that of its first element
  VariableKind kind = VariableKind::scalar;
  Shape shape;  // of one sample, as stored: image C x H x W, wave samples x channels, scalar {1}; the largest extents
                // where rows differ: clips in axis 0, images in any
  Shape smallest;  // the smallest extents; empty where all rows have one shape
  bool varying() const { return smallest.rank() > 0 && smallest != shape; }
  DataType type = DataType::f32;           // as stored: u8 images, f32 numbers
  std::vector<std::string> elementLabels;  // vectors: the header's text of each element
};

// Whether the header calls it a label or a class: then its values are classes, and others are faults.
bool isLabel(const Variable& variable);

struct Schema {
  std::vector<Variable> variables;  // in column order
  const Variable* find(std::string_view name) const;
  int indexOf(std::string_view name) const;  // -1 when there is none
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const Schema& schema() const = 0;
  virtual std::int64_t size() const = 0;
  // Raw bytes of one variable of one row as stored, and its shape (that of the schema unless varying). Valid while the
  // dataset lives. Throws Error(badData) with row and column.
  virtual std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape = nullptr) const = 0;
  // Throws Error(badData) when what read() gave can no longer be trusted: the cache was cut short or its disk failed
  // while it was in use. Cheap; the loader asks after every batch.
  virtual void verify() const {}
  // The row of the file that `row` is: another where only some rows are used. Rises with `row`.
  virtual std::int64_t sourceRow(std::int64_t row) const { return row; }
  // Of all samples in order (run.json's data facts): equal for equal samples wherever they came from. Empty when not
  // known.
  virtual std::string contentHash() const { return {}; }
  // The column steps that its samples were made by, with all that was measured.
  virtual std::vector<Json> columnSteps() const { return {}; }
};

struct CacheProgress {
  std::int64_t rowsDone = 0, rowsTotal = 0;  // the total is an estimate until the CSV was read to its end
  double rowsPerSecond = 0;
};

struct OpenOptions {
  std::filesystem::path cacheFolder;  // empty = beside the CSV in ".gradloom-cache"; of a sample, or where that cannot
                                      // be, in the user's cache folder
  int threads = 0;                    // decoders; 0 = cores
  CsvFormatChoice format;             // of the CSV
  // Of these the column steps are applied; what they measure is measured on `rows`, without the part that is held out.
  // Dataset::columnSteps() answers them resolved. A pack has them behind it.
  // Of the others, those at its beginning that bring pictures to one size or one kind of colour are done once for all,
  // before they are stored; the same steps change nothing afterwards. Each such choice has a cache of its own.
  std::vector<Json> prepare;
  RowChoice rows;  // all rows are opened; selectRows() and selectPart() take those meant
  // Only what these variables are made of is read; other columns may be there or not, in any order. Empty: all.
  std::vector<std::string> needed;
  bool everyRow = false;                               // steps that leave rows out do not: to predict
  std::function<void(const std::string&)> warn;        // what was noticed while steps were measured
  std::function<bool(const CacheProgress&)> progress;  // called now and then; false cancels (Error stopped)
};

// Opens a CSV through its packed, memory-mapped cache, building it first where it is missing or older than what it was
// made of. One builder at a time: others wait for it. A path that ends in ".pack" is opened as such a cache, without
// its sources. Throws Error(badData, missingFile, diskFull) at the first fault, with line and column; checkDataset()
// (check.h) reports all.
std::unique_ptr<Dataset> openDataset(const std::filesystem::path& csv, const OpenOptions& options = {});

// Whether openDataset() would find the cache fresh, and where it lies: the editor asks before it shows a wait.
bool cacheIsFresh(const std::filesystem::path& csv, const OpenOptions& options = {});
std::filesystem::path cachePath(const std::filesystem::path& csv, const OpenOptions& options = {});

// The schema from the header and the first rows alone: opens at once however large the file. size() is not known then,
// nor whether rows differ in their extents. Of the options `format`, `prepare` (resolved) and `needed` are read.
Schema peekSchema(const std::filesystem::path& csv, const OpenOptions& options = {});

// Rows [first, first + count) of a dataset; a negative `first` counts from the end, a negative `count` means all that
// follow. Throws Error(badProject) where the range is empty or reaches beyond the end.
std::shared_ptr<const Dataset> selectRows(std::shared_ptr<const Dataset> dataset, std::int64_t first,
                                          std::int64_t count = -1);

}  // namespace loom
