#include "engine/data/columns/resolve.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/row_split.h"
#include "engine/data/columns/table_pass.h"

namespace loom {
namespace {

bool isSkipRows(const Json& step) {
  return findColumnStep(step)->entry.id == "SkipRows";
}

bool wantsMeasuring(const Json& step) {
  const ColumnStepDefinition* definition = findColumnStep(step);
  if (!definition) return false;
  for (const FieldProblem& problem : validate(definition->entry, step, {"step"}))
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "step {} of prepare: {}", definition->entry.id, problem.message);
  return definition->isMeasured && definition->isMeasured(Values(definition->entry, step));
}

// What a source of rows is asked for: once through all of them.
using Passing = std::function<void(const ColumnPlan&, const std::function<void(ColumnPlan::Rows&)>&)>;

// Columns that hold numbers in most of their cells, but those that become something else.
Json numberColumns(const std::vector<std::string>& header, const CsvFormat& format, const std::vector<Json>& steps,
                   const Passing& pass) {
  std::vector<std::string> others;
  for (const Json& step : steps) {
    const Entry& entry = findColumnStep(step)->entry;
    if (entry.id != "Encode" && entry.id != "DateParts" && entry.id != "LeaveOut") continue;
    for (const std::string& name : Values(entry, step).texts("variable")) others.push_back(name);
  }
  const ColumnPlan plan(header, format, {});
  std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> counts;  // by place: numbers, words
  pass(plan, [&](ColumnPlan::Rows& rows) {
    double value;
    for (const ColumnTable::Slot& slot : plan.slots())
      for (const std::string_view cell : rows.cells[slot.place].text) {
        const NumberKind kind = cellNumber(cell, format, value);
        if (kind == NumberKind::number) ++counts[slot.place].first;
        if (kind == NumberKind::text) ++counts[slot.place].second;
      }
  });
  Json numbers = Json::array();
  for (const ColumnTable::Slot& slot : plan.slots())
    if (counts[slot.place].first > counts[slot.place].second &&
        std::find(others.begin(), others.end(), slot.name) == others.end())
      numbers.push_back(slot.name);
  return numbers;
}

// The cells of the rows that count.
ColumnCells cellsOf(const ColumnPlan::Rows& rows, std::size_t place, const std::vector<bool>& counts) {
  const ColumnCells& all = rows.cells[place];
  ColumnCells some{.number = all.number, .text = {}, .numbers = {}};
  for (std::size_t row = 0; row < rows.count(); ++row) {
    if (!counts[row]) continue;
    if (all.number)
      some.numbers.push_back(all.numbers[row]);
    else
      some.text.push_back(all.text[row]);
  }
  return some;
}

// Measures what can be measured now, and writes it into the steps. False where nothing was left to measure.
bool measureOnce(std::vector<Json>& steps, const std::vector<std::string>& header, const CsvFormat& format,
                 const std::string& file, const std::vector<bool>* training, const Passing& pass,
                 const std::function<void(std::string)>& warn) {
  const ColumnPlan plan(header, format, steps, {.file = file});
  if (plan.unmeasured().empty()) return false;
  std::vector<std::unique_ptr<ColumnMeasure>> measures;
  for (const ColumnPlan::Unmeasured& one : plan.unmeasured()) {
    const ColumnStepDefinition& definition = *findColumnStep(steps[one.step]);
    measures.push_back(definition.measure(Values(definition.entry, steps[one.step]), format));
  }
  std::vector<bool> counts, numbers(measures.size(), false);
  std::vector<std::string> firstWords(measures.size());
  pass(plan, [&](ColumnPlan::Rows& rows) {
    counts.assign(rows.count(), false);
    for (std::size_t row = 0; row < rows.count(); ++row) {
      const auto line = static_cast<std::size_t>(rows.lines[row]);
      counts[row] = !rows.bad[row] && (!training || (line < training->size() && (*training)[line]));
    }
    for (std::size_t i = 0; i < measures.size(); ++i) {
      ColumnCells cells = cellsOf(rows, plan.unmeasured()[i].place, counts);
      if (measures[i]->takesNumbers()) {
        std::size_t words = 0;
        makeNumbers(cells, format, [&](CellFault found) {
          if (words++ == 0 && firstWords[i].empty()) firstWords[i] = found.found;
        });
        numbers[i] = numbers[i] || std::any_of(cells.numbers.begin(), cells.numbers.end(),
                                               [](double value) { return !std::isnan(value); });
      }
      measures[i]->add(cells);
    }
  });
  std::vector<Json> resolved;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<Json> own;
    for (std::size_t k = 0; k < measures.size(); ++k) {
      if (plan.unmeasured()[k].step != i) continue;
      if (!numbers[k] && !firstWords[k].empty())
        throwError(ErrorCode::badProject,
                   "step {} of prepare: column {} holds no numbers ({}); encode its words first, or leave it out",
                   findColumnStep(steps[i])->entry.id, plan.unmeasured()[k].column, firstWords[k]);
      Json step = steps[i];
      step["variable"] = plan.unmeasured()[k].column;
      own.push_back(measures[k]->finish(std::move(step), warn));
    }
    // Slots are looked at from the last to the first.
    std::reverse(own.begin(), own.end());
    Json waiting = Json::array();
    for (const ColumnPlan::Waiting& one : plan.waiting())
      if (one.step == i) waiting.push_back(one.column);
    if (own.empty()) {
      resolved.push_back(steps[i]);
      continue;
    }
    resolved.insert(resolved.end(), own.begin(), own.end());
    if (waiting.empty()) continue;
    Json rest = steps[i];
    rest["variable"] = waiting;
    resolved.push_back(std::move(rest));
  }
  steps = std::move(resolved);
  return true;
}

