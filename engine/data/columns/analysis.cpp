#include "engine/data/columns/analysis.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/table_reader.h"
#include "engine/data/csv_cells.h"
#include "engine/data/csv_rows.h"
#include "engine/data/ordered_work.h"

namespace loom {
namespace {

constexpr std::size_t kSampled = 4000, kFirstSampled = 500;
constexpr std::size_t kStraysListed = 100;
using Clock = std::chrono::steady_clock;

bool isLabelled(const std::string& header) {
  return header.ends_with(":label") || header.ends_with(":class");
}

class TableAnalysis {
 public:
  TableAnalysis(const std::filesystem::path& csv, const AnalyseOptions& options) : m_csv(csv), m_options(options) {
    m_facts.format = m_reading.format = recogniseCsv(csv, options.format);
    m_reading.folder = csv.parent_path();
  }

  TableFacts run() {
    // A little of it at first, so that a page has rows at once.
    CsvBlockReader reader(m_csv, kBlock, m_facts.format);
    m_facts.bytesTotal = reader.fileSize();
    TableBlock first;
    if (!reader.next(first.block, kFirstRows))
      throwError(ErrorCode::badData, "{} holds no header", m_csv.filename().string());
    begin(first);
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int threads = reader.fileSize() < 262'144 ? 0 : m_options.threads > 0 ? m_options.threads : cores;
    pass(reader, threads, &first, countBlock, [this](TableBlock& block) { add(block); });
    m_facts.whole = true;
    fill(m_facts);
    if (wantsBins()) {
      CsvBlockReader again(m_csv, kBlock, m_facts.format);
      pass(again, threads, nullptr, countBins, [this](TableBlock& block) {
        for (std::size_t c = 0; c < block.bins.size(); ++c)
          for (std::size_t bin = 0; bin < block.bins[c].size() && m_reading.ranges[c].counts; ++bin)
            m_facts.columns[c].histogram[bin] += block.bins[c][bin];
        ask(false);
      });
    }
    m_facts.seconds = seconds();
    if (m_options.progress && !m_options.progress(m_facts)) stopped();
    return std::move(m_facts);
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 20;
  static constexpr std::int64_t kFirstRows = 500;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - m_begin).count(); }
  [[noreturn]] void stopped() const {
    throwError(ErrorCode::stopped, "stopped while {} was looked at", m_csv.filename().string());
  }

  void begin(TableBlock& first) {
    const FaultSink told = [this](Fault fault) { m_facts.told.push_back(std::move(fault)); };
    std::int64_t lines = 0;
    m_reading.header = headerOf(first.block, m_facts.format, first.offset, lines, told);
    first.line = first.block.line + lines;
    parseHeader(m_reading.header, told);
    m_counts.resize(m_reading.header.size());
    m_head.header = m_spread.header = m_reading.header;
    // What the first rows look like decides which rows are no data.
    m_reading.expectsNumbers.assign(m_reading.header.size(), false);
    countBlock(m_reading, first);
    for (std::size_t c = 0; c < m_reading.header.size(); ++c)
      m_reading.expectsNumbers[c] = first.columns[c].numbers > first.columns[c].words;
    const auto bytes = static_cast<double>(std::max<std::int64_t>(first.block.end, 1));
    const double rows =
        static_cast<double>(std::max<std::int64_t>(first.rows, 1)) * static_cast<double>(m_facts.bytesTotal) / bytes;
    m_reading.sampleEvery = std::max<std::int64_t>(1, static_cast<std::int64_t>(rows / kSampled));
  }

