#include "engine/data/columns/column_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/catalogue/names.h"
#include "engine/data/cell_number.h"
#include "engine/data/csv_cells.h"
#include "engine/data/import_images.h"
#include "engine/data/row_choice.h"
#include "engine/data/text.h"

namespace loom {
namespace {

std::string nameOf(const std::string& header) {
  return header.substr(0, header.find(':'));
}

std::string labelOf(const std::string& header) {
  const auto colon = header.find(':');
  return colon == std::string::npos ? std::string() : header.substr(colon + 1);
}

}  // namespace

std::vector<std::size_t> ColumnTable::find(const std::string& name) const {
  std::vector<std::size_t> found;
  const auto those = [&](const auto& meant) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (meant(slots[i])) found.push_back(i);
  };
  those([&](const Slot& slot) { return slot.name == name; });
  if (found.empty()) those([&](const Slot& slot) { return slot.origin == name; });
  if (found.empty()) those([&](const Slot& slot) { return slot.name.starts_with(name + "__"); });
  return found;
}

ColumnPlan::ColumnPlan(std::vector<std::string> header, const CsvFormat& format, const std::vector<Json>& steps,
                       ColumnPlanOptions options)
    : m_format(format), m_options(std::move(options)), m_fileHeader(std::move(header)) {
  m_places = m_fileHeader.size();
  m_read.assign(m_places, true);
  for (std::size_t c = 0; c < m_fileHeader.size(); ++c) {
    const std::string& cell = m_fileHeader[c];
    if (!cell.empty() && cell[0] == '#')
      m_read[c] = false;
    else
      m_table.slots.push_back(
          {.name = nameOf(cell), .label = labelOf(cell), .origin = nameOf(cell), .place = c, .history = {}});
  }
  for (std::size_t i = 0; i < steps.size(); ++i) addStep(steps[i], i);
  if (!m_options.needed.empty()) keepNeeded();
  // Columns that nothing is made of any more are passed over.
  std::vector<bool> used(m_places, false);
  for (const ColumnTable::Slot& slot : m_table.slots) used[slot.place] = true;
  for (const Unmeasured& one : m_unmeasured) used[one.place] = true;
  for (std::size_t i = m_operations.size(); i-- > 0;) {
    const Operation& operation = m_operations[i];
    if (std::any_of(operation.to.begin(), operation.to.end(), [&](std::size_t place) { return used[place]; }))
      used[operation.from] = true;
    else
      m_operations.erase(m_operations.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (std::size_t c = 0; c < m_fileHeader.size(); ++c) m_read[c] = m_read[c] && used[c];
  writeHeader();
}

// The slots that a step means. A name of a column that was left out means none.
std::vector<std::size_t> ColumnPlan::slotsOf(const std::string& name, const Entry& entry) {
  std::vector<std::size_t> found = m_table.find(name);
  if (!found.empty() || m_gone.contains(name)) return found;
  if (!m_options.needed.empty() || m_options.anyColumn) {
    // The file may well lack it: whether it is missed shows when all steps are known.
    m_table.slots.push_back({.name = name, .label = {}, .origin = name, .place = m_places++, .history = {}});
    m_absent.push_back(name);
    m_absentPlaces.push_back(m_places - 1);
    return {m_table.slots.size() - 1};
  }
  std::vector<std::string> known;
  for (const ColumnTable::Slot& slot : m_table.slots) known.push_back(slot.name);
  const std::string near = nearest(name, known);
  throwError(
      ErrorCode::badProject, "step {} of prepare: there is no column '{}'{}; {}", entry.id, name,
      m_options.file.empty() ? std::string() : " in " + m_options.file,
      near.empty()
          ? fmt::format(
                "it has {}",
                fmt::join(known.begin(),
                          known.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(known.size(), 20)), ", "))
          : fmt::format("did you mean '{}'?", near));
}

void ColumnPlan::addStep(const Json& step, std::size_t index) {
  const ColumnStepDefinition* definition = findColumnStep(step);
  if (!definition) throwError(ErrorCode::internal, "{} is no column step", step.dump().substr(0, 100));
  for (const FieldProblem& problem : validate(definition->entry, step, {"step"}))
    if (problem.severity == FieldProblem::Severity::error)
      throwError(ErrorCode::badProject, "step {} of prepare: {}", definition->entry.id, problem.message);
  const Values values(definition->entry, step);
  if (definition->entry.id == "SkipRows") return addSkip(values);
  std::vector<std::size_t> meant;
  for (const std::string& name : values.texts("variable"))
    for (const std::size_t slot : slotsOf(name, definition->entry))
      if (std::find(meant.begin(), meant.end(), slot) == meant.end()) meant.push_back(slot);
  if (definition->arrange) {
    std::vector<std::string> before;
    for (const ColumnTable::Slot& slot : m_table.slots) before.push_back(slot.origin);
    definition->arrange(values, meant, m_table);
    for (const std::string& origin : before)
      if (m_table.find(origin).empty() &&
          std::none_of(m_table.slots.begin(), m_table.slots.end(),
                       [&](const ColumnTable::Slot& slot) { return slot.origin == origin; }))
        m_gone.insert(origin);
    return;
  }
  const bool measured = definition->isMeasured && definition->isMeasured(values);
  // From the last to the first: a step that makes several columns of one moves those behind it.
  std::sort(meant.begin(), meant.end(), std::greater<>());
  for (const std::size_t at : meant) {
    ColumnTable::Slot& slot = m_table.slots[at];
    if (slot.pending) {
      m_waiting.insert(m_waiting.begin(), {index, slot.name});
      continue;
    }
    if (measured) {
      m_unmeasured.push_back({index, slot.name, slot.place});
      slot.pending = true;
      continue;
    }
    // One for each column: an effect may remember what it saw.
    const std::shared_ptr<const ColumnEffect> effect = definition->effect(values, m_format);
    Operation operation{effect, slot.name, slot.place, {}};
    const std::vector<std::string> names = effect->names(slot.name);
    std::vector<ColumnTable::Slot> made;
    for (const std::string& name : names) {
      ColumnTable::Slot one = slot;
      one.name = name;
      one.place = m_places++;
      one.number = one.number || effect->takesNumbers() || effect->makesNumbers();
      if (effect->makesClasses()) one.label = "label";
      one.history.push_back(effect);
      operation.to.push_back(one.place);
      made.push_back(std::move(one));
    }
    m_operations.push_back(std::move(operation));
    m_table.slots.erase(m_table.slots.begin() + static_cast<std::ptrdiff_t>(at));
    m_table.slots.insert(m_table.slots.begin() + static_cast<std::ptrdiff_t>(at), made.begin(), made.end());
  }
}

void ColumnPlan::addSkip(const Values& values) {
  for (const std::int64_t line : values.integers("lines")) m_skip.lines.insert(line);
  const auto placesOf = [&](const std::string& key, std::vector<std::size_t>& places) {
    for (const std::string& name : values.texts(key))
      for (std::size_t c = 0; c < m_fileHeader.size(); ++c)
        if (nameOf(m_fileHeader[c]) == name) places.push_back(c);
  };
  if (values.boolean("faulty")) m_skip.faulty = true;
  placesOf("numbers", m_skip.numbers);
  placesOf("missing", m_skip.filled);
}

void ColumnPlan::keepNeeded() {
  std::vector<bool> wanted(m_places, false);
  std::vector<std::string> missing;
  for (const std::string& name : m_options.needed) {
    bool found = false;
    for (const ColumnTable::Slot& slot : m_table.slots)
      if (slot.name == name || slot.name.starts_with(name + "__")) found = wanted[slot.place] = true;
    if (!found) missing.push_back(name);
  }
  std::erase_if(m_table.slots, [&](const ColumnTable::Slot& slot) { return !wanted[slot.place]; });
  std::erase_if(m_unmeasured, [&](const Unmeasured& one) { return !wanted[one.place]; });
  for (std::size_t i = m_operations.size(); i-- > 0;)
    for (const std::size_t place : m_operations[i].to)
      if (wanted[place]) wanted[m_operations[i].from] = true;
  for (std::size_t i = 0; i < m_absent.size(); ++i)
    if (wanted[m_absentPlaces[i]]) missing.push_back(m_absent[i]);
  if (!missing.empty())
    throwError(ErrorCode::badData, "{} lacks the column{} {}; it has {}",
               m_options.file.empty() ? "the file" : m_options.file, missing.size() == 1 ? "" : "s",
               fmt::join(missing, ", "), fmt::join(m_fileHeader, ", "));
}

void ColumnPlan::writeHeader() {
  for (const ColumnTable::Slot& slot : m_table.slots)
    m_header.push_back(slot.label.empty() ? slot.name : slot.name + ":" + slot.label);
  if (!m_options.marksHeldOut) return;
  if (!m_table.find(kHeldOutVariable).empty())
    throwError(ErrorCode::badProject,
               "a column is called '{}', which the rows that are held out are marked by; rename it", kHeldOutVariable);
  m_header.push_back(fmt::format("{}:{}", kHeldOutVariable, kHeldOutLabel));
}

bool ColumnPlan::sequential() const {
  return std::any_of(m_operations.begin(), m_operations.end(),
                     [](const Operation& operation) { return operation.effect->sequential(); });
}

void ColumnPlan::begin(Rows& rows) const {
  rows.lines.clear();
  rows.bad.clear();
  rows.unquoted.clear();
  rows.cells.resize(m_places);
  for (ColumnCells& cells : rows.cells) {
    cells.number = false;
    cells.text.clear();
    cells.numbers.clear();
  }
}

bool ColumnPlan::skips(const std::vector<std::string_view>& cells, std::int64_t line) const {
  if (m_options.everyRow) return false;
  if (m_skip.lines.contains(line)) return true;
  double value;
  for (const std::size_t place : m_skip.filled)
    if (place < cells.size() && cellNumber(cells[place], m_format, place, value) == NumberKind::empty) return true;
  if (!m_skip.faulty) return false;
  if (cells.size() != m_fileHeader.size() || std::equal(cells.begin(), cells.end(), m_fileHeader.begin())) return true;
  return std::any_of(m_skip.numbers.begin(), m_skip.numbers.end(), [&](std::size_t place) {
    const NumberKind kind = cellNumber(cells[place], m_format, place, value);
    return kind != NumberKind::number && kind != NumberKind::empty;
  });
}

void ColumnPlan::addRow(const std::vector<std::string_view>& cells, std::int64_t line, Rows& rows,
                        const FaultSink& fault) const {
  if (skips(cells, line)) return;
  if (cells.size() != m_fileHeader.size())
    return fault({.kind = FaultKind::raggedRow,
                  .line = line,
                  .column = {},
                  .found = fmt::format("the row has {} cells", cells.size()),
                  .wanted = fmt::format("the header has {}", m_fileHeader.size()),
                  .remedy = "add the step SkipRows for rows that are no data, or put cells that hold a separator in "
                            "quotes",
                  .variables = {}});
  rows.lines.push_back(line);
  rows.bad.push_back(false);
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (!m_read[c]) continue;
    std::string_view cell = cells[c];
    double value;
    if (m_format.isPercent(c) && !takePercent(cell) && cellNumber(cell, m_format, value) == NumberKind::number) {
      rows.bad.back() = true;
      if (!skipsFaulty())
        fault({.kind = FaultKind::notANumber,
               .line = line,
               .column = m_fileHeader[c],
               .found = fmt::format("the cell is {}", toldText(cell)),
               .wanted = "the column's numbers are percents, such as '12 %'",
               .remedy = "write the sign in all cells of the column or in none, or skip the row",
               .variables = {}});
    }
    rows.cells[c].text.push_back(cell);
  }
}

