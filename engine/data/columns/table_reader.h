#pragma once
// Blocks of a CSV counted column by column: what analyseTable() adds up.
#include <array>
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"
#include "engine/data/columns/distinct.h"
#include "engine/data/csv_blocks.h"

namespace loom {

// One column of a block, or of all blocks so far. Which of it counts depends on the type, known at the end.
struct ColumnCounts {
  std::int64_t numbers = 0, words = 0, empty = 0, markers = 0;     // markers: NA, null, ? ... among them no empty cells
  std::int64_t dates = 0, pictures = 0, sounds = 0, matrices = 0;  // of the words
  std::int64_t absent = 0;                                         // files that are not there
  std::array<std::int64_t, 3> orders{};                            // dates that read so: year, day, month first
  bool dateHasTime = false, whole = true;
  std::vector<double> values, seconds;  // of a block, cleared when they were counted
  struct Spread {
    double count = 0, mean = 0, squares = 0, low = 0, high = 0;
    void add(const std::vector<double>& values);
    void merge(const Spread& other);
  };
  Spread number, date;
  DistinctNumbers distinct{static_cast<std::size_t>(kMostDistinct / 10)};
  DistinctWords differentWords{static_cast<std::size_t>(kMostDistinct)};
  std::vector<CellPlace> emptyAt, markerAt, wordAt, numberAt, noDateAt, absentAt;

  void clear();
  void merge(const ColumnCounts& block, std::int64_t rowsBefore);
};

struct TableBlock {
  bool isFirst = false;  // of the file
  CsvBlock block;
  std::size_t offset = 0;
  std::int64_t line = 1;
  std::int64_t rows = 0, strayRows = 0;
  std::vector<ColumnCounts> columns;
  std::vector<StrayRow> strays;
  TableSample sample;  // of its rows
  std::vector<std::vector<std::int64_t>> bins;
};

// How blocks are read; fixed before the second one.
struct TableReading {
  CsvFormat format;
  std::filesystem::path folder;
  std::vector<std::string> header;
  std::vector<bool> expectsNumbers;  // columns that hold numbers in most of the first rows
  std::int64_t sampleEvery = 1;      // lines
  std::size_t sampleFirst = 0;       // rows of a block that are kept in any case
  // Second time through: histograms alone, of [low, high] of each column; of dates where it says so.
  struct Range {
    bool counts = false, dates = false;
    double low = 0, high = 0;
  };
  std::vector<Range> ranges;
};

void countBlock(const TableReading& reading, TableBlock& block);
void countBins(const TableReading& reading, TableBlock& block);
// As numpy.histogram() puts a value into `kColumnBins` equal bins.
std::size_t binOf(double value, double low, double high);

}  // namespace loom
