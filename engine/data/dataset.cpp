#include "engine/data/dataset.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/csv_rows.h"
#include "engine/data/pack.h"

namespace loom {
namespace {

class RowRange : public Dataset {
 public:
  RowRange(std::shared_ptr<const Dataset> whole, std::int64_t first, std::int64_t count)
      : m_whole(std::move(whole)), m_first(first), m_count(count) {}
  const Schema& schema() const override { return m_whole->schema(); }
  std::int64_t size() const override { return m_count; }
  std::span<const std::byte> read(std::int64_t row, std::size_t variable, Shape* shape) const override {
    if (row < 0 || row >= m_count)
      throwError(ErrorCode::internal, "row {} was asked of a dataset with {} rows", row, m_count);
    return m_whole->read(m_first + row, variable, shape);
  }
  void verify() const override { m_whole->verify(); }
  std::vector<Json> columnSteps() const override { return m_whole->columnSteps(); }
  std::int64_t sourceRow(std::int64_t row) const override { return m_whole->sourceRow(m_first + row); }
  std::string contentHash() const override {
    const std::string whole = m_whole->contentHash();
    return whole.empty() ? whole : fmt::format("{}[{}:{}]", whole, m_first, m_first + m_count);
  }

 private:
  std::shared_ptr<const Dataset> m_whole;
  std::int64_t m_first, m_count;
};

}  // namespace

std::string_view toString(VariableKind kind) {
  constexpr std::string_view names[] = {"image", "scalar", "vector", "matrix", "wave"};
  return names[static_cast<int>(kind)];
}

bool isLabel(const Variable& variable) {
  return variable.kind == VariableKind::scalar && (variable.label == "label" || variable.label == "class");
}

int Schema::indexOf(std::string_view name) const {
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const Variable& variable) { return variable.name == name; });
  return found == variables.end() ? -1 : static_cast<int>(found - variables.begin());
}

const Variable* Schema::find(std::string_view name) const {
  const int index = indexOf(name);
  return index < 0 ? nullptr : &variables[static_cast<std::size_t>(index)];
}

Schema peekSchema(const std::filesystem::path& csv, const OpenOptions& options) {
  if (csv.extension() == ".pack") return openPack(csv)->schema();
  CsvSource source{.format = recogniseCsv(csv, options.format),
                   .steps = columnStepsOf(options.prepare),
                   .needed = options.needed,
                   .heldOut = {}};
  CsvBlockReader reader(csv, 65536, source.format);
  const FaultSink fail = [&](Fault fault) {
    if (fault.severity == FaultSeverity::error) throw toError(fault, csv);
  };
  CsvBlock block, prepared;
  // Rows that the steps leave out say nothing.
  constexpr std::int64_t kRows = 100;
  if (!reader.next(block, source.plain() ? 2 : kRows))
    throwError(ErrorCode::badData, "{} holds no header", csv.string());
  std::size_t offset = 0;
  std::int64_t lines = 0;
  std::vector<std::string> cells = headerOf(block, source.format, offset, lines, fail);
  const std::unique_ptr<ColumnPlan> plan = planOf(source, cells, csv);
  if (plan) {
    ColumnPlan::Rows rows;
    plan->apply(block, offset, block.line + lines, rows, prepared, [](Fault) {});
    offset = 0;
    cells = plan->header();
  }
  const CsvHeader header = parseHeader(cells, fail);
  RowParser parser(header, csv.parent_path());
  parser.settle(plan ? prepared : block, offset, plan != nullptr, fail);
  const std::vector<VariablePlan>& settled = parser.plan();
  if (std::any_of(settled.begin(), settled.end(), [](const VariablePlan& each) { return each.file && !each.known; })) {
    // What no row tells is not known: words may yet become classes, but of files that are not there nothing can be
    // said.
    const FaultSink gone = [&](Fault fault) {
      if (fault.kind == FaultKind::missingFile && fault.found.starts_with("there is no file")) fail(std::move(fault));
    };
    parser.settle(plan ? prepared : block, offset, false, gone);
  }
  return parser.schema();
}

std::shared_ptr<const Dataset> selectRows(std::shared_ptr<const Dataset> dataset, std::int64_t first,
                                          std::int64_t count) {
  const std::int64_t size = dataset->size();
  const std::int64_t begin = first < 0 ? size + first : first;
  const std::int64_t taken = count < 0 ? size - begin : count;
  if (begin < 0 || begin > size || taken > size - begin)
    throwError(ErrorCode::badProject, "rows {} to {} are wanted, but the dataset has {}; correct first_row and rows",
               begin, begin + taken, size);
  if (taken <= 0)
    throwError(ErrorCode::badProject, "no row is left from row {} on: the dataset has {}; correct first_row and rows",
               begin, size);
  if (begin == 0 && taken == size) return dataset;
  return std::make_shared<RowRange>(std::move(dataset), begin, taken);
}

}  // namespace loom