void ColumnPlan::take(const CsvBlock& block, std::size_t offset, std::int64_t line, Rows& rows,
                      const FaultSink& fault) const {
  begin(rows);
  const char* p = block.buffer.data() + offset;
  const char* const end = block.buffer.data() + block.size;
  std::string scratch;
  std::vector<std::string_view> cells;
  while (p < end) {
    if (const char* blank = skipBlankLine(p, end)) {
      p = blank;
      ++line;
      continue;
    }
    const std::int64_t here = line;
    cells.clear();
    bool open = false;
    for (bool last = false; !last;) {
      const CsvCell cell = takeCell(p, end, scratch, m_format.separator);
      last = cell.last;
      line += cell.lines;
      open |= cell.open;
      // A text that was unquoted stands in `scratch`, which the next one overwrites.
      const bool own = cell.text.data() >= block.buffer.data() && cell.text.data() < end;
      cells.push_back(own || cell.text.empty() ? cell.text : std::string_view(rows.unquoted.emplace_back(cell.text)));
    }
    if (open && !skipsFaulty())
      fault({.kind = FaultKind::raggedRow,
             .line = here,
             .column = {},
             .found = "a quote is opened and never closed",
             .wanted = "every quote needs its partner",
             .remedy = "close the quote; a quote inside of a quoted cell is written twice",
             .variables = {}});
    if (!open) addRow(cells, here, rows, fault);
  }
}

