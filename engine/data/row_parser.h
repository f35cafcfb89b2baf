#pragma once
// Rows of a dataset's CSV as numbers, variable by variable: numbers are read where they stand, files are decoded. Knows
// the plan (what each variable is) from the first row; everything that does not fit it is a Fault.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/csv_blocks.h"
#include "engine/data/csv_header.h"
#include "engine/data/decode.h"

namespace loom {

struct VariablePlan {
  bool file = false;   // cells name files
  bool known = false;  // kind, shape and type below are settled
  VariableKind kind = VariableKind::scalar;
  Shape shape{1};
  DataType type = DataType::f32;
  std::string extension;  // of the first file
  // Waves and matrices may be longer or shorter in axis 0 from row to row.
  bool clip() const { return file && (kind == VariableKind::wave || kind == VariableKind::matrix); }
  std::size_t cellBytes() const { return static_cast<std::size_t>(shape.elements()) * bytesOf(type); }
  // Of one step along axis 0 of a clip.
  std::size_t stepBytes() const { return cellBytes() / static_cast<std::size_t>(shape[0]); }
};

struct FileFacts {
  std::string path;                 // as the cell writes it, '\' turned to '/'
  std::int64_t size = 0, time = 0;  // bytes, nanoseconds since 1970
};

// Some rows in order.
struct RowChunk {
  struct Column {
    std::vector<std::byte> bytes;  // rows one after another; only [0, used) is valid
    std::size_t used = 0;
    std::vector<std::int64_t> lengths;  // clips: extent of axis 0 by row
  };
  std::vector<Column> columns;  // by variable
  std::vector<FileFacts> files;
  std::vector<std::int64_t> lines;                    // where each row begins
  std::vector<bool> bad;                              // rows with an error; their numbers are zero
  std::vector<std::uint64_t> inputHashes, rowHashes;  // left to RowConsumer::prepare
  std::int64_t rows = 0;
};

class RowParser {
 public:
  // `folder` is where relative paths begin. Both must outlive the parser.
  RowParser(const CsvHeader& header, std::filesystem::path folder);

  // Settles the plan from the first row of `block` (begins at `offset` of its text). With `lenient`, columns whose cell
  // is faulty are settled by one of the rows after it, and by none if a hundred fail; the faults themselves are left to
  // parse().
  void settle(const CsvBlock& block, std::size_t offset, bool lenient, const FaultSink& fault);

  // Rows of the block from `offset`. `fault` may throw to stop at once. Safe from several threads at a time.
  struct Scratch {
    std::string text;
    std::vector<std::byte> file;
    Sample sample;
  };
  void parse(const CsvBlock& block, std::size_t offset, std::int64_t line, RowChunk& chunk, Scratch& scratch,
             const FaultSink& fault) const;

  const std::vector<VariablePlan>& plan() const { return m_plan; }
  // Variables without row facts: not varying, the first row's extents.
  Schema schema() const;
  bool hasFiles() const;
  bool decodeFiles = true;  // false: files are only looked for

 private:
  struct Place;  // line and column of a cell, for faults
  void storeNumber(const Place& place, std::string_view cell, RowChunk& chunk, const FaultSink& fault) const;
  void storeFile(const Place& place, std::string_view cell, RowChunk& chunk, Scratch& scratch,
                 const FaultSink& fault) const;
  bool settleCell(std::size_t column, std::string_view cell, std::int64_t line, const FaultSink* fault);
  void skipFile(const Place& place, RowChunk& chunk) const;

  const CsvHeader& m_header;
  std::filesystem::path m_folder;
  std::vector<VariablePlan> m_plan;
};

}  // namespace loom