  template <class Count>
  void pass(CsvBlockReader& reader, int threads, TableBlock* first, Count count,
            const std::function<void(TableBlock&)>& take) {
    OrderedWork<TableBlock> work(threads, [&](TableBlock& block) {
      if (block.isFirst && first) {
        TableReading head = m_reading;
        head.sampleFirst = kFirstSampled;
        count(head, block);
      } else {
        count(m_reading, block);
      }
    });
    bool begun = false;
    work.run(
        [&](TableBlock& block) {
          block.isFirst = !begun;
          if (!begun && first) {
            block = std::move(*first);
            block.isFirst = true;
          } else {
            if (!reader.next(block.block)) return false;
            block.offset = 0;
            block.line = block.block.line;
            if (!begun) {
              std::int64_t lines = 0;
              headerOf(block.block, m_facts.format, block.offset, lines, [](Fault) {});
              block.line += lines;
            }
          }
          begun = true;
          return true;
        },
        take);
  }

  void add(TableBlock& block) {
    if (block.isFirst) {
      m_head.rows = block.sample.rows;
      m_head.lines = block.sample.lines;
      m_head.cells = block.sample.cells;
    }
    m_facts.places.push_back({m_facts.rows, block.line, block.block.end});
    for (std::size_t c = 0; c < m_counts.size(); ++c) m_counts[c].merge(block.columns[c], m_facts.rows);
    for (StrayRow& stray : block.strays)
      if (m_facts.strays.size() < kStraysListed) {
        stray.row += m_facts.rows;
        m_facts.strays.push_back(std::move(stray));
      }
    m_facts.strayRows += block.strayRows;
    for (std::size_t i = 0; i < block.sample.rows.size(); ++i) {
      if (block.sample.lines[i] % m_reading.sampleEvery != 0) continue;
      m_spread.rows.push_back(block.sample.rows[i] + m_facts.rows);
      m_spread.lines.push_back(block.sample.lines[i]);
      m_spread.cells.push_back(std::move(block.sample.cells[i]));
    }
    m_facts.rows += block.rows;
    m_facts.bytesDone = block.block.end;
    ask(block.isFirst);
  }

  void ask(bool now) {
    if (!m_options.progress || (!now && Clock::now() - m_told < std::chrono::milliseconds(200))) return;
    m_told = Clock::now();
    if (m_facts.whole) {
      // Histograms are counted a second time; what is known already was told.
      TableFacts known = m_facts;
      known.whole = false;
      if (!m_options.progress(known)) stopped();
      return;
    }
    TableFacts soFar = m_facts;
    fill(soFar);
    if (!m_options.progress(soFar)) stopped();
    m_told = Clock::now();
  }

  bool wantsBins() {
    m_reading.ranges.assign(m_facts.columns.size(), {});
    bool any = false;
    for (std::size_t c = 0; c < m_facts.columns.size(); ++c) {
      ColumnFacts& column = m_facts.columns[c];
      const bool dates = column.type == ColumnType::date;
      if ((!dates && m_counts[c].number.count == 0) || (dates && column.count == 0) || column.histogram.empty())
        continue;
      m_reading.ranges[c] = {true, dates, column.low, column.high};
      std::fill(column.histogram.begin(), column.histogram.end(), 0);
      any = true;
    }
    return any;
  }

  void fill(TableFacts& facts) const {
    facts.seconds = seconds();
    auto sample = std::make_shared<TableSample>(m_spread.rows.size() < m_head.rows.size() ? m_head : m_spread);
    facts.columns.clear();
    for (std::size_t c = 0; c < m_counts.size(); ++c) facts.columns.push_back(factsOf(c, *sample));
    facts.sample = std::move(sample);
  }

