#include "engine/training/prediction_csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "engine/data/csv_blocks.h"
#include "engine/data/csv_cells.h"

namespace loom {
namespace {

constexpr std::int64_t kMostColumns = 1000;

// NumPy's format 1.0: float32, row-major.
void writeNpy(const std::filesystem::path& path, const Shape& shape, std::span<const float> values) {
  std::string extents;
  for (const std::int64_t extent : shape) extents += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}), }}", extents);
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  writeFileAtomically(path, [&](const Append& append) {
    append("\x93NUMPY\x01\x00", 8);
    append(&length, sizeof length);
    append(header.data(), header.size());
    append(values.data(), values.size_bytes());
  });
}

// As a cell: in quotes where it would be read as something else.
std::string asCell(const std::string& word, char separator) {
  if (word.find_first_of(std::string("\"\r\n") + separator) == std::string::npos) return word;
  std::string cell = "\"";
  for (const char c : word) cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

// As a part of a column's name: what a header would read as something else is left out.
std::string asName(std::string word) {
  std::replace(word.begin(), word.end(), ':', ' ');
  for (auto at = word.find("__"); at != std::string::npos; at = word.find("__")) word.erase(at, 1);
  while (!word.empty() && word.front() == '_') word.erase(0, 1);
  return word;
}

// Whether each value of a row has a class whose word can be its column's name.
bool namesClasses(const PredictedOutput& output) {
  if (output.kind != OutputKind::classes || output.shape.elements() != static_cast<std::int64_t>(output.classes.size()))
    return false;
  std::set<std::string> names{kWordColumn + 1};
  return std::all_of(output.classes.begin(), output.classes.end(), [&](const std::string& word) {
    const std::string name = asName(word);
    return !name.empty() && names.insert(name).second;
  });
}

}  // namespace

// The text of one record after another as UTF-8, as it stands in the file.
class PredictionCsv::Records {
 public:
  Records(const std::filesystem::path& csv, const CsvFormatChoice& format)
      : m_format(recogniseCsv(csv, format)), m_reader(csv, std::size_t{1} << 20, m_format) {}
  // Before the first record: its columns' names, c1, c2, ... where it says none.
  std::string header() {
    const std::string first(next());
    if (m_format.header) return first;
    std::string names, scratch;
    int column = 0;
    m_at = m_record;
    const char* const end = m_block.buffer.data() + m_block.size;
    for (bool last = m_at == nullptr; !last;) {
      last = takeCell(m_at, end, scratch, m_format.separator).last;
      if (column > 0) names += m_format.separator;
      names += fmt::format("c{}", ++column);
    }
    m_at = m_record;
    return names;
  }
  std::string_view next() {
    const char* end = m_block.buffer.data() + m_block.size;
    for (;;) {
      while (const char* behind = m_at < end ? skipBlankLine(m_at, end) : nullptr) m_at = behind;
      if (m_at < end) break;
      if (!m_reader.next(m_block)) return {};
      m_at = m_block.buffer.data();
      end = m_at + m_block.size;
    }
    const char* const begin = m_record = m_at;
    std::string scratch;
    while (m_at < end && !takeCell(m_at, end, scratch, m_format.separator).last) {
    }
    std::string_view record(begin, static_cast<std::size_t>(m_at - begin));
    while (!record.empty() && (record.back() == '\n' || record.back() == '\r')) record.remove_suffix(1);
    return record;
  }
  char separator() const { return m_format.separator; }
  // With the file's own decimal mark.
  std::string number(float value) const {
    std::string text = fmt::format("{}", value);
    if (m_format.decimal == ',') std::replace(text.begin(), text.end(), '.', ',');
    return text;
  }

 private:
  CsvFormat m_format;
  CsvBlockReader m_reader;
  CsvBlock m_block;
  const char *m_at = nullptr, *m_record = nullptr;  // the next one, and the last that was answered
};

bool hasWord(const PredictedOutput& output) {
  const std::int64_t values = output.shape.elements();
  return !output.classes.empty() && !goesIntoFiles(output.shape) &&
         (output.kind == OutputKind::classes || (output.kind == OutputKind::chance && values == 1));
}

bool goesIntoFiles(const Shape& shape) {
  return shape.rank() > 1 || shape.elements() > kMostColumns;
}

std::vector<std::string> predictedColumns(const std::vector<PredictedOutput>& outputs) {
  std::vector<std::string> columns;
  for (const PredictedOutput& output : outputs) {
    const std::int64_t values = output.shape.elements();
    const bool named = namesClasses(output);
    if (goesIntoFiles(output.shape) || values == 1)
      columns.push_back(output.name);
    else
      for (std::int64_t i = 0; i < values; ++i)
        columns.push_back(named ? fmt::format("{}_{}", output.name, asName(output.classes[static_cast<std::size_t>(i)]))
                                : fmt::format("{}__{}", output.name, i));
    if (hasWord(output)) columns.push_back(output.name + kWordColumn);
  }
  return columns;
}

PredictionCsv::PredictionCsv(const std::filesystem::path& read, const CsvFormatChoice& format,
                             const std::filesystem::path& out, const std::vector<PredictedOutput>& outputs)
    : m_records(std::make_unique<Records>(read, format)),
      m_outputs(outputs),
      m_files(out.parent_path() / (out.stem().string() + "_files")) {
  for (const PredictedOutput& output : outputs)
    if (goesIntoFiles(output.shape)) std::filesystem::create_directories(m_files);
}

PredictionCsv::~PredictionCsv() = default;

void PredictionCsv::header(const Append& append) {
  std::string text = m_records->header();
  for (const std::string& column : predictedColumns(m_outputs))
    text += m_records->separator() + asCell(column, m_records->separator());
  text += "\n";
  append(text.data(), text.size());
}

void PredictionCsv::row(const Append& append, std::span<const std::span<const float>> values) {
  std::string text(m_records->next());
  for (std::size_t i = 0; i < m_outputs.size(); ++i) {
    const PredictedOutput& output = m_outputs[i];
    if (goesIntoFiles(output.shape)) {
      const std::string name = fmt::format("{}_{:08}.npy", output.name.substr(0, output.name.size() - 1), m_rows);
      writeNpy(m_files / name, output.shape, values[i]);
      text += m_records->separator() + (m_files.filename() / name).string();
    } else {
      for (const float value : values[i]) text += m_records->separator() + m_records->number(value);
      if (hasWord(output))
        text += m_records->separator() +
                asCell(classShares(output, {values[i].begin(), values[i].end()}).front().name, m_records->separator());
    }
  }
  text += "\n";
  ++m_rows;
  append(text.data(), text.size());
}

}  // namespace loom
