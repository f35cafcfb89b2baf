#pragma once
// How a CSV is written: what separates cells, what a decimal looks like, which bytes are letters. Recognised from the
// beginning of the file; what a person chose for the dataset goes before.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

enum class CsvEncoding { utf8, utf16Little, utf16Big, windows1252 };

struct CsvFormat {
  CsvEncoding encoding = CsvEncoding::utf8;
  char separator = ',';        // ',' ';' or '\t'
  char decimal = '.';          // '.' or ','
  char thousands = 0;          // ',' '.' ' ' '\'' or none
  bool mark = false;           // begins with a byte order mark
  bool separatorLine = false;  // Excel's line "sep=;" stands before the header
  bool header = true;          // false: the first line is a row already; columns are called c1, c2, ...
  // Columns whose numbers are percents, by place: "12 %" is read as 12, and a number without the sign is none of them.
  // In every other column "12 %" is a word.
  std::vector<bool> percents;
  bool isPercent(std::size_t column) const { return column < percents.size() && percents[column]; }
  // Cells can be handed on as they stand.
  bool plain() const {
    return separator == ',' && decimal == '.' && thousands == 0 && header &&
           std::find(percents.begin(), percents.end(), true) == percents.end();
  }
  std::string text() const;  // "semicolons, decimal comma, percents in column 3, Windows-1252"
  bool operator==(const CsvFormat&) const = default;
};

// What a dataset's fields say; "auto" is recognised. Others are the ids of datasetEntry()'s choices.
struct CsvFormatChoice {
  std::string separator = "auto";  // comma, semicolon, tab
  std::string decimal = "auto";    // point, comma
  std::string thousands = "auto";  // none, comma, point, blank, apostrophe
  std::string encoding = "auto";   // utf-8, utf-16, windows-1252
  bool header = true;
  bool operator==(const CsvFormatChoice&) const = default;
};

// Reads the first quarter of a megabyte. Throws Error(missingFile, inputOutput, badData): an empty file, a folder, a
// picture ...
CsvFormat recogniseCsv(const std::filesystem::path& csv, const CsvFormatChoice& choice = {});

// Whole characters of `bytes` as UTF-8 at the end of `out`; answers how many bytes were used up. Throws nothing: what
// is no character becomes U+FFFD.
std::size_t toUtf8(CsvEncoding encoding, std::string_view bytes, std::vector<char>& out);

}  // namespace loom
