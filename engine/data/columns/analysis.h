#pragma once
// What the columns of a stranger's CSV hold, as the file writes them: types, holes, words, values. Read in blocks by
// several threads, told while it grows.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/check.h"
#include "engine/data/csv_format.h"

namespace loom {

enum class ColumnType { number, classes, text, date, picture, sound, matrix, empty };
std::string_view toString(ColumnType type);  // "number", "class", "text", "date", ...

inline constexpr int kColumnBins = 17;
inline constexpr std::size_t kListedCells = 20;        // places of missing and unreadable cells that are kept
inline constexpr std::int64_t kMostDistinct = 10'000;  // words that are told apart; numbers: a tenth of it

struct CellPlace {
  std::int64_t row = 0, line = 0;  // of the data from 0; of the file from 1
  std::string text;
};
struct ClassCount {
  std::string word;
  std::int64_t rows = 0;
};

// The orders that all dates of a column allow, each with four-digit years or two-digit ones at its end.
struct DateOrders {
  bool yearFirst = false, dayFirst = false, monthFirst = false;
  bool doubtful() const { return yearFirst + dayFirst + monthFirst > 1; }
};

struct ColumnFacts {
  std::string name;    // as steps of preparation name it: the header up to the colon
  std::string header;  // as the file writes it
  ColumnType type = ColumnType::empty;
  std::int64_t count = 0;                          // cells that hold what the type says
  std::int64_t missing = 0;                        // empty; of numbers and dates also NA, NaN, null, ?, -
  std::int64_t unreadable = 0;                     // words among numbers, no date among dates, files that are not there
  std::vector<CellPlace> missingAt, unreadableAt;  // the first kListedCells
  std::int64_t distinct = 0;
  bool distinctMore = false;      // there are more than were told apart
  std::vector<ClassCount> words;  // the most frequent first, where there are no more than were told apart
  // Numbers, and dates as seconds since 1970.
  double low = 0, mean = 0, high = 0, deviation = 0;
  std::vector<std::int64_t> histogram;  // kColumnBins equal bins of [low, high], as numpy.histogram() counts them
  bool whole = false;                   // every number is a whole one
  bool percents = false;                // written with the sign
  bool blurred = false;                 // float32 makes equal numbers of different ones
  DateOrders orders;                    // dates
  bool dateHasTime = false;
  bool likelyClasses() const;  // a text or whole numbers of few values, each in several rows
};

// A row that is no data: another number of cells than the header, or words where all else are numbers (a header that
// stands again, a line of units, a note).
struct StrayRow {
  std::int64_t row = 0, line = 0;
  std::string text, why;
};

// Some rows, spread evenly over the file, as text: what previews are made of.
struct TableSample {
  std::vector<std::string> header;
  std::vector<std::int64_t> rows, lines;
  std::vector<std::vector<std::string>> cells;
};

struct TableFacts {
  CsvFormat format;
  std::vector<ColumnFacts> columns;  // in the order of the file; those that begin with '#' too
  std::int64_t rows = 0;             // read so far, blank lines left out
  std::int64_t bytesDone = 0, bytesTotal = 0;
  double seconds = 0;
  bool whole = false;            // read to its end, and histograms exact; before that they are of the sample
  std::vector<Fault> told;       // of the header and the file: names with blanks, a first line that looks like a row
  std::vector<StrayRow> strays;  // the first hundred
  std::int64_t strayRows = 0;
  std::shared_ptr<const TableSample> sample;
  // Where every few hundred kilobytes begin: for readTableRows().
  struct Place {
    std::int64_t row, line, byte;
  };
  std::vector<Place> places;

  const ColumnFacts* find(std::string_view name) const;
  Json toJson() const;
};

struct AnalyseOptions {
  CsvFormatChoice format;
  int threads = 0;  // 0 = cores; the result does not depend on it
  // Called with what is known so far: soon after the first rows, then a few times a second. False cancels
  // (Error stopped).
  std::function<bool(const TableFacts&)> progress;
};

// Throws Error(missingFile, inputOutput, badData) for what is no text, Error(stopped).
TableFacts analyseTable(const std::filesystem::path& csv, const AnalyseOptions& options = {});

// Rows [first, first + count) of the file as text, from an analysis of it (whole or not: rows that were read by then).
TableSample readTableRows(const std::filesystem::path& csv, const TableFacts& facts, std::int64_t first,
                          std::int64_t count);

}  // namespace loom
