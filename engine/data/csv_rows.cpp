#include "engine/data/csv_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "engine/data/columns/column_plan.h"
#include "engine/data/ordered_work.h"

namespace loom {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::int64_t kFirstRows = 128;  // enough to settle the plan
constexpr std::int64_t kRowsOfSizes = 8;
constexpr std::size_t kDecodedBytes = std::size_t{8} << 20;  // that a chunk's files may take, roughly

struct RowItem {
  CsvBlock block;
  CsvBlock prepared;  // what the column steps make of it
  std::size_t offset = 0;
  std::int64_t line = 1;
  ColumnPlan::Rows rows;
  RowChunk chunk;
  RowParser::Scratch scratch;
  RowFaults faults;
  bool begun = false;  // the column steps were applied already
};

// Rows with an error, out of what was parsed.
void dropBadRows(const std::vector<VariablePlan>& plan, RowChunk& chunk) {
  if (std::find(chunk.bad.begin(), chunk.bad.end(), true) == chunk.bad.end()) return;
  const auto rows = static_cast<std::size_t>(chunk.rows);
  for (std::size_t v = 0; v < plan.size(); ++v) {
    RowChunk::Column& column = chunk.columns[v];
    std::size_t from = 0, to = 0, kept = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t bytes = plan[v].loose() ? plan[v].rowBytes(column.extents[row]) : plan[v].cellBytes();
      if (!chunk.bad[row]) {
        std::memmove(column.bytes.data() + to, column.bytes.data() + from, bytes);
        to += bytes;
        if (plan[v].loose()) column.extents[kept] = column.extents[row];
        ++kept;
      }
      from += bytes;
    }
    column.used = to;
    if (plan[v].loose()) column.extents.resize(kept);
  }
  std::size_t kept = 0;
  for (std::size_t row = 0; row < rows; ++row)
    if (!chunk.bad[row]) chunk.lines[kept++] = chunk.lines[row];
  chunk.lines.resize(kept);
  chunk.bad.assign(kept, false);
  chunk.rows = static_cast<std::int64_t>(kept);
}

}  // namespace

void RowFaults::add(Fault fault, std::size_t listed) {
  const auto kind = static_cast<std::size_t>(fault.kind);
  ++bySeverity[kind][static_cast<std::size_t>(fault.severity)];
  if (fault.kind == FaultKind::notANumber || fault.kind == FaultKind::missingFile) ++words[{fault.column, fault.kind}];
  if (static_cast<std::size_t>(counts[kind]++) < listed) faults.push_back(std::move(fault));
}

Error toError(const Fault& fault, const std::filesystem::path& csv) {
  Error error(fault.kind == FaultKind::missingFile ? ErrorCode::missingFile : ErrorCode::badData,
              fault.found + ", but " + fault.wanted + "; " + fault.remedy);
  std::string where = csv.filename().string();
  if (fault.line > 0) where += fmt::format(" line {}", fault.line);
  if (!fault.column.empty()) where += fmt::format(", column {}", fault.column);
  return error.addContext(std::move(where)), error;
}

std::vector<std::string> headerOf(const CsvBlock& first, const CsvFormat& format, std::size_t& offset,
                                  std::int64_t& lines, const FaultSink& fault) {
  std::vector<std::string> cells = takeHeader(first.text(), offset, lines, fault, format.separator);
  if (format.header) {
    nameApart(cells, fault);
    return cells;
  }
  for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = fmt::format("c{}", c + 1);
  offset = 0;
  lines = 0;
  return cells;
}

std::unique_ptr<ColumnPlan> planOf(const CsvSource& source, const std::vector<std::string>& header,
                                   const std::filesystem::path& csv) {
  if (source.plain()) return nullptr;
  return std::make_unique<ColumnPlan>(header, source.format, source.steps,
                                      ColumnPlanOptions{.file = csv.filename().string(),
                                                        .needed = source.needed,
                                                        .everyRow = source.everyRow,
                                                        .marksHeldOut = source.marksHeldOut,
                                                        .heldOut = source.heldOut});
}

