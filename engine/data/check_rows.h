#pragma once
// What a check gathers while it reads the rows of a dataset; check_report.cpp says what follows from it.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/check.h"
#include "engine/data/csv_rows.h"

namespace loom {

// Beyond these (480 MB of them) duplicates are looked for among the first rows only.
inline constexpr std::size_t kMostHashes = 20'000'000;

struct RowHash {
  std::uint64_t input, row;
  std::int64_t line;
};
struct NumberColumn {
  std::string header;
  std::size_t variable = 0;
  std::size_t element = 0;
  float low = std::numeric_limits<float>::infinity(), high = -std::numeric_limits<float>::infinity();
};
struct ClipColumn {
  std::string header;
  std::size_t variable = 0;
  std::map<int, ClipFacts::Lengths> byRate;
};
struct PictureColumn {
  std::string header;
  std::size_t variable = 0;
  std::map<std::uint64_t, std::int64_t> rows;  // by size: VariablePlan::extentsOf()
};
struct LabelColumn {
  std::size_t variable = 0;
  std::string header;
  std::int64_t classes = 0;  // 0: any number of them
  bool sure = false;         // named as a label, so that other numbers are faults
  bool integers = true;
  std::vector<std::int64_t> counts;
};

// What tells one sample from another: everything that is no single number (images, vectors), or all there is.
void hashRows(const RowParser& parser, RowChunk& chunk);

class CheckedRows {
 public:
  // All three are used while this lives.
  CheckedRows(const std::filesystem::path& csv, const CheckOptions& options, CheckReport& report)
      : csv(csv), options(options), report(report) {}

  void read();
  // Counts a chunk's labels; those that can be none are faults.
  void takeLabels(LabelColumn& label, const RowChunk& chunk);
  // Asks options.progress; throws Error(stopped) where a person wants it. Bytes of the file.
  void tell(std::int64_t done, std::int64_t total);

  void add(Fault fault);
  void merge(const RowFaults& faults);  // lists what there is room for, counts all
  // What ends the reading of `file` becomes a finding; only a person's wish to stop goes on.
  void guarded(const std::filesystem::path& file, const std::function<void()>& work);

  const std::filesystem::path& csv;
  const CheckOptions& options;
  CheckReport& report;
  std::vector<VariablePlan> plan;
  bool files = false;  // cells name files
  std::vector<NumberColumn> numbers;
  std::vector<LabelColumn> labels;
  std::vector<ClipColumn> clips;
  std::vector<PictureColumn> pictures;
  std::vector<RowHash> hashes;
  std::map<std::pair<std::string, FaultKind>, std::int64_t> words;  // cells that hold some, by column

 private:
  void begin(const CsvHeader& header, const RowParser& parser);
  void takeRows(RowChunk& chunk);
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now(), m_told{};
};

// Adds what the rows say together: duplicates, samples that both datasets hold, columns, classes.
void reportRows(CheckedRows& rows);

}  // namespace loom
