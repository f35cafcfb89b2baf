#include "engine/data/columns/table_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "engine/data/cell_number.h"
#include "engine/data/columns/date.h"
#include "engine/data/csv_cells.h"
#include "engine/data/sample_files.h"

namespace loom {
namespace {

constexpr std::size_t kListedStrays = 100;

// One record, parsed once.
struct RecordCells {
  std::vector<NumberKind> kinds;
  std::vector<double> values;
  std::vector<std::string_view> texts;  // of what is no plain number
  std::vector<std::string> unquoted;    // by column
  std::size_t count = 0;
};

// Reads the record at `p`; false for a quote that is never closed.
bool takeRecord(const CsvFormat& format, const char*& p, const char* end, RecordCells& record, std::int64_t& line,
                std::string& scratch) {
  const bool plain = format.decimal == '.' && format.thousands == 0;
  const std::size_t most = record.kinds.size();
  record.count = 0;
  bool closed = true;
  for (bool last = false; !last; ++record.count) {
    const std::size_t c = record.count;
    const char* const begin = p;
    double value;
    if (plain && c < most && !format.isPercent(c)) {
      if (const char* behind = doubleFast(p, value)) {
        const char* stop = behind;
        if (*stop == '\r' && stop[1] == '\n') ++stop;
        if (*stop == format.separator || *stop == '\n') {
          record.kinds[c] = NumberKind::number;
          record.values[c] = value;
          record.texts[c] = {begin, static_cast<std::size_t>(behind - begin)};
          last = *stop == '\n';
          line += last;
          p = stop + 1;
          continue;
        }
      }
    }
    const CsvCell cell = takeCell(p, end, scratch, format.separator);
    last = cell.last;
    line += cell.lines;
    closed = closed && !cell.open;
    if (c >= most) continue;
    const bool own = cell.text.empty() || (cell.text.data() >= begin && cell.text.data() < end);
    if (!own) record.unquoted[c] = cell.text;
    record.texts[c] = own ? cell.text : std::string_view(record.unquoted[c]);
    record.kinds[c] = cellNumber(record.texts[c], format, c, record.values[c]);
  }
  return closed;
}

bool isBlankText(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void list(std::vector<CellPlace>& places, std::int64_t row, std::int64_t line, std::string_view text) {
  if (places.size() < kListedCells) places.push_back({row, line, std::string(text.substr(0, 200))});
}

void countWord(const TableReading& reading, ColumnCounts& column, std::string_view text, std::int64_t row,
               std::int64_t line) {
  ++column.words;
  column.differentWords.add(text);
  Date date;
  bool isDate = false;
  if (text.size() >= 6 && text.size() <= 40 && text.find_first_of("0123456789") <= 1) {
    constexpr DateOrder orders[] = {DateOrder::yearFirst, DateOrder::dayFirst, DateOrder::monthFirst};
    for (std::size_t i = 0; i < 3; ++i) {
      if (!parseDate(text, orders[i], date)) continue;
      ++column.orders[i];
      if (!isDate) column.seconds.push_back(date.seconds());
      isDate = true;
      column.dateHasTime |= date.hasTime;
    }
  }
  column.dates += isDate;
  if (!isDate) list(column.noDateAt, row, line, text);
  const SampleEnding* const file = sampleEndingOf(text);
  const bool picture = file && file->kind == SampleFileKind::picture,
             sound = file && file->kind == SampleFileKind::sound,
             matrix = (file && file->kind == SampleFileKind::array) || text.ends_with(".csv");
  column.pictures += picture;
  column.sounds += sound;
  column.matrices += matrix;
  if (picture || sound || matrix) {
    std::string path(text);
    std::replace(path.begin(), path.end(), '\\', '/');
    struct stat status {};
    if (::stat((reading.folder / path).c_str(), &status) != 0) {
      ++column.absent;
      list(column.absentAt, row, line, text);
    }
  }
  list(column.wordAt, row, line, text);
}

void countCell(const TableReading& reading, ColumnCounts& column, const RecordCells& record, std::size_t c,
               std::int64_t row, std::int64_t line) {
  const NumberKind kind = record.kinds[c];
  if (kind == NumberKind::number) {
    const double value = record.values[c];
    ++column.numbers;
    column.values.push_back(value);
    if (!column.distinct.full()) column.distinct.add(value);
    if (column.numberAt.size() < kListedCells) list(column.numberAt, row, line, record.texts[c]);
  } else if (isBlankText(record.texts[c])) {
    ++column.empty;
    list(column.emptyAt, row, line, {});
  } else if (kind == NumberKind::empty) {
    ++column.markers;
    list(column.markerAt, row, line, record.texts[c]);
    column.differentWords.add(record.texts[c]);
  } else {
    countWord(reading, column, record.texts[c], row, line);
  }
}

// Why the record is no data, or nothing.
std::string strayReason(const TableReading& reading, const RecordCells& record, bool closed) {
  if (!closed) return "a quote is opened and never closed";
  if (record.count != reading.header.size())
    return fmt::format("it has {} cells, the header has {}", record.count, reading.header.size());
  if (std::equal(record.texts.begin(), record.texts.end(), reading.header.begin())) return "the header stands again";
  std::size_t numbers = 0, words = 0;
  for (std::size_t c = 0; c < record.count; ++c) {
    if (!reading.expectsNumbers[c]) continue;
    ++numbers;
    words += record.kinds[c] == NumberKind::text;
  }
  if (numbers >= 2 && words >= 2 && 2 * words >= numbers)
    return fmt::format("{} of {} columns of numbers hold words", words, numbers);
  return {};
}

template <class Visit>
void forRecords(const TableReading& reading, TableBlock& block, const Visit& visit) {
  const char* p = block.block.buffer.data() + block.offset;
  const char* const end = block.block.buffer.data() + block.block.size;
  std::int64_t line = block.line;
  std::string scratch;
  RecordCells record;
  record.kinds.resize(reading.header.size());
  record.values.resize(reading.header.size());
  record.texts.resize(reading.header.size());
  record.unquoted.resize(reading.header.size());
  while (p < end) {
    if (const char* blank = skipBlankLine(p, end)) {
      p = blank;
      ++line;
      continue;
    }
    const char* const begin = p;
    const std::int64_t here = line;
    const bool closed = takeRecord(reading.format, p, end, record, line, scratch);
    visit(record, closed, here, std::string_view(begin, static_cast<std::size_t>(p - begin)));
  }
}

}  // namespace

void ColumnCounts::Spread::add(const std::vector<double>& values) {
  if (values.empty()) return;
  Spread block;
  block.count = static_cast<double>(values.size());
  double sum = 0;
  block.low = block.high = values[0];
  for (const double value : values) {
    sum += value;
    block.low = std::min(block.low, value);
    block.high = std::max(block.high, value);
  }
  block.mean = sum / block.count;
  for (const double value : values) block.squares += (value - block.mean) * (value - block.mean);
  merge(block);
}

void ColumnCounts::Spread::merge(const Spread& other) {
  if (other.count == 0) return;
  low = count == 0 ? other.low : std::min(low, other.low);
  high = count == 0 ? other.high : std::max(high, other.high);
  const double total = count + other.count, difference = other.mean - mean;
  squares += other.squares + difference * difference * count * other.count / total;
  mean += difference * other.count / total;
  count = total;
}

void ColumnCounts::clear() {
  numbers = words = empty = markers = dates = pictures = sounds = matrices = absent = 0;
  orders = {};
  dateHasTime = false;
  whole = true;
  values.clear();
  seconds.clear();
  number = date = {};
  distinct.clear();
  differentWords.clear();
  for (auto* places : {&emptyAt, &markerAt, &wordAt, &numberAt, &noDateAt, &absentAt}) places->clear();
}

void ColumnCounts::merge(const ColumnCounts& block, std::int64_t rowsBefore) {
  numbers += block.numbers;
  words += block.words;
  empty += block.empty;
  markers += block.markers;
  dates += block.dates;
  pictures += block.pictures;
  sounds += block.sounds;
  matrices += block.matrices;
  absent += block.absent;
  for (std::size_t i = 0; i < 3; ++i) orders[i] += block.orders[i];
  dateHasTime |= block.dateHasTime;
  whole = whole && block.whole;
  number.merge(block.number);
  date.merge(block.date);
  distinct.merge(block.distinct);
  differentWords.merge(block.differentWords);
  const auto take = [&](std::vector<CellPlace>& own, const std::vector<CellPlace>& its) {
    for (const CellPlace& place : its)
      if (own.size() < kListedCells) own.push_back({place.row + rowsBefore, place.line, place.text});
  };
  take(emptyAt, block.emptyAt);
  take(markerAt, block.markerAt);
  take(wordAt, block.wordAt);
  take(numberAt, block.numberAt);
  take(noDateAt, block.noDateAt);
  take(absentAt, block.absentAt);
}

void countBlock(const TableReading& reading, TableBlock& block) {
  block.columns.resize(reading.header.size());
  for (ColumnCounts& column : block.columns) column.clear();
  block.rows = block.strayRows = 0;
  block.strays.clear();
  block.sample = {};
  forRecords(reading, block, [&](RecordCells& record, bool closed, std::int64_t line, std::string_view text) {
    const std::int64_t row = block.rows++;
    if (std::string why = strayReason(reading, record, closed); !why.empty()) {
      ++block.strayRows;
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
      if (block.strays.size() < kListedStrays)
        block.strays.push_back({row, line, std::string(text.substr(0, 300)), std::move(why)});
      return;
    }
    for (std::size_t c = 0; c < record.count; ++c) countCell(reading, block.columns[c], record, c, row, line);
    if (line % reading.sampleEvery != 0 && static_cast<std::size_t>(row) >= reading.sampleFirst) return;
    block.sample.rows.push_back(row);
    block.sample.lines.push_back(line);
    block.sample.cells.emplace_back(record.texts.begin(), record.texts.end());
  });
  for (ColumnCounts& column : block.columns) {
    column.number.add(column.values);
    column.date.add(column.seconds);
    column.whole = std::all_of(column.values.begin(), column.values.end(),
                               [](double value) { return value == std::floor(value); });
  }
}

std::size_t binOf(double value, double low, double high) {
  constexpr auto kLast = static_cast<std::size_t>(kColumnBins - 1);
  const double width = (high - low) / kColumnBins;
  const auto edge = [&](std::size_t bin) { return bin > kLast ? high : low + static_cast<double>(bin) * width; };
  auto bin = std::min(static_cast<std::size_t>((value - low) * (kColumnBins / (high - low))), kLast);
  if (value < edge(bin)) --bin;
  if (bin != kLast && value >= edge(bin + 1)) ++bin;
  return bin;
}

void countBins(const TableReading& reading, TableBlock& block) {
  block.bins.assign(reading.header.size(), std::vector<std::int64_t>(kColumnBins, 0));
  Date date;
  forRecords(reading, block, [&](RecordCells& record, bool closed, std::int64_t, std::string_view) {
    if (!strayReason(reading, record, closed).empty()) return;
    for (std::size_t c = 0; c < record.count; ++c) {
      const TableReading::Range& range = reading.ranges[c];
      if (!range.counts) continue;
      double value = record.values[c];
      if (range.dates) {
        constexpr DateOrder orders[] = {DateOrder::yearFirst, DateOrder::dayFirst, DateOrder::monthFirst};
        if (std::none_of(std::begin(orders), std::end(orders),
                         [&](DateOrder order) { return parseDate(record.texts[c], order, date); }))
          continue;
        value = date.seconds();
      } else if (record.kinds[c] != NumberKind::number) {
        continue;
      }
      ++block.bins[c][range.high > range.low ? binOf(value, range.low, range.high) : kColumnBins / 2];
    }
  });
}

}  // namespace loom