RowFaults readRows(const ReadRows& request, const RowConsumer& consumer) {
  RowFaults own;
  const FaultSink toOwn = [&](Fault fault) {
    if (!request.collect && fault.severity == FaultSeverity::error) throw toError(fault, request.csv);
    own.add(std::move(fault), request.listed);
  };
  CsvBlockReader reader(request.csv, kBlockBytes, request.source.format);
  const std::filesystem::path folder = request.csv.parent_path();

  RowItem first;
  if (!reader.next(first.block, kFirstRows)) {
    toOwn({.kind = FaultKind::unreadable,
           .line = 0,
           .column = {},
           .found = "the file is empty",
           .wanted = "a header and a line for each sample are needed",
           .remedy = "write a first line such as 'x:image,y:label'"});
    return own;
  }
  std::int64_t headerLines = 0;
  auto cells = headerOf(first.block, request.source.format, first.offset, headerLines, toOwn);
  first.line = first.block.line + headerLines;
  const std::unique_ptr<ColumnPlan> plan = planOf(request.source, cells, request.csv);
  if (plan) cells = plan->header();
  const auto prepare = [&](RowItem& item, const FaultSink& fault) {
    if (plan) plan->apply(item.block, item.offset, item.line, item.rows, item.prepared, fault);
  };
  const auto sink = [&](RowItem& item) {
    return [&request, &item](Fault fault) {
      if (!request.collect && fault.severity == FaultSeverity::error) throw toError(fault, request.csv);
      item.faults.add(std::move(fault), request.listed);
    };
  };
  prepare(first, sink(first));
  // Rows that the steps leave out settle nothing.
  while (plan && first.prepared.rowLines.empty() && reader.next(first.block, kFirstRows)) {
    first.offset = 0;
    first.line = first.block.line;
    prepare(first, sink(first));
  }
  const CsvHeader header = parseHeader(cells, toOwn);
  if (header.variables.empty()) return own;
  RowParser parser(header, folder);
  parser.decodeFiles = request.decodeFiles;
  parser.prepareWith(request.prepare);
  parser.letSizesDiffer(request.sizes);
  if (request.collect) parser.letAllSizesDiffer();
  parser.settle(plan ? first.prepared : first.block, plan ? 0 : first.offset, request.collect, toOwn);
  if (consumer.start) consumer.start(header, parser);

  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  // A file that fits one block with nothing to decode is not worth a thread.
  const bool small = (reader.fileSize() < 65536 && !parser.hasFiles()) || (plan && plan->sequential());
  const int threads = small ? 0 : std::min(request.threads > 0 ? request.threads : cores, 64);
  std::int64_t records = INT64_MAX;
  if (parser.hasFiles()) {
    std::size_t rowBytes = 1;
    bool sizes = false;
    for (const VariablePlan& variable : parser.plan()) {
      rowBytes += variable.cellBytes();
      sizes |= variable.mixed();
    }
    // The first picture says nothing of the others where they differ in size.
    records =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(kDecodedBytes / rowBytes), 1, sizes ? kRowsOfSizes : 4096);
  }
  const bool skips = plan && plan->skipsFaulty();
  bool isFirst = true;
  OrderedWork<RowItem> work(threads, [&](RowItem& item) {
    if (!item.begun) prepare(item, sink(item));
    const CsvBlock& block = plan ? item.prepared : item.block;
    parser.parse(block, plan ? 0 : item.offset, plan ? block.line : item.line, item.chunk, item.scratch,
                 [&](Fault fault) {
                   if (!skips || fault.severity != FaultSeverity::error) sink(item)(std::move(fault));
                 });
    if (skips) dropBadRows(parser.plan(), item.chunk);
    if (consumer.prepare) consumer.prepare(parser, item.chunk);
  });
  work.run(
      [&](RowItem& item) {
        if (isFirst) {
          item = std::move(first);
          item.begun = true;
          isFirst = false;
          return true;
        }
        if (!reader.next(item.block, records)) return false;
        item.begun = false;
        item.offset = 0;
        item.line = item.block.line;
        item.faults = {};
        return true;
      },
      [&](RowItem& item) {
        if (consumer.rows) consumer.rows(item.chunk, item.faults, item.block.end, reader.fileSize());
      });
  return own;
}

}  // namespace loom
