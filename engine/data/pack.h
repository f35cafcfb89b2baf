#pragma once
// The packed cache: a file that holds a dataset's samples ready to be mapped. Its bytes follow from the samples alone:
// not from where they came from, when, or by how many threads.
//
//   header   64 bytes: "LOOMPACK", version (u32), zeros
//   groups   of rows_per_group rows; each begins at a multiple of 64. In a group, variable by variable, padded to 64
//   bytes:
//            fixed shapes: the rows' bytes, one after another
//            clips and images of several sizes: for each row (u64 offset from the group's beginning, u64 its extents:
//            packExtents()); after the last variable, the clips and images
//   footer   JSON: rows, rows_per_group, variables (of sounds with their rate, where all have one), groups (offsets),
//            content (XXH64 of all groups), column_steps (where there are some)
//   trailer  64 bytes: "LOOMTAIL", footer offset, footer bytes, XXH64 of the footer (u64 each), zeros
//
// All numbers little-endian. A file that was cut short has no trailer and is refused.
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/hash.h"
#include "engine/data/row_parser.h"

namespace loom {

inline constexpr std::uint32_t kPackVersion = 1;
inline constexpr std::size_t kPackAlignment = 64;

class PackWriter {
 public:
  // Writes through `append` (of writeFileAtomically). `columnSteps` are those that made the samples.
  PackWriter(const Append& append, Schema schema, std::vector<VariablePlan> plan, std::vector<Json> columnSteps = {});
  void add(const RowChunk& chunk);
  // Writes what is left, the footer and the trailer.
  void finish();
  std::int64_t rows() const { return m_rows; }
  std::uint64_t bytes() const { return m_offset; }

 private:
  struct Pending {
    std::vector<std::byte> bytes;
    std::vector<std::uint64_t> extents;
    Shape smallest, largest;  // over the whole file
    void take(const Shape& shape);
  };
  void chooseGroupSize(const RowChunk& chunk);
  void flush();
  void put(const void* data, std::size_t bytes);
  void pad();

  const Append& m_append;
  Schema m_schema;
  std::vector<VariablePlan> m_plan;
  std::vector<Json> m_columnSteps;
  std::vector<Pending> m_pending;
  std::int64_t m_rowsPerGroup = 0, m_pendingRows = 0, m_rows = 0;
  std::uint64_t m_offset = 0;
  std::vector<std::uint64_t> m_groups;
  std::map<std::size_t, std::set<int>> m_rates;  // of sounds, by variable
  Hash64 m_hash;
};

// Throws Error(badData) for a file that is no whole pack of this version, Error(badProject) where `prepare` brings
// sounds to another rate than they are packed at.
std::unique_ptr<Dataset> openPack(const std::filesystem::path& file, const std::vector<Json>& prepare = {});
// Samples a second of its sounds, by variable, where all have one. Throws as openPack().
std::map<std::string, int> packedRates(const std::filesystem::path& file);

}  // namespace loom
