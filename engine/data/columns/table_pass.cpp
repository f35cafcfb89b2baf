#include "engine/data/columns/table_pass.h"

#include <algorithm>
#include <thread>

#include "engine/base/error.h"
#include "engine/data/csv_rows.h"
#include "engine/data/ordered_work.h"

namespace loom {
namespace {

struct PassItem {
  CsvBlock block;
  std::size_t offset = 0;
  std::int64_t line = 1;
  ColumnPlan::Rows rows;
};

}  // namespace

std::vector<std::string> readHeader(const std::filesystem::path& csv, const CsvFormat& format) {
  CsvBlockReader reader(csv, 65536, format);
  CsvBlock block;
  if (!reader.next(block, 1)) throwError(ErrorCode::badData, "{} holds no header", csv.string());
  std::size_t offset = 0;
  std::int64_t lines = 0;
  return headerOf(block, format, offset, lines, [](Fault) {});
}

void passOver(const TablePass& pass, const ColumnPlan& plan, const std::function<void(ColumnPlan::Rows&)>& visit) {
  CsvBlockReader reader(pass.csv, std::size_t{1} << 20, pass.format);
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const bool small = reader.fileSize() < 65536 || plan.sequential();
  bool first = true;
  OrderedWork<PassItem> work(small ? 0 : std::min(pass.threads > 0 ? pass.threads : cores, 64), [&](PassItem& item) {
    const FaultSink ignore = [](Fault) {};
    plan.take(item.block, item.offset, item.line, item.rows, ignore);
    plan.compute(item.rows, ignore);
  });
  work.run(
      [&](PassItem& item) {
        if (!reader.next(item.block)) return false;
        item.offset = 0;
        item.line = item.block.line;
        if (!first) return true;
        first = false;
        std::int64_t lines = 0;
        headerOf(item.block, pass.format, item.offset, lines, [](Fault) {});
        item.line += lines;
        return true;
      },
      [&](PassItem& item) {
        visit(item.rows);
        if (pass.progress && !pass.progress(item.block.end, reader.fileSize()))
          throwError(ErrorCode::stopped, "stopped while {} was measured", pass.csv.filename().string());
      });
}

}  // namespace loom
