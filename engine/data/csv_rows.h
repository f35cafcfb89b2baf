#pragma once
// A dataset's CSV from beginning to end: blocks are parsed (and their files decoded) by several threads and handed on
// in order, so that what comes of it never depends on the number of threads. Memory is bounded by the number of
// threads.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "engine/data/row_parser.h"

namespace loom {

class ColumnPlan;

// A CSV that may be of another format, and the column steps that it is read through.
struct CsvSource {
  CsvFormat format;
  std::vector<Json> steps;          // resolved
  std::vector<std::string> needed;  // OpenOptions::needed
  bool everyRow = false;
  bool marksHeldOut = false;
  std::vector<bool> heldOut;  // ColumnPlanOptions
  bool plain() const { return format.plain() && steps.empty() && needed.empty() && !marksHeldOut; }
};

// The header of a file from its first block, each column with a name of its own (nameApart()); `offset` and `lines` say
// how much of the block it was. Columns of a file without one are called c1, c2 ...
std::vector<std::string> headerOf(const CsvBlock& first, const CsvFormat& format, std::size_t& offset,
                                  std::int64_t& lines, const FaultSink& fault);
// Null for a plain source.
std::unique_ptr<ColumnPlan> planOf(const CsvSource& source, const std::vector<std::string>& header,
                                   const std::filesystem::path& csv);

struct ReadRows {
  std::filesystem::path csv;
  CsvSource source;
  int threads = 0;  // 0 = cores
  bool decodeFiles = true;
  std::vector<Json> prepare;    // its first steps are done to images where they may (PrepareStep::beforePacking)
  std::set<std::string> sizes;  // variables whose images differ in size; another that does ends it as SizesDiffer, but
                                // for `collect`, where all may
  bool collect = false;  // true: faults are collected, at most `listed` of each kind by chunk; false: the first ends it
                         // as an Error
  std::size_t listed = 100;
};

struct RowFaults {
  std::vector<Fault> faults;
  std::array<std::int64_t, kFaultKinds> counts{};
  std::array<std::array<std::int64_t, 3>, kFaultKinds> bySeverity{};
  // Cells that are no number and no file that is there, by column: where most are, the column holds words.
  std::map<std::pair<std::string, FaultKind>, std::int64_t> words;
  void add(Fault fault, std::size_t listed);
};

struct RowConsumer {
  // Once, before the first rows: what the header and the first row say.
  std::function<void(const CsvHeader&, const RowParser&)> start;
  // Runs on the threads, in any order: what may be computed from one chunk alone.
  std::function<void(const RowParser&, RowChunk&)> prepare;
  // On the calling thread, in the order of the file. `done` and `total` are bytes of the CSV.
  std::function<void(RowChunk&, RowFaults&, std::int64_t done, std::int64_t total)> rows;
};

// Throws what the file, the data (unless `collect`) and the consumer throw. Answers the faults of the header and the
// file itself.
RowFaults readRows(const ReadRows& request, const RowConsumer& consumer);

// The Error that says the same as the fault: "train.csv line 812, column y: the cell is 'cat', but ...".
Error toError(const Fault& fault, const std::filesystem::path& csv);

}  // namespace loom