ResolvedColumns resolveWith(std::vector<Json> steps, const std::vector<std::string>& header, const CsvFormat& format,
                            const std::string& file,
                            const std::function<std::vector<bool>(const std::vector<Json>&)>& training,
                            const Passing& pass) {
  ResolvedColumns answer;
  const auto warn = [&](std::string sentence) { answer.warnings.push_back(std::move(sentence)); };
  for (Json& step : steps)
    if (isSkipRows(step) && wantsMeasuring(step)) step["numbers"] = numberColumns(header, format, steps, pass);
  const std::vector<bool> counts = training ? training(steps) : std::vector<bool>();
  while (measureOnce(steps, header, format, file, training ? &counts : nullptr, pass, warn)) {
  }
  // What is left to measure means columns that are gone.
  std::erase_if(steps, wantsMeasuring);
  answer.steps = std::move(steps);
  return answer;
}

}  // namespace

bool needsResolving(const std::vector<Json>& steps) {
  return std::any_of(steps.begin(), steps.end(), wantsMeasuring);
}

ResolvedColumns resolveColumns(const ResolveRequest& request) {
  if (!needsResolving(request.steps)) return {.steps = request.steps, .warnings = {}};
  const TablePass table{request.csv, request.format, request.threads, request.progress};
  std::function<std::vector<bool>(const std::vector<Json>&)> training;
  if (!request.rows.all())
    training = [&](const std::vector<Json>& steps) { return splitLines(table, steps, request.rows).training; };
  return resolveWith(request.steps, readHeader(request.csv, request.format), request.format,
                     request.csv.filename().string(), training,
                     [&](const ColumnPlan& plan, const std::function<void(ColumnPlan::Rows&)>& visit) {
                       passOver(table, plan, visit);
                     });
}

ResolvedColumns resolveColumns(const std::vector<Json>& steps, const CsvFormat& format,
                               const std::vector<std::string>& header,
                               const std::vector<std::vector<std::string>>& cells,
                               const std::vector<std::int64_t>& lines) {
  return resolveWith(steps, header, format, {}, {},
                     [&](const ColumnPlan& plan, const std::function<void(ColumnPlan::Rows&)>& visit) {
                       ColumnPlan::Rows rows;
                       const FaultSink ignore = [](Fault) {};
                       plan.take(cells, lines, rows, ignore);
                       plan.compute(rows, ignore);
                       visit(rows);
                     });
}

std::vector<Json> stepsForAnotherFile(std::vector<Json> steps) {
  for (Json& step : steps)
    if (const ColumnStepDefinition* definition = findColumnStep(step); definition && definition->entry.id == "SkipRows")
      step.erase("lines");
  return steps;
}

}  // namespace loom
