#pragma once
// The column steps of a dataset compiled for one header: blocks of its CSV become blocks of the CSV that the dataset is
// made of, which the rest of the room reads like any other. Safe from several threads at a time.
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/data/columns/column_step.h"
#include "engine/data/csv_blocks.h"
#include "engine/data/csv_header.h"

namespace loom {

struct ColumnPlanOptions {
  std::string file;                 // its name, for messages
  std::vector<std::string> needed;  // OpenOptions::needed
  bool anyColumn = false;           // there is no file: columns are what steps name
  bool everyRow = false;            // rows that steps leave out are kept; their faults are told
  bool marksHeldOut = false;        // adds kHeldOutVariable, 1 for rows of the lines in `heldOut`
  std::vector<bool> heldOut;        // by line of the file
};

class ColumnPlan {
 public:
  // Throws Error(badProject) for steps that cannot be done: a column that is not there, names that stand twice.
  ColumnPlan(std::vector<std::string> header, const CsvFormat& format, const std::vector<Json>& steps,
             ColumnPlanOptions options = {});

  // The header of the dataset.
  const std::vector<std::string>& header() const { return m_header; }
  // What came of the columns, in the order of the header. Those that are `pending` wait for `unmeasured`.
  const std::vector<ColumnTable::Slot>& slots() const { return m_table.slots; }
  // Steps that want to be measured first, and the cells that they are measured on.
  struct Unmeasured {
    std::size_t step;  // of those given
    std::string column;
    std::size_t place;
  };
  const std::vector<Unmeasured>& unmeasured() const { return m_unmeasured; }
  // Columns of a step that wait for an earlier step to be measured.
  struct Waiting {
    std::size_t step;
    std::string column;
  };
  const std::vector<Waiting>& waiting() const { return m_waiting; }
  // Columns of the file that the dataset is made of, by place; others are not looked at.
  const std::vector<bool>& read() const { return m_read; }

  // Rows as cells, by place: those of the file first, then what the steps make of them.
  struct Rows {
    std::vector<std::int64_t> lines;
    std::vector<bool> bad;  // a fault was told; left out of what apply() writes
    std::vector<ColumnCells> cells;
    std::deque<std::string> unquoted;  // texts that do not stand in the block as they are
    std::size_t count() const { return lines.size(); }
  };
  // From `offset` of the block, whose line is `line`. `fault` may throw to stop at once; with `skipsFaulty()` it hears
  // of no errors.
  void take(const CsvBlock& block, std::size_t offset, std::int64_t line, Rows& rows, const FaultSink& fault) const;
  // Rows that are texts already.
  void take(const std::vector<std::vector<std::string>>& cells, const std::vector<std::int64_t>& lines, Rows& rows,
            const FaultSink& fault) const;
  // The steps, on cells that were taken.
  void compute(Rows& rows, const FaultSink& fault) const;
  void apply(const CsvBlock& block, std::size_t offset, std::int64_t line, Rows& rows, CsvBlock& out,
             const FaultSink& fault) const;
  bool sequential() const;  // ColumnEffect::sequential() of one of its steps
  bool skipsFaulty() const { return m_skip.faulty && !m_options.everyRow; }
  const CsvFormat& format() const { return m_format; }

 private:
  struct Operation {
    std::shared_ptr<const ColumnEffect> effect;
    std::string column;
    std::size_t from;
    std::vector<std::size_t> to;
  };
  struct Skip {
    bool faulty = false;
    std::set<std::int64_t> lines;
    std::vector<std::size_t> numbers, filled;  // places whose cells must be numbers, must be there
  };
  void addStep(const Json& step, std::size_t index);
  void addSkip(const Values& values);
  std::vector<std::size_t> slotsOf(const std::string& name, const Entry& entry);
  void keepNeeded();
  void writeHeader();
  // Adds a row to those taken unless it is skipped.
  void addRow(const std::vector<std::string_view>& cells, std::int64_t line, Rows& rows, const FaultSink& fault) const;
  bool skips(const std::vector<std::string_view>& cells, std::int64_t line) const;
  void begin(Rows& rows) const;

  CsvFormat m_format;
  ColumnPlanOptions m_options;
  std::vector<std::string> m_fileHeader, m_header;
  ColumnTable m_table;
  std::vector<Operation> m_operations;
  std::vector<Unmeasured> m_unmeasured;
  std::vector<Waiting> m_waiting;
  Skip m_skip;
  std::vector<bool> m_read;           // by column of the file
  std::vector<std::string> m_absent;  // columns that steps name and the file lacks, and their places
  std::vector<std::size_t> m_absentPlaces;
  std::set<std::string> m_gone;  // origins of columns that were left out
  std::size_t m_places = 0;
};

}  // namespace loom
