#include <algorithm>

#include "engine/data/csv_cells.h"
#include "engine/data/decode.h"
#include "engine/data/numbers.h"
#include "engine/data/text.h"

namespace loom {

void decodeMatrix(std::span<const std::byte> file, Sample& sample) {
  // The fast number reader needs a byte behind the last one that no number contains.
  std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  std::size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  if (text.empty() || text.back() != '\n') text += '\n';
  sample.kind = VariableKind::matrix;
  sample.type = DataType::f32;
  std::vector<float> values;
  std::int64_t rows = 0, columns = 0, line = 1;
  std::string scratch;
  const char* p = text.data() + begin;
  const char* const end = text.data() + text.size();
  while (p < end) {
    if (const char* blank = skipBlankLine(p, end)) {
      ++line;
      p = blank;
      continue;
    }
    std::int64_t cells = 0;
    bool last = false;
    const std::int64_t here = line;
    while (!last) {
      float value = 0;
      if (const char* behind = parseNumberFast(p, value); behind && (*behind == ',' || *behind == '\n')) {
        last = *behind == '\n';
        line += last;
        p = behind + 1;
      } else {
        const CsvCell cell = takeCell(p, end, scratch);
        last = cell.last;
        line += cell.lines;
        const NumberKind kind = parseNumber(cell.text, value);
        if (kind != NumberKind::number)
          throw DecodeError(
              fmt::format("line {}, cell {} of this data CSV is {}", here, cells + 1, quotedText(cell.text)),
              "finite numbers without a header are needed", "correct the cell, or remove the header line");
      }
      values.push_back(value);
      ++cells;
    }
    if (rows > 0 && cells != columns)
      throw DecodeError(fmt::format("line {} of this data CSV has {} cells", here, cells),
                        fmt::format("the lines before have {}", columns), "make all lines equally long");
    columns = cells;
    ++rows;
  }
  if (rows == 0)
    throw DecodeError("this data CSV holds no numbers", "at least one line of numbers is needed",
                      "fill the file or remove this sample");
  sample.shape = Shape{rows, columns};
  checkSampleSize(sample.shape, sample.type, "the data CSV");
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  sample.bytes.assign(bytes, bytes + values.size() * sizeof(float));
}

}  // namespace loom