void ColumnPlan::take(const std::vector<std::vector<std::string>>& texts, const std::vector<std::int64_t>& lines,
                      Rows& rows, const FaultSink& fault) const {
  begin(rows);
  for (std::size_t i = 0; i < texts.size(); ++i)
    addRow(std::vector<std::string_view>(texts[i].begin(), texts[i].end()), lines[i], rows, fault);
}

void makeNumbers(ColumnCells& cells, const CsvFormat& format, const CellFaultSink& fault) {
  if (cells.number) return;
  cells.numbers.resize(cells.text.size());
  for (std::size_t row = 0; row < cells.text.size(); ++row) {
    double& value = cells.numbers[row];
    const NumberKind kind = cellNumber(cells.text[row], format, value);
    if (kind == NumberKind::number) continue;
    value = kMissing;
    if (kind == NumberKind::empty) continue;
    const bool word = kind == NumberKind::text;
    fault({row, word ? FaultKind::notANumber : FaultKind::notFinite,
           fmt::format("the cell is {}", toldText(cells.text[row])),
           word                            ? "a number is needed"
           : kind == NumberKind::notFinite ? "training needs finite numbers"
                                           : "float32 ends at 3.4e38",
           word ? "skip rows that are no data, or encode the words as classes" : "correct the cell or skip the row"});
  }
  cells.text.clear();
  cells.number = true;
}

