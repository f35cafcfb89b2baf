#include "engine/data/raw_rows.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/csv_cells.h"
#include "engine/data/csv_rows.h"

namespace loom {
namespace {

constexpr std::size_t kMostWords = 10'000;

// Where the words of a variable's classes stand beside a CSV. What could not stand in a file's name is left out.
std::filesystem::path classWordsPath(const std::filesystem::path& csv, std::string variable) {
  std::erase_if(variable, [](unsigned char c) { return c < 32 || c == '/' || c == '\\'; });
  return csv.parent_path() / fmt::format("{}.{}.classes.txt", csv.stem().string(), variable);
}

// In quotes where it would be read as something else.
void appendCell(std::string& text, std::string_view cell, char separator) {
  if (cell.find_first_of(std::string("\"\r\n") + separator) == std::string_view::npos) {
    text += cell;
    return;
  }
  text += '"';
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

}  // namespace

std::vector<std::string> readRecords(const std::filesystem::path& csv, const RecordVisitor& visit,
                                     const CsvFormatChoice& choice) {
  const CsvFormat format = recogniseCsv(csv, choice);
  CsvBlockReader reader(csv, std::size_t{1} << 20, format);
  CsvBlock block;
  std::vector<std::string> header, cells;
  std::string scratch;
  bool first = true;
  while (reader.next(block)) {
    const char* p = block.buffer.data();
    const char* const end = p + block.size;
    std::int64_t line = block.line;
    if (first) {
      std::size_t offset = 0;
      std::int64_t lines = 0;
      header = headerOf(block, format, offset, lines, [](Fault) {});
      p += offset;
      line += lines;
      first = false;
    }
    while (p < end) {
      if (const char* blank = skipBlankLine(p, end)) {
        p = blank;
        ++line;
        continue;
      }
      const std::int64_t here = line;
      cells.clear();
      for (bool last = false; !last;) {
        const CsvCell cell = takeCell(p, end, scratch, format.separator);
        cells.emplace_back(cell.text);
        line += cell.lines;
        last = cell.last;
      }
      if (!visit(here, cells)) return header;
    }
  }
  return header;
}

std::map<std::string, std::vector<std::string>> wordsOf(const std::filesystem::path& csv,
                                                        const std::vector<std::string>& columns,
                                                        const CsvFormatChoice& format) {
  const std::vector<std::string> header = readRecords(
      csv, [](std::int64_t, const std::vector<std::string>&) { return false; }, format);
  std::map<std::size_t, std::set<std::string>> found;
  for (const std::string& column : columns) {
    const auto at = std::find(header.begin(), header.end(), column);
    if (at == header.end())
      throwError(ErrorCode::badArgument, "{} has no column '{}'", csv.filename().string(), column);
    found[static_cast<std::size_t>(at - header.begin())];
  }
  readRecords(
      csv,
      [&](std::int64_t, const std::vector<std::string>& cells) {
        for (auto& [column, words] : found)
          if (column < cells.size() && !cells[column].empty() && words.size() <= kMostWords)
            words.insert(cells[column]);
        return true;
      },
      format);
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [column, words] : found) all[header[column]].assign(words.begin(), words.end());
  return all;
}

void rewriteCells(const std::filesystem::path& csv, const CsvFormatChoice& choice,
                  const std::vector<std::string>& columns, const CellChange& change, const std::filesystem::path& out) {
  const CsvFormat format = recogniseCsv(csv, choice);
  CsvBlockReader reader(csv, std::size_t{1} << 20, format);
  CsvBlock block;
  std::vector<bool> changes;  // by column
  std::string scratch, text;
  writeFileAtomically(out, [&](const Append& append) {
    for (bool first = true; reader.next(block); first = false) {
      const char* p = block.buffer.data();
      const char* const end = p + block.size;
      text.clear();
      if (first) {
        std::size_t offset = 0;
        std::int64_t lines = 0;
        const std::vector<std::string> header = headerOf(block, format, offset, lines, [](const Fault&) {});
        for (const std::string& cell : header)
          changes.push_back(std::find(columns.begin(), columns.end(), cell.substr(0, cell.find(':'))) != columns.end());
        if (std::count(changes.begin(), changes.end(), true) == 0)
          throwError(ErrorCode::badArgument, "{} has no column {}", csv.filename().string(), fmt::join(columns, ", "));
        text.append(p, offset);
        p += offset;
      }
      while (p < end) {
        if (const char* blank = skipBlankLine(p, end)) {
          p = blank;
          continue;
        }
        std::size_t column = 0;
        for (bool last = false; !last; ++column) {
          const char* const begin = p;
          const CsvCell cell = takeCell(p, end, scratch, format.separator);
          last = cell.last;
          if (column < changes.size() && changes[column]) {
            appendCell(text, change(std::string(cell.text)), format.separator);
            text += last ? '\n' : format.separator;
          } else {
            text.append(begin, p);
          }
        }
      }
      append(text.data(), text.size());
    }
  });
}

std::vector<std::string> classWords(const std::filesystem::path& csv, const std::string& variable) {
  std::vector<std::string> words;
  for (const std::filesystem::path& path : {classWordsPath(csv, variable), csv.parent_path() / "classes.txt"}) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    const std::string text = readFile(path, 1 << 20);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string word = text.substr(begin, end - begin);
      if (!word.empty() && word.back() == '\r') word.pop_back();
      if (!word.empty()) words.push_back(std::move(word));
      begin = end + 1;
    }
    break;
  }
  return words;
}

}  // namespace loom
