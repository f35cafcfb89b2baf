#pragma once
// Everything that is wrong with a dataset, not the first thing alone: what `loom data check` and the Data page show.
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/dataset.h"

namespace loom {

enum class FaultKind {
  unreadable,  // the file itself: missing, empty, no text, a line too long
  header,      // names that cannot be read, an index that is no number
  firstRow,    // the first line looks like one of the rows
  givenName,   // a column that had none, or one that stands twice, was given a name
  indexGap,    // x__0, x__2; or out of order
  raggedRow,   // more or fewer cells than the header
  emptyCell,
  notANumber,  // text where numbers stand
  notFinite,   // NaN, infinity, or beyond float32
  missingFile,
  brokenFile,  // truncated, of another kind than its content, too large
  mixedShapes,
  mixedKinds,
  label,           // not an integer, negative, or beyond the number of classes
  duplicate,       // the same sample twice
  sharedSample,    // stands in the other dataset too
  constantColumn,  // one value everywhere, or values that float32 does not tell apart
  imbalance,       // classes of very different size, or without a sample
  blankLine,
  loneClass,     // stands in one of training and validation set alone
  textColumn,    // a column of words: told once, not once a row
  unlikeScales,  // numbers of a vector, or single columns, that differ a hundredfold in size
};
inline constexpr std::size_t kFaultKinds = 22;
std::string_view toString(FaultKind kind);

enum class FaultSeverity { error, warning, info };
std::string_view toString(FaultSeverity severity);

struct Fault {
  FaultKind kind = FaultKind::unreadable;
  FaultSeverity severity = FaultSeverity::error;
  std::int64_t line = 0;  // of the file, from 1 (the header); 0 = the whole file
  std::string column;     // as the header writes it; empty = the whole row
  std::string found, wanted, remedy;
  std::vector<std::string> variables;  // that a finding about several columns means; else empty
  Json step;                           // of preparation, that mends it; null where none does
  // "line 812, column y: found 'cat', but a number is wanted; write the class as 0, 1, 2 ..."
  std::string message() const;
};

struct CheckOptions {
  std::map<std::string, std::int64_t> classes;  // label variables of the network: 0 <= label < classes
  std::vector<std::string> targets;  // variables that the network learns to give; empty = told by likelyTarget()
  std::filesystem::path other;       // the dataset that must not share samples with this one; empty = none
  CsvFormatChoice format, otherFormat;
  std::size_t listed = 100;  // findings listed of each kind; all are counted
  bool readFiles = true;     // false: only whether they are there
  int threads = 0;
  std::function<bool(const CacheProgress&)> progress;  // false cancels (Error stopped)
};

// What sounds, and arrays that differ in length, are like.
struct ClipFacts {
  struct Lengths {
    std::int64_t rows = 0, shortest = 0, longest = 0;  // steps
  };
  std::string variable, column;   // as steps name it, as the header writes it
  std::map<int, Lengths> byRate;  // by samples a second; 0: no sound
  int usualRate() const;          // of most rows, the lowest of several
};
struct ClipLengths {
  std::int64_t shortest = 0, longest = 0;  // steps
};
// As long as they are at `rate` samples a second; 0: each at its own.
ClipLengths lengthsAt(const ClipFacts& clips, int rate);
// What is said of them where a step brings them to `rate` (0: none does).
std::vector<Fault> clipFaults(const ClipFacts& clips, int rate);

struct CheckReport {
  std::vector<Fault> faults;                       // by severity, then by line
  std::vector<ClipFacts> clips;                    // clipFaults() of rate 0 are among the faults
  std::array<std::int64_t, kFaultKinds> counts{};  // exact, by kind
  std::int64_t rows = 0;                           // read, good or not
  Schema schema;                                   // as far as it could be told
  std::int64_t count(FaultKind kind) const { return counts[static_cast<std::size_t>(kind)]; }
  std::int64_t errors = 0, warnings = 0;  // exact
  bool ok() const { return errors == 0; }
  Json toJson() const;
};

// Never throws for what the data says; Error(stopped) when progress asks for it.
CheckReport checkDataset(const std::filesystem::path& csv, const CheckOptions& options = {});

}  // namespace loom
