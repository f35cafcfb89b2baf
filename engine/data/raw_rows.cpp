#include "engine/data/raw_rows.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/csv_cells.h"
#include "engine/data/csv_rows.h"
#include "engine/data/import_images.h"

namespace loom {
namespace {

constexpr std::size_t kMostWords = 10'000;

std::string variableOf(const std::string& header) {
  return header.substr(0, header.find(':'));
}

// The header's variable names are paths' parts here: what could not stand in a file name is left out.
std::string asFileName(std::string text) {
  std::erase_if(text, [](unsigned char c) { return c < 32 || c == '/' || c == '\\'; });
  return text;
}

std::filesystem::path freeCopy(const std::filesystem::path& csv) {
  std::string stem = csv.stem().string();
  if (const auto clean = stem.rfind(".clean"); clean != std::string::npos) stem.resize(clean);
  for (int number = 1;; ++number) {
    const auto path =
        csv.parent_path() / fmt::format("{}.clean{}.csv", stem, number == 1 ? std::string() : std::to_string(number));
    if (!std::filesystem::exists(path)) return path;
  }
}

// Lines of rows that the file, so repaired, still has errors in.
std::set<std::int64_t> faultyLines(const std::filesystem::path& csv) {
  std::set<std::int64_t> lines;
  RowConsumer consumer;
  consumer.rows = [&](RowChunk& chunk, RowFaults&, std::int64_t, std::int64_t) {
    for (std::size_t row = 0; row < static_cast<std::size_t>(chunk.rows); ++row)
      if (chunk.bad[row]) lines.insert(chunk.lines[row]);
  };
  readRows({.csv = csv, .collect = true, .listed = 0}, consumer);
  return lines;
}

struct Rewrite {
  std::map<std::size_t, std::map<std::string, std::size_t>> numbers;  // by column: the class of each word
  std::set<std::size_t> left;
  std::set<std::int64_t> skipped;
};

std::int64_t writeCopy(const std::filesystem::path& from, const std::filesystem::path& to, const Rewrite& how,
                       std::vector<std::string> header) {
  std::int64_t rows = 0;
  writeFileAtomically(to, [&](const Append& append) {
    std::string text;
    const auto put = [&](const std::vector<std::string>& cells) {
      for (std::size_t c = 0; c < cells.size(); ++c) {
        if (c > 0) text += ',';
        text += csvCell(cells[c]);
      }
      text += '\n';
      if (text.size() > 1'000'000) append(text.data(), text.size()), text.clear();
    };
    for (const std::size_t column : how.left) header[column].insert(header[column].begin(), '#');
    for (const auto& [column, words] : how.numbers)
      if (header[column].find(':') == std::string::npos) header[column] += ":label";
    put(header);
    readRecords(from, [&](std::int64_t line, const std::vector<std::string>& cells) {
      if (how.skipped.contains(line)) return true;
      std::vector<std::string> changed = cells;
      for (const auto& [column, words] : how.numbers)
        if (column < changed.size())
          if (const auto found = words.find(changed[column]); found != words.end())
            changed[column] = std::to_string(found->second);
      put(changed);
      ++rows;
      return true;
    });
    append(text.data(), text.size());
  });
  return rows;
}

}  // namespace

std::vector<std::string> readRecords(const std::filesystem::path& csv, const RecordVisitor& visit) {
  const CsvFormat format = recogniseCsv(csv);
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
      header = takeHeader(
          block.text(), offset, lines, [](Fault) {}, format.separator);
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
                                                        const std::vector<std::string>& columns) {
  const std::vector<std::string> header =
      readRecords(csv, [](std::int64_t, const std::vector<std::string>&) { return false; });
  std::map<std::size_t, std::set<std::string>> found;
  for (const std::string& column : columns) {
    const auto at = std::find(header.begin(), header.end(), column);
    if (at == header.end())
      throwError(ErrorCode::badArgument, "{} has no column '{}'", csv.filename().string(), column);
    found[static_cast<std::size_t>(at - header.begin())];
  }
  readRecords(csv, [&](std::int64_t, const std::vector<std::string>& cells) {
    for (auto& [column, words] : found)
      if (column < cells.size() && !cells[column].empty() && words.size() <= kMostWords) words.insert(cells[column]);
    return true;
  });
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [column, words] : found) all[header[column]].assign(words.begin(), words.end());
  return all;
}