  ColumnFacts factsOf(std::size_t c, const TableSample& sample) const {
    const ColumnCounts& counts = m_counts[c];
    ColumnFacts facts;
    facts.header = m_reading.header[c];
    facts.name = facts.header.substr(0, facts.header.find(':'));
    facts.missing = counts.empty;
    facts.missingAt = counts.emptyAt;
    const std::int64_t filled = counts.numbers + counts.words;
    if (filled == 0) {
      facts.missing += counts.markers;
      return facts;
    }
    const auto most = [filled](std::int64_t count) { return 2 * count >= filled; };
    const bool numbers = most(counts.numbers), dates = !numbers && most(counts.dates);
    if (numbers || dates) {
      facts.missing += counts.markers;
      for (const CellPlace& place : counts.markerAt)
        if (facts.missingAt.size() < kListedCells) facts.missingAt.push_back(place);
      const ColumnCounts::Spread& spread = numbers ? counts.number : counts.date;
      facts.type = dates ? ColumnType::date : isLabelled(facts.header) ? ColumnType::classes : ColumnType::number;
      facts.count = numbers ? counts.numbers : counts.dates;
      facts.unreadable = numbers ? counts.words : counts.words - counts.dates + counts.numbers;
      facts.unreadableAt = numbers ? counts.wordAt : counts.noDateAt;
      facts.low = spread.low;
      facts.mean = spread.mean;
      facts.high = spread.high;
      facts.deviation = spread.count > 0 ? std::sqrt(spread.squares / spread.count) : 0;
      facts.whole = numbers && counts.whole;
      facts.percents = numbers && m_facts.format.isPercent(c);
      histogramOfSample(c, sample, facts);
    }
    if (numbers) {
      const std::vector<double>& values = counts.distinct.values();
      facts.distinct = static_cast<std::int64_t>(values.size());
      facts.distinctMore = counts.distinct.full();
      std::vector<float> floats(values.begin(), values.end());
      std::sort(floats.begin(), floats.end());
      const auto different = std::unique(floats.begin(), floats.end()) - floats.begin();
      facts.blurred = static_cast<double>(different) < 0.95 * static_cast<double>(values.size());
      if (!facts.distinctMore)
        for (std::size_t i = 0; i < values.size(); ++i)
          facts.words.push_back({fmt::format("{}", values[i]), counts.distinct.counts()[i]});
    } else {
      facts.distinct = static_cast<std::int64_t>(counts.differentWords.size() + counts.distinct.values().size());
      facts.distinctMore = counts.differentWords.full() || counts.distinct.full();
      if (!facts.distinctMore && !dates) {
        for (std::size_t i = 0; i < counts.differentWords.size(); ++i)
          facts.words.push_back({std::string(counts.differentWords.word(i)), counts.differentWords.counts()[i]});
        for (std::size_t i = 0; i < counts.distinct.values().size(); ++i)
          facts.words.push_back({fmt::format("{}", counts.distinct.values()[i]), counts.distinct.counts()[i]});
      }
    }
    std::stable_sort(facts.words.begin(), facts.words.end(), [](const ClassCount& a, const ClassCount& b) {
      return a.rows != b.rows ? a.rows > b.rows : a.word < b.word;
    });
    if (dates) {
      facts.orders = {counts.orders[0] == counts.dates, counts.orders[1] == counts.dates,
                      counts.orders[2] == counts.dates};
      facts.dateHasTime = counts.dateHasTime;
    } else if (!numbers && (most(counts.pictures) || most(counts.sounds) || most(counts.matrices))) {
      facts.type = most(counts.pictures) ? ColumnType::picture
                   : most(counts.sounds) ? ColumnType::sound
                                         : ColumnType::matrix;
      facts.count = counts.pictures + counts.sounds + counts.matrices - counts.absent;
      facts.unreadable = filled - facts.count;
      facts.unreadableAt = counts.absentAt;
    } else if (!numbers) {
      // NA among words is a word.
      facts.count = filled + counts.markers;
      facts.type = !facts.distinctMore && (facts.distinct <= 20 || 4 * facts.distinct <= facts.count)
                       ? ColumnType::classes
                       : ColumnType::text;
    }
    return facts;
  }

  // Of the rows that are kept, until all are counted.
  void histogramOfSample(std::size_t c, const TableSample& sample, ColumnFacts& facts) const {
    facts.histogram.assign(kColumnBins, 0);
    if (facts.type == ColumnType::date) return;
    double value;
    for (const std::vector<std::string>& cells : sample.cells)
      if (c < cells.size() && cellNumber(cells[c], m_facts.format, c, value) == NumberKind::number &&
          value >= facts.low && value <= facts.high)
        ++facts.histogram[facts.high > facts.low ? binOf(value, facts.low, facts.high) : kColumnBins / 2];
  }

