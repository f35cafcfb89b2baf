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

namespace loom {

enum class VariableKind { image, scalar, vector, matrix, wave };

struct Variable {
  std::string name;     // "x"
  std::string label;    // "image", as the header's text after the colon
  VariableKind kind = VariableKind::scalar;
  Shape shape;          // of one sample, as stored: image C x H x W, wave samples x channels, scalar {1}; may differ by row only
                        // where `varying` (clips that crop and pad make equal)
  bool varying = false;
  DataType type = DataType::f32;  // as stored: u8 images, f32 numbers
};

struct Schema {
  std::vector<Variable> variables;  // in column order
  const Variable* find(std::string_view name) const;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual const Schema& schema() const = 0;
  virtual std::int64_t size() const = 0;
  // Raw bytes of one variable of one row as stored, and its shape (that of the schema unless varying). Valid while the
  // dataset lives. Throws Error(badData) with row and column.
  virtual std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape = nullptr) const = 0;
};

struct CacheProgress {
  std::int64_t rowsDone = 0, rowsTotal = 0;
  double rowsPerSecond = 0;
};

struct OpenOptions {
  std::filesystem::path cacheFolder;  // empty = beside the CSV in ".gradloom-cache"; falls back to the user's cache folder
  int threads = 0;                    // decoders; 0 = cores
  std::function<bool(const CacheProgress&)> progress;  // called now and then; false cancels (Error stopped)
};

// Opens a CSV through its packed, memory-mapped cache, building it first where it is missing or older than what it was made
// of. One builder at a time: others wait for it. Throws Error(badData, missingFile, diskFull) at the first fault, with line
// and column; checkDataset() (check.h) reports all.
std::unique_ptr<Dataset> openDataset(const std::filesystem::path& csv, const OpenOptions& options = {});

}  // namespace loom