void ColumnPlan::compute(Rows& rows, const FaultSink& fault) const {
  std::vector<ColumnCells> made;
  for (const Operation& operation : m_operations) {
    const CellFaultSink tell = [&](CellFault found) {
      rows.bad[found.row] = true;
      if (skipsFaulty()) return;
      fault({.kind = found.kind,
             .line = rows.lines[found.row],
             .column = operation.column,
             .found = std::move(found.found),
             .wanted = std::move(found.wanted),
             .remedy = std::move(found.remedy),
             .variables = {}});
    };
    made.clear();
    made.push_back(std::move(rows.cells[operation.from]));
    if (operation.effect->takesNumbers()) makeNumbers(made[0], m_format, tell);
    operation.effect->apply(made, tell);
    for (std::size_t i = 0; i < operation.to.size(); ++i) rows.cells[operation.to[i]] = std::move(made[i]);
  }
}

void ColumnPlan::apply(const CsvBlock& block, std::size_t offset, std::int64_t line, Rows& rows, CsvBlock& out,
                       const FaultSink& fault) const {
  take(block, offset, line, rows, fault);
  compute(rows, fault);
  std::string text, plain;
  text.reserve(block.size);
  out.rowLines.clear();
  const bool plainNumbers = m_format.decimal == '.' && m_format.thousands == 0;
  const bool alone = m_header.size() == 1;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    if (rows.bad[row]) continue;
    bool first = true;
    for (const ColumnTable::Slot& slot : m_table.slots) {
      if (!first) text += ',';
      first = false;
      const ColumnCells& cells = rows.cells[slot.place];
      if (cells.number)
        appendFloat(text, cells.numbers[row]);
      else if (!plainNumbers && plainNumber(cells.text[row], m_format, plain))
        text += plain;
      else if (cells.text[row].find_first_of(",\"\n\r") == std::string_view::npos)
        text += cells.text[row];
      else
        text += csvCell(std::string(cells.text[row]));
    }
    if (m_options.marksHeldOut) {
      const auto at = static_cast<std::size_t>(rows.lines[row]);
      text += at < m_options.heldOut.size() && m_options.heldOut[at] ? ",1" : ",0";
    }
    // A line without anything would be passed over as blank.
    if (alone && (text.empty() || text.back() == '\n')) text += "\"\"";
    text += '\n';
    out.rowLines.push_back(rows.lines[row]);
  }
  out.size = text.size();
  out.buffer.assign(text.begin(), text.end());
  out.buffer.push_back('\0');
  out.line = block.line;
  out.end = block.end;
  out.quotes = true;
  // Every record has a line, and those of quoted cells more.
  out.lines = static_cast<std::int64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace loom
