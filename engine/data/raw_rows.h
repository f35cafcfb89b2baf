#pragma once
// A CSV as text, record by record: what is shown of a file that cannot be opened, and what repairs it.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace loom {

// `visit(line, cells)` for each record behind the header, blank lines left out; false ends it. Answers the header's
// cells. Throws Error(missingFile, inputOutput, badData) for what is no text at all.
using RecordVisitor = std::function<bool(std::int64_t line, const std::vector<std::string>& cells)>;
std::vector<std::string> readRecords(const std::filesystem::path& csv, const RecordVisitor& visit);

// Different words of columns (by header, as written), in alphabetical order.
std::map<std::string, std::vector<std::string>> wordsOf(const std::filesystem::path& csv,
                                                        const std::vector<std::string>& columns);

struct Repair {
  std::vector<std::string> leaveOut;  // headers of columns: '#' is put before them
  // Headers of columns of words, which become classes 0, 1, 2 ...: the numbers of words that are known already (another
  // dataset's), in their order; new words follow in alphabetical order.
  std::map<std::string, std::vector<std::string>> encode;
  std::vector<std::int64_t> skip;  // lines of the file whose rows are left out
  bool skipFaulty = false;         // rows with an error that is left after that
};
struct RepairedCsv {
  std::filesystem::path csv;
  std::int64_t rows = 0, skipped = 0;
  std::map<std::string, std::vector<std::string>> classes;  // by header: the words of class 0, 1, 2 ...
};

// A copy beside the file, NAME.clean.csv (or clean2, ...); the file itself stays as it is. Words of encoded columns
// stand in NAME.clean.VARIABLE.classes.txt, one a line; those of earlier repairs come along. Throws Error.
RepairedCsv repairCsv(const std::filesystem::path& csv, const Repair& repair);

// Where the words of a variable's classes stand beside a CSV; classes.txt of the folder where it has none of its own.
std::filesystem::path classWordsPath(const std::filesystem::path& csv, const std::string& variable);
std::vector<std::string> classWords(const std::filesystem::path& csv, const std::string& variable);

}  // namespace loom
