#pragma once
// A step of preparation that acts on the columns of a CSV, before packing. One file a step; columnSteps() lists them.
//
// A step is either about the table (which columns there are, what they are called, which rows are data) or it changes
// what stands in columns, each by itself: then it makes a ColumnEffect of its resolved values, and a ColumnMeasure
// where some are to be measured on the training part first.
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/data/check.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/csv_format.h"

namespace loom {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// One column of some rows: words as they stand, or numbers (kMissing for a hole).
struct ColumnCells {
  bool number = false;
  std::vector<std::string_view> text;  // valid while the rows' block and the steps live
  std::vector<double> numbers;
  std::size_t rows() const { return number ? numbers.size() : text.size(); }
};

// What is wrong with a cell; the place is the caller's to know.
struct CellFault {
  std::size_t row = 0;
  FaultKind kind = FaultKind::notANumber;
  std::string found, wanted, remedy;
};
using CellFaultSink = std::function<void(CellFault)>;

// `cells` as numbers; words are faults, what stands for nothing is missing.
void makeNumbers(ColumnCells& cells, const CsvFormat& format, const CellFaultSink& fault);

class ColumnEffect {
 public:
  virtual ~ColumnEffect() = default;
  // What the columns that it makes are called; by default it changes the one it has.
  virtual std::vector<std::string> names(const std::string& column) const { return {column}; }
  virtual bool takesNumbers() const { return true; }   // words become numbers before it; false: it takes what there is
  virtual bool makesNumbers() const { return false; }  // of words too
  virtual bool makesClasses() const { return false; }  // 0, 1, 2 ...: its column becomes a label
  // Rows must come in order and on one thread: what it makes of one depends on those before.
  virtual bool sequential() const { return false; }
  // `cells` is what names() says, in that order; it begins with the column alone.
  virtual void apply(std::vector<ColumnCells>& cells, const CellFaultSink& fault) const = 0;
  // Backwards, for predictions; false where the step makes several columns of one.
  virtual bool invert(TargetMeaning&) const { return true; }
};

class ColumnMeasure {
 public:
  virtual ~ColumnMeasure() = default;
  virtual bool takesNumbers() const { return true; }  // as ColumnEffect::takesNumbers()
  // Rows of the training part, in the order of the file.
  virtual void add(const ColumnCells& cells) = 0;
  // The step for this column with what was measured. `warn` takes a sentence about it. Throws Error(badProject).
  virtual Json finish(Json step, const std::function<void(std::string)>& warn) = 0;
};

// What a step about the table may change.
class ColumnTable {
 public:
  struct Slot {
    std::string name;
    std::string label;   // of the header, behind the colon
    std::string origin;  // column of the file
    std::size_t place;   // among the cells that are computed
    bool number = false;
    bool pending = false;  // an earlier step is still to be measured
    std::vector<std::shared_ptr<const ColumnEffect>> history;
  };
  std::vector<Slot> slots;

  // Slots that a step means by a name: the column of that name, else all that came of it, else the vector's elements
  // (NAME__0 ...). Empty where there is none.
  std::vector<std::size_t> find(const std::string& name) const;
};

struct ColumnStepDefinition {
  Entry entry;
  // Steps about the table; `meant` are the slots that `variable` names, in its order.
  void (*arrange)(const Values& values, const std::vector<std::size_t>& meant, ColumnTable& table) = nullptr;
  // Steps that change columns.
  std::unique_ptr<ColumnEffect> (*effect)(const Values& values, const CsvFormat& format) = nullptr;
  bool (*isMeasured)(const Values& values) = nullptr;  // whether something is still to be measured
  std::unique_ptr<ColumnMeasure> (*measure)(const Values& values, const CsvFormat& format) = nullptr;
};

std::span<const ColumnStepDefinition* const> columnSteps();
// By the id or an alias of a step of `prepare`; null for sample steps and for what is no step.
const ColumnStepDefinition* findColumnStep(const Json& step);
inline bool isColumnStep(const Json& step) {
  return findColumnStep(step) != nullptr;
}
// The column steps of `prepare` in their order, and the others.
std::vector<Json> columnStepsOf(const std::vector<Json>& prepare);
std::vector<Json> sampleStepsOf(const std::vector<Json>& prepare);
// A column step behind a sample step on the same variable cannot be done: the sentence with its remedy, or nothing.
std::string orderProblem(const std::vector<Json>& prepare);

}  // namespace loom