RepairedCsv repairCsv(const std::filesystem::path& csv, const Repair& repair) {
  RepairedCsv result;
  result.csv = freeCopy(csv);
  std::vector<std::string> encoded;
  for (const auto& [column, known] : repair.encode) encoded.push_back(column);
  const std::vector<std::string> header =
      readRecords(csv, [](std::int64_t, const std::vector<std::string>&) { return false; });
  const auto indexOf = [&](const std::string& column) {
    const auto at = std::find(header.begin(), header.end(), column);
    if (at == header.end())
      throwError(ErrorCode::badArgument, "{} has no column '{}'", csv.filename().string(), column);
    return static_cast<std::size_t>(at - header.begin());
  };
  Rewrite how;
  for (const std::string& column : repair.leaveOut) how.left.insert(indexOf(column));
  for (const auto& [column, words] : wordsOf(csv, encoded)) {
    if (words.size() > kMostWords)
      throwError(ErrorCode::badData, "column '{}' has more than {} different words, which are no classes; leave it out",
                 column, kMostWords);
    std::vector<std::string> classes = repair.encode.at(column);
    for (const std::string& word : words)
      if (std::find(classes.begin(), classes.end(), word) == classes.end()) classes.push_back(word);
    auto& numbers = how.numbers[indexOf(column)];
    for (std::size_t i = 0; i < classes.size(); ++i) numbers.emplace(classes[i], i);
    result.classes[column] = std::move(classes);
  }
  how.skipped.insert(repair.skip.begin(), repair.skip.end());
  result.rows = writeCopy(csv, result.csv, how, header);
  result.skipped = static_cast<std::int64_t>(repair.skip.size());
  if (repair.skipFaulty) {
    // Line numbers of the copy may differ from the file's (blank lines are gone): the copy is what is looked at and
    // written.
    Rewrite rest;
    rest.skipped = faultyLines(result.csv);
    result.skipped += static_cast<std::int64_t>(rest.skipped.size());
    if (static_cast<std::int64_t>(rest.skipped.size()) == result.rows) {
      std::filesystem::remove(result.csv);
      throwError(ErrorCode::badData, "every row of {} has a fault: mend or leave out the columns at fault first",
                 csv.filename().string());
    }
    const std::vector<std::string> now =
        readRecords(result.csv, [](std::int64_t, const std::vector<std::string>&) { return false; });
    if (!rest.skipped.empty()) result.rows = writeCopy(result.csv, result.csv, rest, now);
  }
  const std::string before = csv.stem().string() + ".";
  std::error_code ignored;
  const auto folder = csv.parent_path().empty() ? std::filesystem::path(".") : csv.parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(before) || !name.ends_with(".classes.txt")) continue;
    const auto copy = result.csv.parent_path() / (result.csv.stem().string() + "." + name.substr(before.size()));
    if (name.find(".clean", before.size() - 1) == std::string::npos)
      std::filesystem::copy_file(entry.path(), copy, std::filesystem::copy_options::skip_existing, ignored);
  }
  for (const auto& [column, words] : result.classes) {
    std::string text;
    for (const std::string& word : words) text += word + "\n";
    writeFileAtomically(classWordsPath(result.csv, variableOf(column)), text);
  }
  return result;
}

std::filesystem::path classWordsPath(const std::filesystem::path& csv, const std::string& variable) {
  return csv.parent_path() / fmt::format("{}.{}.classes.txt", csv.stem().string(), asFileName(variable));
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
