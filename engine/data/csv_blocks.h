#pragma once
// A CSV file as a sequence of blocks of whole records, read with plain reads into a few buffers: memory stays small
// however large the file is, and a file that is cut short while it is read gives an error instead of a signal.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/csv_format.h"

namespace loom {

// Whole records. `text` ends with a line break (one is added to a last line that has none) followed by a zero byte.
struct CsvBlock {
  std::vector<char> buffer;  // holds the text; its capacity is used again
  std::size_t size = 0;
  std::int64_t line = 1;   // of the file, where the block begins
  std::int64_t lines = 0;  // line breaks in it: no fewer than records
  std::int64_t end = 0;    // bytes of the file up to its end
  bool quotes = false;     // holds a '"' somewhere
  // Where each record began in the file, where the block was made of another one (ColumnPlan); else empty, and counted.
  std::vector<std::int64_t> rowLines;
  std::string_view text() const { return {buffer.data(), size}; }
};

class CsvBlockReader {
 public:
  // Blocks are UTF-8 whatever the file is; a line "sep=;" is passed over. Throws Error(missingFile, inputOutput,
  // badData): a folder, an empty file, an image ...
  explicit CsvBlockReader(const std::filesystem::path& path, std::size_t blockBytes = std::size_t{1} << 20,
                          const CsvFormat& format = {});
  ~CsvBlockReader();
  CsvBlockReader(const CsvBlockReader&) = delete;
  CsvBlockReader& operator=(const CsvBlockReader&) = delete;

  // The next records of about blockBytes, at most `records` of them; false at the end. Throws Error(badData) with the
  // line for a record longer than kLongestRecord (no line breaks, or a quote that is never closed).
  bool next(CsvBlock& block, std::int64_t records = INT64_MAX);

  std::int64_t fileSize() const { return m_fileSize; }
  // Goes on at a place that an earlier block ended at (CsvBlock::end), whose next line is `line`.
  void seek(std::int64_t byte, std::int64_t line);

  static constexpr std::size_t kLongestRecord = std::size_t{64} << 20;

 private:
  bool fill();
  std::size_t readSome(char* to, std::size_t bytes);
  std::int64_t bytesInFile(std::string_view text) const;
  std::size_t findEnd(std::int64_t records, std::int64_t& lines, bool& quotes);

  std::filesystem::path m_path;
  CsvFormat m_format;
  int m_file = -1;
  std::size_t m_blockBytes;
  std::vector<char> m_pending;  // read and not handed out: [m_begin, m_end)
  std::size_t m_begin = 0, m_end = 0;
  std::vector<char> m_raw;  // of another encoding: what is left of a character that was cut in two
  bool m_atEnd = false;
  std::int64_t m_line = 1, m_given = 0, m_fileSize = 0;
};

}  // namespace loom
