#pragma once
// Rows of a dataset's CSV as numbers, variable by variable: numbers are read where they stand, files are decoded. Knows
// the plan (what each variable is) from the first row; everything that does not fit it is a Fault.
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/data/csv_blocks.h"
#include "engine/data/csv_header.h"
#include "engine/data/decode.h"
#include "engine/data/prepare_step.h"

namespace loom {

// Clips: the extent of axis 0. Images: 8 bits of channels, 28 of rows, 28 of columns.
inline std::uint64_t packExtents(const Shape& sample, bool clip) {
  if (clip) return static_cast<std::uint64_t>(sample[0]);
  return static_cast<std::uint64_t>(sample[0]) << 56 | static_cast<std::uint64_t>(sample[1]) << 28 |
         static_cast<std::uint64_t>(sample[2]);
}
inline void unpackExtents(std::uint64_t extents, bool clip, Shape& shape) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 28) - 1;
  if (clip) {
    shape[0] = static_cast<std::int64_t>(extents);
    return;
  }
  shape[0] = static_cast<std::int64_t>(extents >> 56);
  shape[1] = static_cast<std::int64_t>(extents >> 28 & kMask);
  shape[2] = static_cast<std::int64_t>(extents & kMask);
}

// A picture of another size than those before it, where VariablePlan::sizes was not set: reading begins anew with it.
struct SizesDiffer {
  std::string variable;
};

struct VariablePlan {
  bool file = false;   // cells name files
  bool known = false;  // kind, shape and type below are settled
  VariableKind kind = VariableKind::scalar;
  Shape shape{1};
  DataType type = DataType::f32;
  std::string extension;  // of the first file
  bool sizes = false;     // images may differ in size: told by the first row that does
  // Waves and matrices may be longer or shorter in axis 0 from row to row.
  bool clip() const { return file && (kind == VariableKind::wave || kind == VariableKind::matrix); }
  bool mixed() const { return sizes && file && kind == VariableKind::image; }
  // Rows have extents of their own: clips, and images that differ in size.
  bool loose() const { return clip() || mixed(); }
  std::size_t cellBytes() const { return static_cast<std::size_t>(shape.elements()) * bytesOf(type); }
  // A row's extents as one number, and the bytes that it then takes; only where rows are loose.
  std::uint64_t extentsOf(const Shape& sample) const { return packExtents(sample, clip()); }
  Shape shapeOf(std::uint64_t extents) const {
    Shape sample = shape;
    unpackExtents(extents, clip(), sample);
    return sample;
  }
  std::size_t rowBytes(std::uint64_t extents) const {
    return static_cast<std::size_t>(shapeOf(extents).elements()) * bytesOf(type);
  }
};

struct FileFacts {
  std::string path;                 // as the cell writes it, '\' turned to '/'
  std::int64_t size = 0, time = 0;  // bytes, nanoseconds since 1970
  std::int64_t changed = 0;         // when anything of it was: content, name, owner; no program sets it back
  std::uint64_t node = 0;           // its number on the disk
  std::uint64_t hash = 0;           // XXH64 of its content
};
// All but the hash.
FileFacts factsOf(std::string path, const struct stat& status);

// Some rows in order.
struct RowChunk {
  struct Column {
    std::vector<std::byte> bytes;  // rows one after another; only [0, used) is valid
    std::size_t used = 0;
    std::vector<std::uint64_t> extents;  // loose ones: VariablePlan::extentsOf() by row, 0 where it could not be read
  };
  std::vector<Column> columns;  // by variable
  std::vector<FileFacts> files;
  std::map<std::size_t, std::vector<int>> rates;      // sounds: samples a second by row, by variable; 0 = not known
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
    Picture pictures[2];
  };
  void parse(const CsvBlock& block, std::size_t offset, std::int64_t line, RowChunk& chunk, Scratch& scratch,
             const FaultSink& fault) const;

  const std::vector<VariablePlan>& plan() const { return m_plan; }
  // Variables without row facts: not varying, the first row's extents.
  Schema schema() const;
  bool hasFiles() const;
  bool decodeFiles = true;  // false: files are only looked for
  // Before settle(): variables whose images differ in size, and what is done to each image and sound before it is
  // stored.
  void letSizesDiffer(const std::set<std::string>& variables);
  void letAllSizesDiffer();
  void prepareWith(const std::vector<Json>& prepare);

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
  std::vector<std::vector<std::shared_ptr<const PictureStep>>> m_steps;  // by variable
  std::vector<int> m_rates;                                              // that sounds are brought to; 0 = their own
};

}  // namespace loom