  const std::filesystem::path& m_csv;
  const AnalyseOptions& m_options;
  TableReading m_reading;
  TableFacts m_facts;
  std::vector<ColumnCounts> m_counts;
  TableSample m_head, m_spread;
  Clock::time_point m_begin = Clock::now(), m_told{};
};

}  // namespace

std::string_view toString(ColumnType type) {
  constexpr std::string_view names[] = {"number", "class", "text", "date", "picture", "sound", "matrix", "empty"};
  return names[static_cast<std::size_t>(type)];
}

bool ColumnFacts::likelyClasses() const {
  if (type == ColumnType::classes) return true;
  return type == ColumnType::number && whole && !distinctMore && distinct <= 20 && low >= 0 && count >= 4 * distinct;
}

const ColumnFacts* TableFacts::find(std::string_view name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const ColumnFacts& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Json TableFacts::toJson() const {
  Json json = {{"rows", rows},
               {"bytes", bytesTotal},
               {"seconds", seconds},
               {"format", format.text()},
               {"stray_rows", strayRows},
               {"columns", Json::array()}};
  for (const ColumnFacts& column : columns) {
    Json one = {{"name", column.name},       {"type", toString(column.type)},   {"count", column.count},
                {"missing", column.missing}, {"unreadable", column.unreadable}, {"distinct", column.distinct}};
    if (column.distinctMore) one["distinct_more"] = true;
    if (column.percents) one["percents"] = true;
    if (!column.histogram.empty()) {
      one["min"] = numberToJson(column.low);
      one["mean"] = numberToJson(column.mean);
      one["max"] = numberToJson(column.high);
      one["deviation"] = numberToJson(column.deviation);
      one["histogram"] = column.histogram;
    } else {
      for (const ClassCount& word : column.words) one["words"][word.word] = word.rows;
    }
    json["columns"].push_back(std::move(one));
  }
  return json;
}

TableFacts analyseTable(const std::filesystem::path& csv, const AnalyseOptions& options) {
  return TableAnalysis(csv, options).run();
}

TableSample readTableRows(const std::filesystem::path& csv, const TableFacts& facts, std::int64_t first,
                          std::int64_t count) {
  TableSample rows;
  for (const ColumnFacts& column : facts.columns) rows.header.push_back(column.header);
  CsvBlockReader reader(csv, std::size_t{1} << 18, facts.format);
  std::int64_t row = 0, line = 0;
  // Places tell the row that a block begins with, and the byte at which it ends.
  for (std::size_t i = 0; i + 1 < facts.places.size() && facts.places[i + 1].row <= first; ++i) {
    row = facts.places[i + 1].row;
    line = facts.places[i + 1].line;
    reader.seek(facts.places[i].byte, line);
  }
  CsvBlock block;
  std::string scratch;
  bool header = line == 0;
  while (row < first + count && reader.next(block)) {
    std::size_t offset = 0;
    line = block.line;
    if (header) {
      std::int64_t lines = 0;
      headerOf(block, facts.format, offset, lines, [](Fault) {});
      line += lines;
      header = false;
    }
    const char* p = block.buffer.data() + offset;
    const char* const end = block.buffer.data() + block.size;
    while (p < end && row < first + count) {
      if (const char* blank = skipBlankLine(p, end)) {
        p = blank;
        ++line;
        continue;
      }
      const std::int64_t here = line;
      std::vector<std::string> cells;
      for (bool last = false; !last;) {
        const CsvCell cell = takeCell(p, end, scratch, facts.format.separator);
        if (row >= first) cells.emplace_back(cell.text);
        last = cell.last;
        line += cell.lines;
      }
      if (row++ < first) continue;
      rows.rows.push_back(row - 1);
      rows.lines.push_back(here);
      rows.cells.push_back(std::move(cells));
    }
  }
  return rows;
}

}  // namespace loom
