#pragma once
// What the files are like that a table's columns name: pictures, sounds, arrays.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/data/columns/findings.h"
#include "engine/data/dataset.h"

namespace loom {

struct MediaFacts {
  VariableKind kind = VariableKind::image;
  Shape typical;            // by axis the middle one of those looked at
  Shape smallest, largest;  // by axis
  DataType type = DataType::u8;
  int rate = 0;  // of sounds: samples a second, of most of them; the shapes are at this rate
  bool ratesDiffer = false;
  bool differ() const { return smallest != largest; }
};

inline constexpr std::size_t kMediaLookedAt = 300;  // files of a column, spread over the sample

// By name of the column: those that are pictures or sounds, and texts that name arrays (.npy, .csv). Files that cannot
// be read are passed over, and a column of which none can is left out. Throws Error(stopped) when `stop` says so.
std::map<std::string, MediaFacts> lookAtMedia(const std::filesystem::path& csv, const TableFacts& facts,
                                              const std::function<bool()>& stop = {});

// What the doctor says of files that a column names and that are not there, in a table of so many columns.
TableFinding goneFiles(const ColumnFacts& column, std::size_t columns);

}  // namespace loom
